"""Metadata comes back as it was written, or counts as none."""

import logging

import hypothesis.strategies as st
import pytest
from hypothesis import given

from topologies.async_stage.offset_codec import (
    MAX_METADATA_CHARACTERS,
    MAX_SPAN,
    Progress,
    decode,
    encode,
)

progresses = st.builds(Progress, st.integers(0, 2**62), st.binary(max_size=MAX_SPAN // 8))


@given(progresses)
def test_it_comes_back(progress: Progress) -> None:
    back = decode(progress.position, encode(progress))
    assert back.position == progress.position
    assert back.finished_above() == progress.finished_above()


@given(progresses)
def test_it_fits_what_the_broker_keeps(progress: Progress) -> None:
    assert len(encode(progress)) <= MAX_METADATA_CHARACTERS


def test_the_largest_span_fits() -> None:
    assert MAX_SPAN == 16_384
    assert len(encode(Progress(0, b"\xff" * (MAX_SPAN // 8)))) == 2_740


def test_nothing_finished_above_needs_no_metadata() -> None:
    assert encode(Progress(9, b"\0\0")) == ""
    assert decode(9, "") == decode(9, None) == Progress(9)


@pytest.mark.parametrize("metadata", ["hello", "NO_METADATA", "rb2:AAAA", "{}", "rb1:", "rb1:Ä"])
def test_foreign_metadata_counts_as_none_with_a_warning(
    metadata: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "refund_bench.async_stage"):
        assert decode(7, metadata) == Progress(7)
    assert "counts as none" in caplog.text


@given(progresses.filter(lambda each: any(each.bits)), st.data())
def test_cut_metadata_counts_as_none(progress: Progress, data: st.DataObject) -> None:
    whole = encode(progress)
    cut = data.draw(st.integers(1, len(whole) - 1))
    assert decode(progress.position, whole[:cut]) == Progress(progress.position)


@given(progresses.filter(lambda each: any(each.bits)), st.data())
def test_a_changed_character_is_found_out(progress: Progress, data: st.DataObject) -> None:
    whole = encode(progress)
    place = data.draw(st.integers(4, len(whole) - 1))
    other = data.draw(st.sampled_from("ABCxyz019+/"))
    changed = whole[:place] + other + whole[place + 1 :]
    back = decode(progress.position, changed)
    assert back in (Progress(progress.position), decode(progress.position, whole))


def test_metadata_of_another_offset_is_foreign() -> None:
    metadata = encode(Progress(100, b"\x06"))
    assert decode(100, metadata).finished_above() == [101, 102]
    assert decode(50, metadata) == Progress(50)

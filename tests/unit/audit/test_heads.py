"""Heads files: one a day, each vouching for those before it, and none can be changed quietly."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ops.audit.heads import HeadsError, heads_of, read_heads, window, write_heads

DAY = date(2026, 11, 30)
END = datetime(2026, 12, 1, tzinfo=UTC)
HEADS = heads_of([("d-1", 1, "sha256:a"), ("d-1", 2, "sha256:b"), ("d-2", 1, "sha256:c")])


def test_the_newest_link_of_each_chain_is_its_head() -> None:
    assert HEADS == {"d-1": (2, "sha256:b"), "d-2": (1, "sha256:c")}


def test_a_file_is_read_as_it_was_written_and_never_written_over(tmp_path: Path) -> None:
    file = write_heads(tmp_path, DAY, END, HEADS, True)
    assert read_heads(file).heads == HEADS
    assert write_heads(tmp_path, DAY, END, HEADS, True) == file
    with pytest.raises(HeadsError, match="other heads"):
        write_heads(tmp_path, DAY, END, {"d-1": (3, "sha256:z")}, True)


def test_each_file_vouches_for_those_before_it(tmp_path: Path) -> None:
    first = write_heads(tmp_path, DAY, END, HEADS, True)
    second = write_heads(tmp_path, date(2026, 12, 1), END, {}, True)
    assert read_heads(second).previous == read_heads(first).total


@pytest.mark.parametrize("change", [(b"sha256:b", b"sha256:x"), (b'"d-2"', b'"d-3"'), (b"2026", b"2025"), (b"heads", b"tails")])  # fmt: skip
def test_a_changed_file_is_refused(tmp_path: Path, change: tuple[bytes, bytes]) -> None:
    file = write_heads(tmp_path, DAY, END, HEADS, True)
    changed = tmp_path / "changed.json"
    changed.write_bytes(file.read_bytes().replace(*change))
    with pytest.raises(HeadsError):
        read_heads(changed)


def test_a_day_ends_at_midnight_or_now_and_must_have_begun() -> None:
    now = datetime(2026, 11, 30, 4, tzinfo=UTC)
    assert window(DAY, now) == (datetime(2026, 11, 30, tzinfo=UTC), now)
    assert window(DAY, END)[1] == END
    with pytest.raises(HeadsError, match="has not begun"):
        window(date(2026, 12, 1), now)

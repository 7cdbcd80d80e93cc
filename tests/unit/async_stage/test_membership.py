"""Only a snapshot of a valid member is ever sent."""

import struct

from topologies.async_stage.membership import Membership, read


def metadata(generation: int, member: str) -> bytes:
    return (
        b"CGMDv2:" + struct.pack("=i", generation) + b"group\0" + member.encode() + b"\0\0one-0\0"
    )


def test_a_valid_member_is_read() -> None:
    raw = metadata(7, "one-0-abc")
    assert read(raw) == Membership(7, "one-0-abc", raw)


def test_generation_minus_one_is_no_identity() -> None:
    assert read(metadata(-1, "one-0-abc")) is None


def test_an_empty_member_is_no_identity() -> None:
    assert read(metadata(7, "")) is None


def test_what_cannot_be_read_is_no_identity() -> None:
    assert [read(raw) for raw in (None, b"", b"CGMDv2:", b"CGMDv9:\0\0\0\1g\0m\0", object())] == [
        None
    ] * 5


def test_only_the_same_member_continues() -> None:
    earlier = read(metadata(7, "a"))
    assert earlier
    for generation, member, continues in (
        (7, "a", True),
        (8, "a", True),
        (6, "a", False),
        (9, "b", False),
    ):
        now = read(metadata(generation, member))
        assert now
        assert now.continues(earlier) is continues

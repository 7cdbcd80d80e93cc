"""Slots kept full, memory kept small."""

from topologies.async_stage.admission import Admission


def admission() -> Admission:
    return Admission(slots=10, prefetch=5, span=100, max_waiting=50, buffer=8)


def test_room_is_the_slots_and_a_little_more() -> None:
    assert admission().room(running=0, queued=0, waiting=0) == 15
    assert admission().room(running=10, queued=2, waiting=0) == 3
    assert admission().room(running=10, queued=9, waiting=0) == 0


def test_messages_in_backoff_take_no_room_until_they_are_too_many() -> None:
    assert admission().room(running=10, queued=0, waiting=49) == 5
    assert admission().room(running=0, queued=0, waiting=50) == 0


def test_a_partition_pauses_when_its_buffer_is_full_and_resumes_well_below() -> None:
    it = admission()
    assert [it.pauses(count) for count in (7, 8, 9)] == [False, True, True]
    assert [it.resumes(count) for count in (7, 3, 2)] == [False, False, True]

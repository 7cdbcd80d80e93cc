"""The kill switch's turns: each transition once, and what a later reader is told of it."""

from datetime import timedelta

import pytest

from schemas.switch import Switch
from streams.payments.kill_switch import SwitchState, Turn, pause, resume, trip
from tests.unit.stages.events import NOW, after
from topologies.switch_desk import state_of


def told(turn: Turn | None, at_s: float) -> SwitchState:
    """What a follower reads, a little later by the broker's clock than the writer's."""
    assert turn is not None
    return SwitchState.of(Switch.from_bytes(turn.switch.to_bytes()), after(seconds=at_s))


def test_nobody_ever_paused() -> None:
    assert not SwitchState().paused
    assert resume(SwitchState(), "asha", "why", NOW) is None


def test_a_person_pauses_and_resumes_and_both_are_on_record() -> None:
    paused = pause(SwitchState(), "asha", "gateway_incident", NOW)
    state = told(paused, 1)
    assert (state.paused, state.by, state.reason) == (True, "asha", "gateway_incident")
    assert state.since == after(seconds=1)
    assert paused is not None
    assert (paused.operation.action, paused.operation.actor) == ("payouts_paused", "asha")
    assert paused.switch.operation_id == paused.operation.operation_id
    resumed = resume(state, "ben", "over", NOW)
    assert resumed is not None
    assert resumed.operation.action == "payouts_resumed"
    assert not told(resumed, 2).paused


def test_a_pause_on_top_changes_nothing() -> None:
    state = told(pause(SwitchState(), "asha", "first", NOW), 1)
    assert pause(state, "ben", "second", NOW) is None
    assert trip(state, "d-1:auto", {}, NOW) is None


def test_a_manual_pause_does_not_reset_the_window() -> None:
    state = told(pause(SwitchState(counted_from=NOW), "asha", "why", NOW), 60)
    assert told(resume(state, "asha", "over", NOW), 120).counted_from == NOW


def test_the_resume_after_a_trip_counts_anew_from_its_own_time_and_lets_its_payment_through() -> (
    None
):
    turn = trip(SwitchState(), "d-9:auto", {"ceiling_minor": "5"}, NOW)
    assert turn is not None
    assert turn.operation.details == {"ceiling_minor": "5"}
    tripped = told(turn, 1)
    assert (tripped.tripped, tripped.by, tripped.reason) == (True, "payout", "ceiling_passed")
    running = told(resume(tripped, "asha", "checked", NOW), 90)
    assert running.counted_from == after(seconds=90), "the broker's time, not the writer's"
    assert running.tripped_on == "d-9:auto"
    later = told(pause(running, "ben", "why", NOW + timedelta(days=1)), 200)
    assert (later.counted_from, later.tripped_on) == (running.counted_from, "d-9:auto")


def test_what_is_no_switch_pauses_until_a_person_resumes() -> None:
    state = SwitchState.unreadable(NOW)
    assert state.paused
    assert not told(resume(state, "asha", "cleared", NOW), 1).paused


class Told:
    """A record of the topic, as the consumer hands it over."""

    def __init__(self, key: bytes, value: bytes | None) -> None:
        self._key, self._value = key, value

    def key(self) -> bytes:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def timestamp(self) -> tuple[int, int]:
        return 2, int(NOW.timestamp() * 1000)


@pytest.mark.parametrize("value", [b"", b"not json", b"{}", b'{"paused": "perhaps"}'])
def test_a_record_that_is_no_switch_is_read_as_paused(value: bytes) -> None:
    state = state_of(Told(b"payouts", value))
    assert state is not None
    assert (state.paused, state.since) == (True, NOW)


def test_a_tombstone_is_nobody_ever_paused_and_another_key_is_not_ours() -> None:
    assert state_of(Told(b"payouts", None)) == SwitchState()
    assert state_of(Told(b"payout", b"{}")) is None

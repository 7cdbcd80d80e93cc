"""The open timers by due time: replaced, cancelled and moved ones never ring."""

import json
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.dead_letter import DeadLetter
from schemas.timer import Timer
from tests.unit.topologies.broker_free import NOW
from topologies import clients
from topologies.dead_letters import DeadLetterBox
from topologies.timer import TimerApp, TimerHeap, deadline_of


def timer(name: str, seconds: float) -> Timer:
    return Timer(
        at=NOW,
        timer_id=name,
        stage="tally",
        kind="tally_window",
        waiting_key=f"g-{name}",
        due_at=NOW + timedelta(seconds=seconds),
        payload={"for": name},
    )


def names(timers: list[Timer]) -> list[str]:
    return [each.timer_id for each in timers]


def test_due_ones_ring_earliest_first_and_once() -> None:
    heap = TimerHeap()
    for name, seconds in (("b", 2), ("a", 1), ("later", 60)):
        heap.set(0, timer(name, seconds))
    assert heap.due(NOW) == []
    assert names(heap.due(NOW + timedelta(seconds=2))) == ["a", "b"]
    assert heap.due(NOW + timedelta(seconds=2)) == []
    assert len(heap) == 1


def test_one_that_was_put_off_rings_at_its_new_time_only() -> None:
    heap = TimerHeap()
    heap.set(0, timer("a", 1))
    heap.set(0, timer("a", 5))
    assert heap.due(NOW + timedelta(seconds=4)) == []
    assert names(heap.due(NOW + timedelta(seconds=5))) == ["a"]


def test_one_that_was_brought_forward_rings_once() -> None:
    heap = TimerHeap()
    heap.set(0, timer("a", 5))
    heap.set(0, timer("a", 1))
    assert names(heap.due(NOW + timedelta(seconds=9))) == ["a"]


def test_the_same_timer_read_twice_rings_once() -> None:
    heap = TimerHeap()
    heap.set(0, timer("a", 1))
    heap.set(0, timer("a", 1))
    assert names(heap.due(NOW + timedelta(seconds=9))) == ["a"]


def test_a_cancelled_one_does_not_ring_and_may_be_set_again() -> None:
    heap = TimerHeap()
    heap.set(0, timer("a", 1))
    heap.cancel("a")
    heap.cancel("never set")
    assert heap.due(NOW + timedelta(seconds=9)) == []
    heap.set(0, timer("a", 1))
    assert names(heap.due(NOW + timedelta(seconds=9))) == ["a"]


def test_a_partition_that_moved_takes_its_timers_with_it() -> None:
    heap = TimerHeap()
    heap.set(0, timer("a", 1))
    heap.set(1, timer("b", 1))
    heap.drop_partition(0)
    assert names(heap.due(NOW + timedelta(seconds=9))) == ["b"]


def test_the_deadline_says_all_that_the_timer_did() -> None:
    set_ = timer("a", 1)
    now = NOW + timedelta(seconds=3)
    deadline = deadline_of(set_, now)
    assert deadline.model_dump(exclude={"at"}) == set_.model_dump(exclude={"at"})
    assert deadline.at == now


steps = st.lists(
    st.tuples(
        st.sampled_from(["set", "cancel", "ring"]), st.sampled_from("abcd"), st.integers(0, 9)
    ),
    max_size=40,
)


@given(steps)
def test_it_agrees_with_a_plain_dictionary(actions: list[tuple[str, str, int]]) -> None:
    heap, model = TimerHeap(), dict[str, int]()
    for action, name, seconds in actions:
        if action == "set":
            heap.set(0, timer(name, seconds))
            model[name] = seconds
        elif action == "cancel":
            heap.cancel(name)
            model.pop(name, None)
        else:
            rung = heap.due(NOW + timedelta(seconds=seconds))
            expected = {n for n, due in model.items() if due <= seconds}
            assert set(names(rung)) == expected
            assert [t.due_at for t in rung] == sorted(t.due_at for t in rung)
            model = {n: due for n, due in model.items() if n not in expected}
    assert len(heap) == len(model)


DEEP: Any = 0
for _ in range(300):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"a", b"not JSON"),
        (b"a", b"{}"),
        (None, timer("a", 1).to_bytes()),
        (b"b", timer("a", 1).to_bytes()),
        (b"a", timer("a", 1).model_copy(update={"payload": {"x": "y" * 2_000_000}}).to_bytes()),
        (b"a", timer("a", 1).to_bytes().replace(b'{"for":"a"}', json.dumps(DEEP).join(('{"x":', "}")).encode())),
    ],
    ids=["not JSON", "no timer", "no key", "another key", "too large", "too deep"],
)  # fmt: skip
def test_a_timer_that_cannot_be_answered_is_a_dead_letter_and_the_next_is_kept(
    monkeypatch: pytest.MonkeyPatch, key: bytes | None, value: bytes
) -> None:
    """One that could be read and not be answered would end the app at every start."""
    wire = Mock()
    for name in ("transactional_producer", "consumer"):
        monkeypatch.setattr(clients, name, lambda *_, **__: wire)
    app = TimerApp(DeadLetterBox(b"k" * 32))
    for offset, (its_key, its_value) in enumerate([(key, value), (b"c", timer("c", 0).to_bytes())]):
        message = Mock(**{"error.return_value": None, "partition.return_value": 3})
        message.configure_mock(**{"key.return_value": its_key, "value.return_value": its_value})
        message.configure_mock(**{"offset.return_value": offset, "timestamp.return_value": (1, 0)})
        app._take(message)
    app._bury()
    topic, sent = wire.produce.call_args.args[0], wire.produce.call_args.kwargs["value"]
    assert (topic, wire.produce.call_count) == ("dead-letters", 1)
    assert DeadLetter.from_bytes(sent).dead_letter_id == "timer:timers-3-0"
    assert wire.commit_transaction.called
    assert names(app._heap.due(NOW)) == ["c"]

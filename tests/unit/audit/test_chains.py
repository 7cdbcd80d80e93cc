"""A trail that was touched says where; one that was not says nothing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from ops.audit.stored import Place, View, stored
from ops.audit.verify import check_views
from ops.cases import labelled
from schemas.ledger import AuditEntry
from schemas.operation import Operation
from streams.ledger_chain import GENESIS, chain
from tests.support.recorded import BEGIN, Recorded

LATER = BEGIN + timedelta(days=2)


@cache
def recorded() -> Recorded:
    """The worked example, with a reading of its words recorded."""
    run = Recorded()
    run.file(next(case for case in labelled("food-delivery") if case["id"].startswith("food-01")))
    run.operate(
        Operation(
            at=run.now, operation_id="read-1", subject=dispute(run), action="customer_text_read", actor="asha"
        )
    )  # fmt: skip
    return run


def dispute(run: Recorded) -> str:
    return str(run.events("disputes")[0].dispute_id)


def faults(*views: View, **more: Any) -> list[tuple[str, str]]:
    chains = sorted({chain for view in views for chain in view.links})
    return [(f.what, f.where) for f in check_views(chains, views, LATER, **more).faults]


def touched(change: Callable[[View, str], None], name: str = "clickhouse") -> View:
    view = recorded().view(name)
    change(view, dispute(recorded()))
    return view


def test_a_trail_that_nobody_touched_is_whole() -> None:
    run = recorded()
    view = run.view()
    checked = check_views(sorted(view.links), [view, run.view("clickhouse")], LATER)
    assert checked.faults == []
    assert (checked.disputes, checked.chains) == (1, 2)
    assert checked.events == len(run.events("audit"))


def swap_values(view: View, mine: str) -> None:
    events = view.events[mine]
    one, other = [i for i, e in enumerate(events) if e.place.topic == "verdicts"][:2]
    first, second = events[one], events[other]
    events[one] = replace(first, value=second.value, hash=second.hash)
    events[other] = replace(second, value=first.value, hash=first.hash)


def change_amount(view: View, mine: str) -> None:
    for i, one in enumerate(view.events[mine]):
        if one.place.topic == "decisions" and one.value is not None:
            other = stored(one.place, one.key, one.at, one.value.replace(b'"amount_minor":', b'"amount_minor":1'))  # fmt: skip
            assert other is not None
            view.events[mine][i] = other


def drop(topic: str) -> Callable[[View, str], None]:
    def change(view: View, mine: str) -> None:
        first = next(one for one in view.events[mine] if one.place.topic == topic)
        view.events[mine].remove(first)

    return change


def change_ruling(view: View, mine: str) -> None:
    for i, one in enumerate(view.events[mine]):
        if one.place.topic == "rulings" and one.value is not None:
            changed = one.value.replace(b"UPHELD", b"REJECTED")
            other = stored(one.place, one.key, one.at, changed)
            assert other is not None
            view.events[mine][i] = other


def add_decision(view: View, mine: str) -> None:
    one = next(one for one in view.events[mine] if one.place.topic == "decisions")
    view.add(replace(one, place=Place("decisions", one.place.partition, 99), hash="sha256:forged"))


def drop_link(view: View, mine: str) -> None:
    del view.links[mine][2]


def cut_links(view: View, mine: str) -> None:
    del view.links[mine][-2:]


def swap_links(view: View, mine: str) -> None:
    links = view.links[mine]
    links[2], links[3] = links[3], links[2]


def change_link(view: View, mine: str) -> None:
    view.links[mine][1] = view.links[mine][1].model_copy(update={"event_hash": "sha256:other"})


def erase(view: View, mine: str) -> None:
    view.events[mine] = [replace(one, value=None, erased=True) for one in view.events[mine]]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (swap_values, "event_reordered"),
        (change_amount, "event_altered"),
        (drop("payments"), "event_missing"),
        (drop("rulings"), "vouched_missing"),
        (drop("proposals"), "vouched_missing"),
        (change_ruling, "vouched_altered"),
        (add_decision, "event_not_in_chain"),
        (drop_link, "link_missing"),
        (swap_links, "link_missing"),
        (change_link, "link_altered"),
        (erase, "erased_unexplained"),
    ],
)
@pytest.mark.parametrize("beside_kafka", [True, False])
def test_what_was_done_to_one_store_is_found_and_placed(
    change: Callable[[View, str], None], expected: str, beside_kafka: bool
) -> None:
    store = touched(change)
    found = faults(recorded().view(), store) if beside_kafka else faults(store)
    assert (expected, "clickhouse") in found
    assert {where for _, where in found} == {"clickhouse"}


def test_a_chain_cut_at_its_end_shows_beside_kafka_or_a_heads_file() -> None:
    assert ("link_missing", "clickhouse") in faults(recorded().view(), touched(cut_links))
    assert ("event_not_in_chain", "clickhouse") in faults(touched(cut_links))


def made_anew(view: View, mine: str) -> None:
    """Alter a decision and make every later link right again, as only a holder of the whole store can."""
    change_amount(view, mine)
    hashes = {one.place: one.hash for one in view.events[mine]}
    previous, links = GENESIS, []
    for link in view.links[mine]:
        event_hash = hashes[Place(link.topic, link.partition, link.offset)]
        links.append(
            AuditEntry(
                **{
                    **link.model_dump(),
                    "event_hash": event_hash,
                    "previous": previous,
                    "chain": chain(previous, event_hash),
                }
            )
        )
        previous = links[-1].chain
    view.links[mine] = links


def test_a_chain_made_anew_is_right_in_itself_and_shows_by_its_head() -> None:
    mine = dispute(recorded())
    last = recorded().view().links[mine][-1]
    store = touched(made_anew)
    assert faults(store) == []
    assert faults(store, heads={mine: (last.sequence, last.chain)}) == [("head_differs", "heads")]
    assert faults(recorded().view(), heads={mine: (last.sequence, last.chain)}) == []
    assert ("head_missing", "heads") in faults(recorded().view(), heads={mine: (99, "sha256:x")})


def test_what_was_erased_is_told_as_erased_where_an_operation_explains_it() -> None:
    run = Recorded()
    run.file(next(case for case in labelled("food-delivery") if case["id"].startswith("food-01")))
    mine = dispute(run)
    run.operate(
        Operation(
            at=run.now, operation_id="erase-1", subject=mine, action="customer_erased", actor="dpo"
        )
    )  # fmt: skip
    view = run.view("clickhouse")
    erase(view, mine)
    checked = check_views([mine], [view], LATER)
    assert checked.faults == []
    assert checked.erased == len(view.links[mine])


def test_what_is_under_way_or_was_purged_is_no_fault() -> None:
    view = recorded().view()
    mine = dispute(recorded())
    gone = view.events.pop(mine)
    view.excused = lambda place: True
    checked = check_views([mine], [view, recorded().view("clickhouse")], LATER)
    assert checked.faults == []
    assert checked.under_way == len([one for one in gone if one.place.topic in _linked()])
    soon = check_views([mine], [View("clickhouse", links=dict(view.links))], BEGIN)
    assert soon.faults == []


def test_a_store_that_is_hours_behind_lacks_what_has_not_come_to_it() -> None:
    kafka, mine = recorded().view(), dispute(recorded())
    behind = touched(cut_links)
    cut = [link.sequence for link in kafka.links[mine]][-2:]
    for sequence in cut:
        kafka.link_places[mine, sequence] = Place("audit", 1, sequence)
    found = [what for what, where in faults(kafka, behind)]
    assert found == ["link_missing", "link_missing"]
    behind.excused = lambda place: place.topic == "audit"
    assert faults(kafka, behind) == []


def _linked() -> set[str]:
    return {link.topic for link in recorded().events("audit")}


def test_an_operation_told_twice_is_no_event_outside_its_chain() -> None:
    run = Recorded()
    first = Operation(
        at=run.now, operation_id="pack_loaded:x", subject="packs", action="pack_loaded", actor="intake"
    )  # fmt: skip
    run.operate(first)
    run.operate(first.model_copy(update={"at": run.now}))
    assert faults(run.view()) == []

"""What was decided follows from the raw rulings and the pack; what does not follow is found."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ops.audit.chains import Checked
from ops.audit.history import History
from ops.audit.recount import recount
from ops.audit.stored import Stored, stored
from ops.cases import labelled
from schemas.topics import REVIEWS
from streams.emit import emit
from streams.policies.loader import SHIPPED, PackRegistry
from tests.support.recorded import Recorded
from tests.unit.stages.events import a_review


@cache
def recorded() -> Recorded:
    """Labelled cases; one order complained about again and again, one customer on many orders, and a
    person's decision on what waited."""
    run = Recorded(disagreement=0.3)
    for policy in ("food-delivery", "bank-disputes-ng"):
        for case in labelled(policy)[:7]:
            run.file(case)
    case = labelled("food-delivery")[0]
    for number in range(3):
        run.file(case, text=f"{case['complaint']['text']} Again, the {number} time.")
    for number in range(6):
        run.file(case, order_id=f"o-{number}")
    waits = next(e for e in run.events("ledger") if e.status == "part_paid_in_review")
    review = a_review("approve", dispute_id=waits.dispute_id, order_id=waits.order_id, settles_under=waits.settles_under)  # fmt: skip
    run.send(emit(REVIEWS, review))
    run.run()
    return run


def records(run: Recorded) -> list[Stored]:
    return [one for events in run.view().events.values() for one in events]


def recounted(
    change: Callable[[Stored], Iterable[Stored]] = lambda one: (one,), packs: PackRegistry | None = None
) -> Checked:  # fmt: skip
    run = recorded()
    history = History(other for one in records(run) for other in change(one))
    disputes = [event.dispute_id for event in run.events("disputes")]
    return recount(disputes, history, packs or run.packs)


def altered(one: Stored, **changes: Any) -> Stored:
    event: Any = one.event()
    made = stored(one.place, one.key, one.at, event.model_copy(update=changes).to_bytes())
    assert made is not None
    return made


def test_everything_that_was_decided_follows() -> None:
    checked = recounted()
    assert checked.faults == []
    assert checked.disputes == len(recorded().events("disputes"))
    rules = {event.decision_rule for event in recorded().events("decisions")}
    assert {"customer_window_total_above_limit", "auto_resolve_within_cap", "review_approved"} <= rules  # fmt: skip


def first(topic: str, wanted: Callable[[Any], bool] = lambda _: True) -> Stored:
    return next(one for one in records(recorded()) if one.place.topic == topic and wanted(one.event()))  # fmt: skip


def injected(target: Stored, *others: Stored) -> list[tuple[str, str]]:
    found = recounted(lambda one: others if one.place == target.place else (one,)).faults
    return [(fault.what, fault.dispute_id) for fault in found]


def test_a_wrong_count_is_found() -> None:
    one = first("verdicts")
    event: Any = one.event()
    wrong = altered(one, ruling="REJECTED" if event.ruling != "REJECTED" else "UPHELD")
    assert ("count_differs", one.chain) in injected(one, wrong)
    votes = event.votes.model_copy(update={"UPHELD": event.votes.UPHELD + 1})
    assert ("count_differs", one.chain) in injected(one, altered(one, votes=votes))
    assert ("count_differs", one.chain) in injected(one, altered(one, confidence=0.11))


def test_a_ruling_counted_otherwise_than_it_was_given_is_found() -> None:
    one = first("rulings", lambda ruling: ruling.ruling == "UPHELD")
    assert ("ruling_differs", one.chain) in injected(one, altered(one, ruling="REJECTED"))
    assert ("ruling_missing", one.chain) in injected(one)
    verdict = first("verdicts")
    event: Any = verdict.event()
    assert ("ruling_not_counted", verdict.chain) in injected(
        verdict, altered(verdict, rulings=event.rulings[:2])
    )


def paid(event: Any) -> bool:
    return bool(event.amount_minor) and event.review_id is None


@pytest.mark.parametrize(
    ("topic", "wanted", "changes", "expected"),
    [
        ("proposals", paid, {"amount_minor": 1}, "price_differs"),
        ("proposals", paid, {"proposed_minor": 1}, "price_differs"),
        ("proposals", paid, {"decision_rule": "no_grievance_upheld"}, "price_differs"),
        ("proposals", paid, {"lines": ()}, "price_differs"),
        ("decisions", paid, {"amount_minor": 1}, "decision_differs"),
        ("decisions", paid, {"decision_rule": "tier_1_auto_resolve"}, "decision_differs"),
        ("payments", paid, {"amount_minor": 1}, "payment_differs"),
        ("proposals", lambda p: p.review_id is not None, {"amount_minor": 1}, "price_differs"),
        ("dockets", lambda d: d.evidence is not None, {"evidence": {"kind": "food-order"}}, "evidence_differs"),
        ("grievances", lambda _: True, {"evidence": {}}, "grievance_differs"),
    ],
)  # fmt: skip
def test_a_wrong_price_rule_payment_or_record_is_found(
    topic: str, wanted: Callable[[Any], bool], changes: dict[str, Any], expected: str
) -> None:
    one = first(topic, wanted)
    assert (expected, one.chain) in injected(one, altered(one, **changes))


def test_a_decision_that_nothing_proposed_is_found() -> None:
    one = first("proposals", paid)
    assert ("decision_unexplained", one.chain) in injected(one)


def test_a_pack_that_is_not_loaded_under_its_seal_is_a_fault_and_no_guess(tmp_path: Path) -> None:
    for policy in ("food-delivery", "bank-disputes-ng"):
        shutil.copytree(SHIPPED / policy, tmp_path / policy)
    file = tmp_path / "food-delivery" / "v1" / "pack.toml"
    file.write_text(file.read_text() + "\n# another seal\n")
    faults = recounted(packs=PackRegistry.load(tmp_path)).faults
    assert {fault.what for fault in faults} == {"pack_not_loaded"}
    assert len(faults) == len({fault.dispute_id for fault in faults}) > 10
    assert "REFUND_BENCH_PACKS" in faults[0].detail


@pytest.mark.parametrize("topic", ["decisions", "payments", "verdicts", "reviews"])
def test_settlement_may_have_been_behind_on_a_topic(topic: str) -> None:
    """The broker had the record a second before settlement took it: a history that is as possible."""

    def earlier(one: Stored) -> Iterable[Stored]:
        moved = one.place.topic == topic
        yield replace(one, at=one.at - timedelta(milliseconds=70)) if moved else one

    assert [f for f in recounted(earlier).faults if f.what == "price_differs"] == []


def test_a_dispute_with_an_erased_event_is_told_as_such() -> None:
    one = first("dockets")
    run = recorded()
    kept = [
        replace(o, value=None, erased=True) if o.place == one.place else o for o in records(run)
    ]
    checked = recount([one.chain], History(kept), run.packs)
    assert (checked.erased, checked.disputes, checked.faults) == (1, 0, [])

"""Judging: a ruling counts only on citations that exist, hold something and are allowed."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from schemas.grievance import Claim, Grievance
from schemas.pack import EvidenceTool
from schemas.ruling import Ruling
from streams.extraction import evidence_for
from streams.judging import abstain, judge, top_field
from streams.llm.port import Overloaded, RulingDraft
from streams.policies.loader import LoadedPack
from tests.unit.reading.support import FOOD, NOW, ORDER, Scripted, failed, now


def grievance(category: str = "MISSING_ITEM", **changes: Any) -> Grievance:
    claim = Claim(
        grievance_id="d-1.g1", index=1, category=category, text="One khichdi did not arrive.",
        span_start=0, span_end=5, line_id="L1", quantity=1,
    )  # fmt: skip
    return Grievance(
        **{
            "at": NOW, "dispute_id": "d-1", "order_id": "o-77", "customer_id": "c-5", "settles_under": "o-77",
            "pack": FOOD.ref, "grievance_id": "d-1.g1", "claim": claim,
            "evidence": evidence_for(category, ORDER, FOOD), "evidence_hash": "sha256:e", "filed_at": NOW,
            "seats": (1, 2, 3), "of": 1, **changes,
        }
    )  # fmt: skip


def run(model: Scripted, seat: int = 1, subject: Grievance | None = None) -> Ruling:
    ruling = asyncio.run(judge(subject or grievance(), seat, FOOD, model, now))
    assert ruling is not None
    return ruling


def upheld(*citations: str, ruling: str = "UPHELD") -> RulingDraft:
    return RulingDraft(ruling=ruling, confidence=0.9, citations=citations, reason="Because.")


def test_a_ruling_records_who_ruled_on_what() -> None:
    model = Scripted(upheld("packing_scan"))
    ruling = run(model, seat=2)
    assert (ruling.ruling, ruling.citations, ruling.confidence) == (
        "UPHELD",
        ("packing_scan",),
        0.9,
    )
    assert (ruling.ruling_id, ruling.seat, ruling.prompt_variant) == ("d-1.g1.s2", 2, "strict")
    assert (ruling.provider, ruling.model, ruling.raw_reply) == ("scripted", "script-1", "raw")
    assert ruling.evidence_hash == "sha256:e"
    assert ruling.grievance_at == NOW
    assert ruling.usage.calls == 1


def test_a_judge_sees_the_claim_and_its_evidence_and_nothing_else() -> None:
    model = Scripted(upheld("packing_scan"))
    run(model)
    task = model.judgings[0]
    assert set(task.evidence) <= set(FOOD.pack.category("MISSING_ITEM").evidence_fields)  # type: ignore[union-attr]
    assert not hasattr(task, "text")
    assert not hasattr(task, "complaint_text")


def test_each_seat_has_its_own_prompt() -> None:
    hashes = {run(Scripted(upheld("packing_scan")), seat).prompt_hash for seat in (1, 2, 3)}
    assert len(hashes) == 3


def test_a_seat_the_pinned_pack_does_not_have_rules_nothing() -> None:
    assert asyncio.run(judge(grievance(), 4, FOOD, Scripted(), now)) is None


BAD = {
    "none": ((), "rests on no field"),
    "not in the evidence": (("gps_trail",), "not in the evidence"),
    "null in the evidence": (("delivered_at",), "not in the evidence"),
    "not listed for the category": (("refunds",), "may not be cited"),
    "one of two": (("packing_scan", "weather"), "'weather'"),
}


@pytest.mark.parametrize("ruled", ["UPHELD", "REJECTED"])
@pytest.mark.parametrize(("citations", "said"), BAD.values(), ids=BAD.keys())
def test_a_ruling_without_sound_citations_is_sent_back_once_and_then_failed(
    ruled: str, citations: tuple[str, ...], said: str
) -> None:
    subject = grievance(
        evidence={
            **evidence_for("MISSING_ITEM", ORDER, FOOD),
            "delivered_at": None,
            "refunds": [{}],
        }
    )
    model = Scripted(upheld(*citations, ruling=ruled), upheld(*citations, ruling=ruled))
    ruling = run(model, subject=subject)
    assert (ruling.ruling, ruling.failure) == ("FAILED", "citation_missing")
    assert said in (model.judgings[1].correction or "")
    assert (ruling.usage.calls, ruling.attempts) == (2, 2)


def test_a_corrected_ruling_counts() -> None:
    ruling = run(Scripted(upheld(), upheld("packing_scan")))
    assert (ruling.ruling, ruling.failure, ruling.usage.calls) == ("UPHELD", None, 2)


def test_an_escalation_needs_no_citation_and_keeps_only_sound_ones() -> None:
    ruling = run(Scripted(upheld("packing_scan", "weather", ruling="ESCALATE")))
    assert (ruling.ruling, ruling.citations, ruling.usage.calls) == (
        "ESCALATE",
        ("packing_scan",),
        1,
    )


def test_a_citation_into_a_field_is_that_field() -> None:
    assert top_field("packing_scan[0].packed_quantity") == "packing_scan"
    assert top_field(" `line_items.0.name` ") == "line_items"
    assert run(Scripted(upheld("packing_scan[1].packed_quantity"))).citations == ("packing_scan",)


SCANS = {"packing_scan": [{"line_id": "L1", "packed_quantity": None, "seal": {"at": "20:41"}}]}


@pytest.mark.parametrize("ruled", ["UPHELD", "REJECTED"])
@pytest.mark.parametrize(
    "cited",
    [
        "packing_scan[0].packed_quantity",
        "packing_scan.0.packed_quantity",
        "packing_scan[].packed_quantity",
        "packing_scan[1]",
        "packing_scan[99999999999999999999].line_id",
        "packing_scan[0].weight_kg",
        "packing_scan[0].line_id.length",
    ],
)
def test_a_place_inside_a_field_where_the_record_is_silent_carries_no_ruling(
    ruled: str, cited: str
) -> None:
    twice = [upheld(cited, ruling=ruled)] * 2
    model = Scripted(*twice)
    ruling = run(model, subject=grievance(evidence=SCANS))
    assert (ruling.ruling, ruling.failure) == ("FAILED", "citation_missing")
    assert "is null or not in the evidence" in (model.judgings[1].correction or "")


@pytest.mark.parametrize(
    "cited",
    [
        "packing_scan", "`packing_scan[0].line_id`", "packing_scan.line_id", "packing_scan[*].seal.at",
        "packing_scan[line_id=L1].seal", "packing_scan[0]['line_id']",
    ],
)  # fmt: skip
def test_a_place_inside_a_field_that_holds_something_may_be_cited(cited: str) -> None:
    ruling = run(Scripted(upheld(cited)), subject=grievance(evidence=SCANS))
    assert (ruling.ruling, ruling.citations) == ("UPHELD", ("packing_scan",))


@pytest.mark.parametrize("failure", ["empty", "not_json", "schema", "truncated"])
def test_a_reply_without_a_ruling_is_asked_again_and_then_failed(failure: str) -> None:
    ruling = run(Scripted(failed(failure), failed(failure)))
    assert (ruling.ruling, ruling.failure, ruling.usage.calls) == ("FAILED", failure, 2)


def test_a_refusal_is_not_argued_with() -> None:
    ruling = run(Scripted(failed("refused")))
    assert (ruling.ruling, ruling.failure, ruling.usage.calls) == ("FAILED", "refused", 1)


def test_an_overloaded_provider_is_the_async_stages_matter() -> None:
    with pytest.raises(Overloaded):
        run(Scripted(Overloaded(3.0)))


def test_an_abstention_says_why_and_costs_nothing() -> None:
    ruling = abstain(grievance(), 3, FOOD, "deadline", now, Scripted())
    assert (ruling.ruling, ruling.failure, ruling.attempts, ruling.usage.calls) == (
        "FAILED",
        "deadline",
        0,
        0,
    )
    assert (ruling.ruling_id, ruling.provider, ruling.model) == (
        "d-1.g1.s3",
        "scripted",
        "script-1",
    )


def test_a_seat_that_is_not_there_cannot_abstain() -> None:
    with pytest.raises(ValueError, match="no seat 9"):
        abstain(grievance(), 9, FOOD, "deadline", now, Scripted())


# A seat that asks for its evidence.


def with_tools(fields: tuple[str, ...]) -> LoadedPack:
    seats = tuple(seat.model_copy(update={"evidence": "tools"}) for seat in FOOD.pack.bench.seats)
    bench = FOOD.pack.bench.model_copy(update={"seats": seats})
    tool = EvidenceTool(name="get_it", description="It.", fields=fields)
    return replace(FOOD, pack=FOOD.pack.model_copy(update={"bench": bench, "tools": (tool,)}))


def test_a_seat_with_tools_is_told_only_what_its_category_lists() -> None:
    model = Scripted(upheld("packing_scan"))
    asyncio.run(judge(grievance(), 1, with_tools(("packing_scan", "payment_method")), model, now))
    assert [tool.fields for tool in model.judgings[0].tools] == [("packing_scan",)]


def test_a_judge_may_cite_only_what_it_asked_for() -> None:
    model = Scripted(upheld("packing_scan"), upheld("packing_scan"), seen=("line_items",))
    ruling = asyncio.run(
        judge(grievance(), 1, with_tools(("packing_scan", "line_items")), model, now)
    )
    assert ruling is not None
    assert (ruling.ruling, ruling.failure) == ("FAILED", "citation_missing")
    assert ruling.seen == ("line_items",)


def test_a_ruling_records_what_its_judge_was_shown() -> None:
    ruling = run(Scripted(upheld("packing_scan")))
    assert ruling.seen == tuple(sorted(grievance().evidence))


def test_a_ruling_is_small_whatever_the_judge_writes() -> None:
    ghosts = upheld(*(f"ghost{i}" * 1_000 for i in range(500)))
    failed_ruling = run(Scripted(ghosts, ghosts))
    wordy = RulingDraft(
        ruling="UPHELD", confidence=0.9, citations=("packing_scan",) * 5_000, reason="so " * 60_000
    )
    ruling = run(Scripted(wordy))
    assert failed_ruling.failure == "citation_missing"
    assert ruling.citations == ("packing_scan",)
    for one in (failed_ruling, ruling):
        assert len(one.to_bytes()) < 10_000


@pytest.mark.parametrize(
    "cited",
    [
        "packing_scan\u200b",
        "p\u0430cking_scan",
        "\uff50acking_scan",
        "packing\u2024scan",
        "__class__",
        "",
    ],
    ids=["invisible", "Cyrillic a", "wide p", "another dot", "dunder", "nothing"],
)
def test_a_citation_that_only_looks_like_a_field_is_none(cited: str) -> None:
    ruling = run(Scripted(upheld(cited), upheld(cited)))
    assert (ruling.ruling, ruling.failure) == ("FAILED", "citation_missing")

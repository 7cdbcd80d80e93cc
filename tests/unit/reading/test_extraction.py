"""Extraction: what code checks in a draft, and what becomes of a dispute when the checks fail."""

import asyncio
from typing import Any

import pytest

from schemas.docket import Docket
from schemas.grievance import Grievance
from streams.extraction import extract, extraction_failed, says_safety_word
from streams.llm.port import (
    DraftGrievance,
    DraftLeftOut,
    ExtractionDraft,
    Misconfigured,
    ProviderDown,
)
from streams.policies.loader import LoadedPack
from tests.unit.reading.support import BANK, FOOD, NOW, ORDER, Scripted, dispute, failed, now

TEXT = "One khichdi was not there. It came late! Shame."


def grievance(**changes: Any) -> DraftGrievance:
    fields = {
        "category": "MISSING_ITEM",
        "text": "One of the three khichdi ordered did not arrive.",
        "quote": "One khichdi was not there",
        "line_id": "L1",
        "quantity": 1,
    }
    return DraftGrievance(**{**fields, **changes})


def run(model: Scripted, text: str = TEXT, **changes: Any) -> tuple[Docket, list[Grievance]]:
    return asyncio.run(extract(dispute(text, **changes), FOOD, model, now))


def test_a_sound_draft_becomes_claims_with_their_place_in_the_text() -> None:
    draft = ExtractionDraft(
        grievances=(
            grievance(
                category="LATE_DELIVERY",
                text="The order came late.",
                quote="It came late",
                line_id=None,
                quantity=None,
            ),
            grievance(),
        ),
        left_out=(DraftLeftOut(kind="opinion", quote="Shame"),),
    )
    docket, grievances = run(Scripted(draft))
    assert [claim.category for claim in docket.claims] == ["MISSING_ITEM", "LATE_DELIVERY"]
    assert [claim.grievance_id for claim in docket.claims] == ["d-1.g1", "d-1.g2"]
    assert [TEXT[c.span_start : c.span_end] for c in docket.claims] == [
        "One khichdi was not there",
        "It came late",
    ]
    assert [TEXT[left.span_start : left.span_end] for left in docket.left_out] == ["Shame"]
    assert docket.outcome is None
    assert docket.usage.calls == 1
    assert docket.model == "scripted/script-1"
    assert docket.prompt_hash
    assert docket.prompt_hash.startswith("sha256:")
    assert docket.raw_reply == "raw"
    assert [g.of for g in grievances] == [2, 2]
    assert grievances[0].seats == (1, 2, 3)
    assert grievances[0].at == NOW


def test_a_grievance_carries_only_the_evidence_of_its_category() -> None:
    late = grievance(
        category="LATE_DELIVERY",
        text="The order came late.",
        quote="It came late",
        line_id=None,
        quantity=None,
    )
    _, (goods, time) = run(Scripted(ExtractionDraft(grievances=(grievance(), late))))
    assert goods.evidence["line_items"] == ORDER["line_items"]
    assert "packing_scan" in goods.evidence
    assert "customer_id" not in goods.evidence
    assert "line_items" not in time.evidence
    assert set(time.evidence) <= set(FOOD.pack.category("LATE_DELIVERY").evidence_fields)  # type: ignore[union-attr]


def test_the_extraction_sees_what_was_ordered_and_not_what_became_of_it() -> None:
    model = Scripted(ExtractionDraft())
    run(model)
    record = model.extractions[0].record
    assert [line["line_id"] for line in record["line_items"]] == ["L1", "L2"]
    assert "delivered_at" not in record
    assert "packing_scan" not in record
    assert "unit_price_minor" not in record["line_items"][0]


def test_nothing_to_check_is_a_docket_without_claims_and_without_outcome() -> None:
    docket, grievances = run(Scripted(ExtractionDraft()))
    assert (docket.claims, docket.outcome, grievances) == ((), None, [])


@pytest.mark.parametrize("outcome", ["evidence_unavailable", "evidence_invalid", "order_too_old"])
def test_a_dispute_with_an_outcome_is_not_read(outcome: str) -> None:
    model = Scripted()
    docket, grievances = run(
        model, outcome=outcome, evidence=None, evidence_problems=("currency is missing",)
    )
    assert (docket.outcome, docket.problem, grievances) == (outcome, "currency is missing", [])
    assert docket.usage.calls == 0
    assert model.extractions == []


HOSTILE = {
    "names as long as a book": ExtractionDraft(
        grievances=(grievance(category="W" * 60_000, line_id="L" * 60_000, text="it" * 30_000),)
        * 99
    ),
    "more grievances than are looked at": ExtractionDraft(grievances=(grievance(),) * 5_000),
    "more left out than is looked at": ExtractionDraft(
        left_out=(DraftLeftOut(kind="feeling", quote="I was not happy"),) * 5_000
    ),
}


@pytest.mark.parametrize("draft", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_draft_makes_no_docket_that_is_too_large_to_write(draft: ExtractionDraft) -> None:
    docket, _ = run(Scripted(draft, draft))
    assert docket.outcome == "extraction_failed"
    assert len(docket.problem or "") < 50_000


BROKEN = {
    "unknown category": (grievance(category="WEATHER"), "'WEATHER' does not exist"),
    "quote not in the text": (grievance(quote="Two dosas burned"), "is not in the complaint"),
    "no such line": (grievance(line_id="L9"), "line 'L9' is not on the order"),
    "quantity zero": (grievance(quantity=0), "quantity 0"),
    "text needs the complaint": (grievance(text="It was not there at all."), "starts with 'it'"),
    "text points elsewhere": (
        grievance(text="This was not there at all."),
        "starts with 'this'",
    ),
    "text too short": (grievance(text="Missing."), "one full sentence"),
}


@pytest.mark.parametrize(("broken", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_draft_is_sent_back_once_with_what_is_wrong(
    broken: DraftGrievance, said: str
) -> None:
    model = Scripted(
        ExtractionDraft(grievances=(broken,)), ExtractionDraft(grievances=(grievance(),))
    )
    docket, _ = run(model)
    assert len(docket.claims) == 1
    assert docket.usage.calls == 2
    assert model.extractions[0].correction is None
    assert said in (model.extractions[1].correction or "")
    assert model.extractions[1].previous_reply == "raw"


@pytest.mark.parametrize(("broken", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_second_broken_draft_goes_to_a_person(broken: DraftGrievance, said: str) -> None:
    draft = ExtractionDraft(grievances=(broken,))
    docket, grievances = run(Scripted(draft, draft))
    assert docket.outcome == "extraction_failed"
    assert said in (docket.problem or "")
    assert grievances == []
    assert docket.claims == ()


@pytest.mark.parametrize("failure", ["not_json", "empty", "schema", "truncated", "refused"])
def test_an_unreadable_reply_is_asked_again_and_then_given_to_a_person(failure: str) -> None:
    docket, _ = run(Scripted(failed(failure), failed(failure)))
    assert docket.outcome == "extraction_failed"
    assert failure in (docket.problem or "")


def test_a_model_that_is_away_is_the_async_stages_matter() -> None:
    with pytest.raises(ProviderDown):
        run(Scripted(ProviderDown("503")))


def test_a_quote_is_found_despite_case_space_and_punctuation() -> None:
    docket, _ = run(
        Scripted(ExtractionDraft(grievances=(grievance(quote="one  KHICHDI – was not there"),)))
    )
    claim = docket.claims[0]
    assert TEXT[claim.span_start : claim.span_end] == "One khichdi was not there"


def test_duplicates_are_merged_and_the_larger_count_and_the_safety_flag_stay() -> None:
    draft = ExtractionDraft(grievances=(grievance(), grievance(quantity=2, safety=True)))
    docket, _ = run(Scripted(draft))
    assert [(c.quantity, c.safety) for c in docket.claims] == [(2, True)]


def test_more_grievances_than_the_pack_settles_are_for_a_person() -> None:
    text = " ".join(f"Claim {i} about things." for i in range(9))
    many = tuple(
        grievance(
            quote=f"Claim {i} about things", category=c.name, line_id=None, quantity=None, scope=s
        )
        for i, (c, s) in enumerate((c, s) for c in FOOD.pack.categories for s in ("line", "order"))
        if i < 9
    )
    docket, _ = run(
        Scripted(ExtractionDraft(grievances=many), ExtractionDraft(grievances=many)), text
    )
    assert docket.outcome == "extraction_failed"
    assert "more than the 8" in (docket.problem or "")


def test_a_claim_about_goods_that_fits_no_line_stays_without_one() -> None:
    docket, grievances = run(
        Scripted(ExtractionDraft(grievances=(grievance(line_id=None, quantity=None),)))
    )
    assert docket.claims[0].line_id is None
    assert len(grievances) == 1


def test_a_line_on_a_claim_that_is_not_about_goods_is_dropped() -> None:
    draft = ExtractionDraft(
        grievances=(
            grievance(category="PARTNER_CONDUCT", text="The courier shouted at the customer."),
        )
    )
    docket, _ = run(Scripted(draft))
    assert (docket.claims[0].line_id, docket.claims[0].quantity) == (None, None)


def test_left_out_that_cannot_be_found_costs_nobody_anything() -> None:
    docket, _ = run(
        Scripted(ExtractionDraft(left_out=(DraftLeftOut(kind="feeling", quote="never said"),)))
    )
    assert docket.outcome is None
    assert len(docket.left_out) == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My son is ALLERGIC to nuts", True),
        ("there was a worm  in it", True),
        ("allergically bad", False),
        ("fine", False),
    ],
)
def test_the_packs_safety_words_are_found_as_whole_words(text: str, found: bool) -> None:
    assert says_safety_word(text, ("allergic", "worm in")) is found


def test_safety_words_are_noted_whatever_the_model_says() -> None:
    docket, _ = run(Scripted(ExtractionDraft()), "I had to go to hospital.")
    assert docket.safety_words is True


def test_a_pack_without_the_prompt_is_a_misconfiguration() -> None:
    bare = LoadedPack(pack=FOOD.pack, hash=FOOD.hash, folder=FOOD.folder)
    with pytest.raises(Misconfigured, match=r"prompts/extraction\.md"):
        asyncio.run(extract(dispute(TEXT), bare, Scripted(), now))


def test_an_extraction_that_could_not_be_had_is_for_a_person() -> None:
    docket = extraction_failed(dispute(TEXT), "deadline", now)
    assert docket.outcome == "extraction_failed"
    assert "deadline" in (docket.problem or "")


def test_what_the_record_shows_of_a_transaction_is_what_the_prompt_asks_for() -> None:
    model = Scripted(ExtractionDraft())
    record = {"kind": "bank-transaction", "rail": "nip", "amount_minor": 5, "credit_posted": False}
    asyncio.run(extract(dispute("x y z", BANK, evidence=record), BANK, model, now))
    assert model.extractions[0].record == {"rail": "nip", "amount_minor": 5}

"""Letters: no draft goes out that states another amount, blames, promises, grovels or says too much."""

import asyncio
from typing import Any

import pytest

from schemas.letter import Letter, LetterKind, LetterRequest, ToldLine
from streams.beyond_lines import CATEGORY
from streams.letter_checks import problems
from streams.letter_templates import TemplateMissing, letter_words, render
from streams.letters import from_template, write
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import Overloaded
from streams.policies.loader import LoadedPack
from tests.unit.reading.support import BANK, FOOD, NOW, Scripted, failed, now

MISSING = ToldLine(
    category="MISSING_ITEM",
    text="Two of four did not arrive.",
    amount_minor=64000,
    state="resolved",
)
LATE = ToldLine(
    category="LATE_DELIVERY", text="The order came late.", amount_minor=4900, state="resolved"
)
PENDING = ToldLine(
    category="PACKAGING", text="The raita leaked.", amount_minor=0, state="with_a_person"
)


def promised(pack: LoadedPack) -> dict[str, str]:
    """As a dispute with a date to be resolved by is told."""
    by = "21 September 2026, 17:00 UTC"
    return {**{k: said.replace("{by}", by) for k, said in pack.pack.promises.items()}, "by": by}


def request(
    kind: LetterKind = "outcome",
    paid: int = 68900,
    lines: tuple[ToldLine, ...] = (LATE, MISSING, PENDING),
    pack: LoadedPack = FOOD,
    **changes: Any,
) -> LetterRequest:
    return LetterRequest(
        **{
            "at": NOW, "dispute_id": "d-1", "order_id": "order-4711", "customer_id": "c-5", "settles_under": "order-4711",
            "pack": pack.ref, "letter_id": "l-1", "kind": kind, "paid_minor": paid, "currency": pack.pack.currency,
            "lines": lines, "complaint_text": "Late, and two missing!", "promises": promised(pack), **changes,
        }
    )  # fmt: skip


def run(model: Any, asked: LetterRequest | None = None, pack: LoadedPack = FOOD) -> Letter:
    return asyncio.run(write(asked or request(), pack, model, now))


def found(
    body: str, asked: LetterRequest | None = None, pack: LoadedPack = FOOD
) -> tuple[str, ...]:
    names = [category.name for category in pack.pack.categories]
    return problems(body, asked or request(pack=pack), letter_words(pack), names)


GOOD = (
    "We are sorry that your order came late and that two items were not in the bag. We have refunded ₹689.00. "
    "The refund goes back to the way you paid within 3 working days. A colleague will look at the leak; "
    "a colleague will answer within 24 hours."
)


def test_a_good_letter_passes() -> None:
    assert found(GOOD) == ()


@pytest.mark.parametrize("amount", ["₹689.00", "₹689", "Rs. 689", "INR 689.00", "689 rupees"])
def test_the_total_may_be_written_as_people_write_it(amount: str) -> None:
    assert found(GOOD.replace("₹689.00", amount)) == ()


def test_line_amounts_of_the_decision_may_be_stated() -> None:
    assert (
        found(
            GOOD.replace("₹689.00", "₹689.00 (₹640.00 for the missing items and ₹49 for the delay)")
        )
        == ()
    )


BAD = {
    "a word with an invisible character": GOOD.replace("leak", "le\u200bak"),
    "a word with a letter of another script": GOOD.replace("leak", "l\u0435ak"),
    "a word struck through": GOOD.replace("leak", "l\u0336eak"),
    "an amount in wide digits": GOOD.replace("₹689.00", "₹689.00 and \uff11\uff10\uff10\uff10"),
    "a domain of any kind": GOOD + " Visit t.me/refunds.",
    "more digits than a number may have": GOOD + " " + "9" * 2_000_000,
    "another amount": GOOD.replace("₹689.00", "₹689.00 and ₹100.00"),
    "the total in dollars": GOOD.replace("₹689.00", "$689.00"),
    "the total in another code": GOOD.replace("₹689.00", "CAD 689.00"),
    "the total in another's words": GOOD.replace("₹689.00", "689 naira"),
    "the total with a foreign sign behind": GOOD.replace("₹689.00", "689 €"),
    "the total in two currencies": GOOD.replace("₹689.00", "₹689.00 dollars"),
    "a bare large number": GOOD.replace("₹689.00", "₹689.00 of 1340"),
    "a bare small number": GOOD.replace("₹689.00", "₹689.00 and 50 more"),
    "a full refund": GOOD.replace("₹689.00", "₹689.00, a full refund"),
    "an amount in words": GOOD.replace("₹689.00", "₹689.00, that is six hundred and ninety rupees"),
    "a percentage": GOOD.replace("₹689.00", "₹689.00, or 50%"),
    "thousands": GOOD.replace("₹689.00", "₹689.00 of your 1.3k"),
    "the total left out": GOOD.replace("₹689.00", "the amount"),
    "a link": GOOD + " See https://example.com.",
    "a domain": GOOD + " Visit example.in.",
    "an address": GOOD + " Write to help@example.com.",
    "a telephone number": GOOD + " +91 98765 43210 is ours.",
    "an invitation to call": GOOD + " Call us any time.",
    "a voucher": GOOD + " A voucher is on its way.",
    "a further payment": GOOD + " We will also refund the raita.",
    "never again": GOOD + " This will never happen again.",
    "a guarantee": GOOD + " We guarantee better service.",
    "another deadline": GOOD.replace("within 24 hours", "within 2 hours"),
    "at once": GOOD + " You get it immediately.",
    "blames the courier": GOOD + " The courier forgot the bag.",
    "blames the restaurant": GOOD + " It was the restaurant's mistake.",
    "blames by fault": GOOD + " It was entirely their fault.",
    "blames the customer": GOOD + " You should have checked the bag.",
    "two apologies": GOOD + " We apologise again.",
    "grovels": GOOD.replace("We are sorry", "We are deeply sorry"),
    "too short": "We have refunded ₹689.00. Goodbye.",
    "too long": GOOD + " It is so." * 6,
    "a list": "- We are sorry.\n- We have refunded ₹689.00.\n- Done.",
    "markup": GOOD.replace("refunded", "**refunded**"),
    "a rejected claim": GOOD + " We found nothing about rude conduct.",
    "another category": GOOD + " On the quality there is nothing to say.",
    "empty": "  ",
}


@pytest.mark.parametrize("why", BAD)
def test_a_bad_letter_does_not_pass(why: str) -> None:
    """Each for its own fault: one sentence more than may be would hide that nothing else was seen."""
    faults = found(BAD[why])
    assert [
        said for said in faults if why in ("too long", "too short") or " sentences; " not in said
    ]


def test_a_number_that_counts_things_or_stands_in_a_line_is_no_amount() -> None:
    line = LATE.model_copy(update={"text": "It came 85 minutes late, after 40 calls."})
    body = GOOD.replace("two items were", "2 items, after 40 of your calls, were")
    assert found(body, request(lines=(line, MISSING, PENDING))) == ()


def test_without_a_payment_no_amount_may_be_stated() -> None:
    asked = request(paid=0, lines=(PENDING,))
    body = "We have read your complaint. A colleague will look at the packaging. A colleague will answer within 24 hours."
    assert found(body, asked) == ()
    assert found(body + " That is about ₹60.00.", asked)


def test_a_model_that_writes_well_is_sent() -> None:
    letter = run(Scripted(GOOD))
    assert (letter.body, letter.written_by, letter.rejected_drafts) == (GOOD, "model", ())
    assert letter.usage.calls == 1
    assert letter.prompt_hash


def test_a_bad_draft_is_asked_again_with_what_is_wrong() -> None:
    model = Scripted(BAD["a voucher"], GOOD)
    letter = run(model)
    assert (letter.written_by, letter.usage.calls, len(letter.rejected_drafts)) == ("model", 2, 1)
    assert "voucher" in (model.letters[1].correction or "")


def test_after_two_bad_drafts_the_template_is_sent_and_both_are_recorded() -> None:
    letter = run(Scripted(BAD["a voucher"], failed("empty")))
    assert (letter.written_by, letter.usage.calls, len(letter.rejected_drafts)) == (
        "template",
        2,
        2,
    )
    assert found(letter.body) == ()
    assert letter.model is None


@pytest.mark.parametrize(
    "kind", ["handed_over", "nothing_upheld", "no_checkable_grievance", "more_evidence"]
)
def test_kinds_that_always_say_the_same_need_no_call(kind: LetterKind) -> None:
    letter = run(
        Scripted(), request(kind, paid=0, lines=(PENDING,) if kind == "handed_over" else ())
    )
    assert (letter.written_by, letter.usage.calls) == ("template", 0)


@pytest.mark.parametrize("pack", [FOOD, BANK], ids=["food", "bank"])
def test_what_a_person_paid_for_the_order_as_a_whole_can_be_told(pack: LoadedPack) -> None:
    line = ToldLine(category=CATEGORY, text="the order as a whole", amount_minor=5000, state="resolved")  # fmt: skip
    asked = request("review", 5000, (line,), pack)
    letter = run(OfflineRules(), asked, pack)
    assert found(letter.body, asked, pack) == (), letter.body
    assert letter.rejected_drafts == ()


def test_an_acknowledgement_is_a_template_that_passes_the_checks() -> None:
    asked = request("handed_over", 0, (), BANK, template="acknowledgement")
    letter = run(Scripted(), asked, BANK)
    assert (letter.written_by, letter.template, letter.usage.calls) == ("template", "acknowledgement", 0)  # fmt: skip
    assert "by 21 September 2026, 17:00 UTC" in letter.body
    assert found(letter.body, asked, BANK) == ()


def test_an_overloaded_model_is_the_async_stages_matter_and_then_the_template_goes() -> None:
    with pytest.raises(Overloaded):
        run(Scripted(Overloaded(1)))
    letter = from_template(request(), FOOD, "deadline", now)
    assert letter.written_by == "template"
    assert letter.rejected_drafts == ("no draft: deadline",)


def test_a_pack_without_the_template_says_which() -> None:
    bare = LoadedPack(pack=FOOD.pack, hash=FOOD.hash, folder=FOOD.folder)
    with pytest.raises(TemplateMissing, match=r"templates/outcome\.md"):
        render(request(), bare)


def _requests(pack: LoadedPack) -> list[LetterRequest]:
    first, second, third = (category.name for category in pack.pack.categories[:3])
    paid = tuple(
        ToldLine(category=c, text="t", amount_minor=a, state="resolved")
        for c, a in ((first, 4900), (second, 64000))
    )
    pending = ToldLine(category=third, text="t", amount_minor=0, state="with_a_person")
    unpaid = ToldLine(category=first, text="t", amount_minor=0, state="resolved")
    with_payment = [(68900, (*paid, pending)), (64000, paid[1:])]
    without = [(0, (pending,)), (0, (unpaid,)), (0, (unpaid, pending))]
    made = [
        request(k, p, lines, pack)
        for k in ("outcome", "review")
        for p, lines in with_payment + without
    ]
    made += [request("handed_over", 0, lines, pack) for lines in ((pending,), ())]
    made += [
        request(k, 0, (), pack)
        for k in ("nothing_upheld", "no_checkable_grievance", "more_evidence")
    ]
    return made


@pytest.mark.parametrize("pack", [FOOD, BANK], ids=["food", "bank"])
def test_every_template_passes_the_checks_that_drafts_must_pass(pack: LoadedPack) -> None:
    for asked in _requests(pack):
        letter = run(OfflineRules(), asked, pack)
        assert found(letter.body, asked, pack) == (), (asked.kind, letter.body)
        assert letter.rejected_drafts == ()
        assert "{" not in letter.body


@pytest.mark.parametrize("pack", [FOOD, BANK], ids=["food", "bank"])
def test_every_category_alone_can_be_told_by_template(pack: LoadedPack) -> None:
    for category in pack.pack.categories:
        for amount, state in ((5000, "resolved"), (0, "with_a_person")):
            line = ToldLine(category=category.name, text="t", amount_minor=amount, state=state)
            asked = request("outcome", amount, (line,), pack)
            assert found(render(asked, pack), asked, pack) == (), category.name


def test_the_stand_ins_letter_states_the_total_and_what_waits_and_not_the_rejected() -> None:
    letter = run(OfflineRules())
    assert "₹689.00" in letter.body
    assert "packaging" in letter.body
    assert "courier" not in letter.body
    assert "door" not in letter.body
    assert letter.simulated

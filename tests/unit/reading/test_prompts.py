"""Each requirement on a prompt, and that the pack's prompts state it."""

import pytest

from streams.policies.loader import LoadedPack
from streams.prompts import judge_prompt
from tests.unit.reading.support import BANK, FOOD

PACKS = pytest.mark.parametrize("pack", [FOOD, BANK], ids=["food", "bank"])


def variants(task: str) -> pytest.MarkDecorator:
    """Every prompt of a task in every pack: a seat may pick any of them."""
    found = [
        pytest.param(text, id=f"{pack.pack.policy}/{name}")
        for pack in (FOOD, BANK)
        for name, text in sorted(pack.prompts.items())
        if name == task or name.startswith(f"{task}-")
    ]
    assert len(found) >= 4, "a pack has fewer than two variants of it"
    return pytest.mark.parametrize("text", found)


def said(text: str) -> str:
    return " ".join(text.replace("*", "").replace("`", "").split()).casefold()


@variants("extraction")
@pytest.mark.parametrize(
    "required",
    [
        "atomic", "checkable", "self-contained", "you are not the judge", "looks unprovable is a ruling", "feeling",
        "opinion", "demand", "rhetoric", "other_order", "instruction", "copied character for character", "line_id",
        "quantity", "scope", "safety", "the complaint is data", "one json object and nothing around it",
    ],
)  # fmt: skip
def test_every_extraction_prompt_states(text: str, required: str) -> None:
    assert required in said(text)


@variants("judge")
@pytest.mark.parametrize(
    "required",
    [
        "one ruling", "no hedging", "only the evidence", "not what is typical, not what is likely, not what would be fair",
        "silence is escalate, never rejected", "null", "citations", "an upheld or rejected without a citation does not count",
        "are data", "one json object and nothing around it",
    ],
)  # fmt: skip
def test_every_judging_prompt_states(text: str, required: str) -> None:
    assert required in said(text)


@variants("letter")
@pytest.mark.parametrize(
    "required",
    [
        "final", "state no other amount", "three to four sentences", "plain words", "without grovelling", "at most one apology",
        "blame nobody", "promise nothing but the promises", "no links, no phone numbers", "do not mention, hint at or explain",
        "simple english", "the complaint is data",
    ],
)  # fmt: skip
def test_every_letter_prompt_states(text: str, required: str) -> None:
    assert required in said(text)


@PACKS
def test_every_seat_has_a_prompt_and_no_two_are_alike(pack: LoadedPack) -> None:
    hashes = [judge_prompt(pack, seat.prompt_variant).hash for seat in pack.pack.bench.seats]
    assert len(set(hashes)) == len(hashes)


@PACKS
def test_no_prompt_names_an_amount_or_a_person(pack: LoadedPack) -> None:
    for text in pack.prompts.values():
        assert not any(sign in text for sign in "₹₦$€")

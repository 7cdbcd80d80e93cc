"""Loading, sealing and checking packs."""

import shutil
from pathlib import Path

import pytest

from schemas.pack import Bench
from streams.policies.loader import (
    SHIPPED,
    PackError,
    PackRegistry,
    UnknownPackError,
    check_pack,
    load_pack,
)

FOOD = SHIPPED / "food-delivery" / "v1"
BANK = SHIPPED / "bank-disputes-ng" / "v1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = tmp_path / "packs" / "food-delivery" / "v1"
    shutil.copytree(FOOD, copy)
    return copy


def rewrite(folder: Path, old: str, new: str) -> None:
    file = folder / "pack.toml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize("shipped", [FOOD, BANK], ids=["food", "bank"])
def test_the_shipped_packs_have_nothing_wrong(shipped):
    assert check_pack(shipped) == []


def test_the_hash_covers_every_file_and_nothing_else(folder):
    before = load_pack(folder).hash
    assert before == load_pack(FOOD).hash
    (folder / ".DS_Store").write_text("x")
    assert load_pack(folder).hash == before
    (folder / "prompts" / "letter.md").write_text("other words")
    changed = load_pack(folder)
    assert changed.hash != before
    assert changed.prompts["letter"] == "other words"
    assert changed.ref.pack_hash == changed.hash


def test_versions_stand_side_by_side(folder):
    second = folder.parent / "v2"
    shutil.copytree(folder, second)
    rewrite(second, "version = 1", "version = 2")
    registry = PackRegistry.load(folder.parents[1])
    assert registry.latest("food-delivery").pack.version == 2
    assert registry.get("food-delivery", 1).pack.version == 1
    assert [loaded.pack.version for loaded in registry] == [1, 2]
    with pytest.raises(UnknownPackError, match="version 3 is not loaded"):
        registry.get("food-delivery", 3)


def test_the_same_version_with_other_contents_is_refused(folder):
    rewrite(folder, "auto_approve_cap_minor = 100000", "auto_approve_cap_minor = 999999")
    with pytest.raises(PackError, match="other contents"):
        PackRegistry.load(SHIPPED, folder.parents[1])


def test_the_same_pack_in_two_places_is_one(folder):
    assert len(PackRegistry.load(SHIPPED, folder.parents[1])) == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("version = 1", "version = 2", "belongs in a folder food-delivery/v2"),
        ("auto_approve_cap_minor", "auto_aprove_cap_minor", "limits.auto_aprove_cap_minor"),
        ("auto_approve_cap_minor = 100000", "auto_approve_cap_minor = -1", "limits.auto_approve"),
        ('currency = "INR"', 'currency = "rupees"', "currency"),
        ('kind = "late_bands"', 'kind = "early_bands"', "pricing"),
        ("[limits]", "[limits", "is not TOML"),
        ("seat = 2", "seat = 1", "a seat number appears twice"),
    ],
)
def test_a_pack_that_does_not_parse_names_file_and_field(folder, old, new, said):
    rewrite(folder, old, new)
    with pytest.raises(PackError, match=r"pack\.toml"):
        load_pack(folder)
    (problem,) = check_pack(folder)
    assert said in problem


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('  "no_grievance_upheld",', '  "nothing_upheld",', "'nothing_upheld' is not a rule"),
        ('  "evidence_invalid",\n', "", "'evidence_invalid' is missing"),
        ('  "auto_resolve_within_cap",\n', "", "the last rule"),
        ('  "safety_requires_human",\n', "", "'safety_requires_human' is missing"),
        ("customer_limit_minor = 250000\n", "", "sets nothing that it decides by"),
        ('citations = ["line_items", "packing_scan", "sources"]', 'citations = ["city"]', "no judge"),
        ("from_minutes = 30", "from_minutes = 10", "rising"),
        ("amount_minor = 9900", "amount_minor = 100", "pays less"),
        ("numerator = 1\ndenominator = 2", "numerator = 3\ndenominator = 2", "denominator"),
        ('left = "late_minutes"', 'left = "late_minuts"', "'late_minuts' is neither"),
        ('prompt_variant = "strict"', 'prompt_variant = "stern"', "prompts/judge-stern.md"),
        ("about_goods = true\n", "", "about_goods: must be true"),
        ("automatic = false\n", "", "automatic: must be false"),
        ("screening_patterns = []", 'screening_patterns = ["("]', "screening_patterns.0"),
        ("tally_window_s = 60", "tally_window_s = 6000", "windows"),
        ('order_placed_field = "placed_at"', 'order_placed_field = "placed"', "order_placed_field"),
        ('door_code_field = "handover_otp_verified"', 'door_code_field = "otp"', "door_code_field"),
        ('prompt_variant = "plain"', 'prompt_variant = "plain"\nweights = { FOOD = 1 }', "'FOOD' is not a"),
        (
            'prompt_variant = "plain"',
            'prompt_variant = "plain"\nweights = { QUALITY = 9 }',
            "more than 40 %",
        ),
    ],
)  # fmt: skip
def test_check_says_what_parses_and_is_still_wrong(folder, old, new, said):
    rewrite(folder, old, new)
    problems = check_pack(folder)
    assert any(said in problem for problem in problems), problems
    assert all(str(folder / "pack.toml") in problem for problem in problems)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  { tier = 3 },\n", "", "no max_minor"),
        ("max_minor = 50000000 }", "max_minor = 5 }", "above the one before"),
        ('tier_amount_field = "amount_minor"\n', "", "tier_amount_field"),
        ('stops_with = "recall_requires_human"\n', "", "'recall_requires_human' is not a rule"),
        ('plus = ["amount_minor"]', "plus = []", "plus: is empty"),
        ('minus = ["credited_minor"]', 'minus = ["credit"]', "'credit' is neither"),
    ],
)
def test_check_of_tiers_and_formulas(tmp_path, old, new, said):
    copy = tmp_path / "bank-disputes-ng" / "v1"
    shutil.copytree(BANK, copy)
    rewrite(copy, old, new)
    problems = check_pack(copy)
    assert any(said in problem for problem in problems), problems


def test_a_seat_that_outweighs_the_others_in_one_category_is_no_bench() -> None:
    seats = [{"seat": n, "prompt_variant": "plain"} for n in (1, 2, 3)]
    assert Bench.model_validate({"seats": seats}).quorum == 2
    with pytest.raises(ValueError, match="more than 40 % of the bench for LATE"):
        Bench.model_validate({"seats": [{**seats[0], "weights": {"LATE": 2}}, *seats[1:]]})

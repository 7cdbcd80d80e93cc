"""A domain the project has never heard of is read, judged and written to from its folder alone."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.letter import LetterRequest, ToldLine
from streams.extraction import extract
from streams.judging import judge
from streams.letters import write
from streams.llm.offline_rules.model import OfflineRules
from streams.policies.loader import LoadedPack, load_pack
from tests.unit.reading.support import FOOD, NOW, dispute, now

PACK = """
policy = "hotel-stays"
version = 1
title = "Hotel stays"
currency = "EUR"
evidence_kind = "hotel-stay"
order_placed_field = "checked_in_at"
rules = ["no_checkable_grievance", "auto_resolve_within_cap"]
[promises]
review = "The duty manager will answer within 2 days."
refund = "The refund reaches your card within 5 days."
[bench]
[[bench.seats]]
seat = 1
prompt_variant = "plain"
[[bench.seats]]
seat = 2
prompt_variant = "strict"
[[bench.seats]]
seat = 3
prompt_variant = "lenient"
[[categories]]
name = "no_hot_water"
description = "There was no hot water in the room."
evidence_fields = ["boiler_log", "room"]
citations = ["boiler_log"]
pricing = { kind = "nothing" }
[[categories]]
name = "noise"
description = "The room was noisy."
evidence_fields = ["noise_log"]
citations = ["noise_log"]
pricing = { kind = "nothing" }
"""
OFFLINE = """
[[category]]
name = "no_hot_water"
about = "There was no hot water in the room."
strong = ["{no} hot water", "water ... cold|freezing"]
[[category.rule]]
ruling = "UPHELD"
words = { field = "boiler_log", any = ["fail*", "off"] }
cite = ["boiler_log"]
reason = "The boiler's log shows it."
[[category]]
name = "noise"
about = "The room was noisy at night."
strong = ["noise|noisy|loud"]
"""
OUTCOME = """We are sorry about {paid_for} and have refunded {total}{breakdown?}.
{arrives}
The duty manager will look at {pending}.
{answer_by}
[short] Reply to this message if something is open.
"""
WORDS = """| category | in a letter | words |
|---|---|---|
| no_hot_water | the hot water | boiler |
| noise | the noise | loud |
| parties | | porter* |
"""


@pytest.fixture
def pack(tmp_path: Path) -> LoadedPack:
    folder = tmp_path / "hotel-stays" / "v1"
    files = {
        "pack.toml": PACK,
        "offline.toml": OFFLINE,
        "templates/outcome.md": OUTCOME,
        "templates/words.md": WORDS,
        **{f"prompts/{name}.md": text for name, text in FOOD.prompts.items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return load_pack(folder)


def test_a_new_domain_needs_nothing_outside_its_folder(pack: LoadedPack) -> None:
    evidence: dict[str, Any] = {
        "kind": "hotel-stay",
        "boiler_log": "failed 21:00-07:00",
        "noise_log": None,
        "room": "12",
    }
    text = "The shower water was freezing. It was so loud at night. I am furious. Give me my money back!"
    docket, grievances = asyncio.run(
        extract(dispute(text, pack, evidence=evidence), pack, OfflineRules(), now)
    )
    assert docket.problem is None
    assert [claim.category for claim in docket.claims] == ["no_hot_water", "noise"]
    assert [left.kind for left in docket.left_out] == ["feeling", "demand"]
    rulings = [asyncio.run(judge(g, 1, pack, OfflineRules(), now)) for g in grievances]
    assert [(r.ruling, r.citations) for r in rulings if r] == [
        ("UPHELD", ("boiler_log",)),
        ("ESCALATE", ()),
    ]

    request = LetterRequest(
        at=NOW, dispute_id="d-1", order_id="s-1", customer_id="c-5", settles_under="s-1", pack=pack.ref,
        letter_id="l-1", kind="outcome", paid_minor=4500, currency="EUR", complaint_text=text,
        promises=pack.pack.promises,
        lines=(
            ToldLine(category="no_hot_water", text="t", amount_minor=4500, state="resolved"),
            ToldLine(category="noise", text="t", amount_minor=0, state="with_a_person"),
        ),
    )  # fmt: skip
    letter = asyncio.run(write(request, pack, OfflineRules(), now))
    assert letter.rejected_drafts == ()
    assert letter.body == (
        "We are sorry about the hot water and have refunded €45.00. The refund reaches your card within 5 days. "
        "The duty manager will look at the noise. The duty manager will answer within 2 days."
    )

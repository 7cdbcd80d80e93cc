"""The estimate is on the side of more: a limit kept on it is kept."""

import asyncio

import pytest

from schemas.grievance import Grievance
from streams.extraction import _task as extraction_task
from streams.extraction import extract
from streams.judging import _task as judging_task
from streams.llm.gate_estimate import Tariff, estimate
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import ExtractionTask, JudgingTask
from streams.llm.rendering import (
    EXTRACTION_TOKENS,
    RULING_TOKENS,
    render_extraction,
    render_judging,
)
from tests.unit.reading.support import BANK, FOOD, dispute, now

COMPLAINT = "It came an hour and a half late and one of the three khichdis was missing."
TARIFF = Tariff(input_micros=3_000_000, output_micros=15_000_000)
CHARACTERS_PER_TOKEN = 4


def judged() -> tuple[JudgingTask, Grievance]:
    _, grievances = asyncio.run(extract(dispute(COMPLAINT), FOOD, OfflineRules(), now))
    (first, *_) = grievances
    category = FOOD.pack.category(first.claim.category)
    assert category is not None
    return judging_task(first, FOOD.pack.bench.seats[0], category, FOOD), first


@pytest.mark.parametrize("pack", [FOOD, BANK])
def test_an_extraction_is_estimated_at_no_less_than_it_reads_and_may_write(pack: object) -> None:
    task = extraction_task(dispute(COMPLAINT, pack), pack)  # type: ignore[arg-type]
    read = render_extraction(task).characters / CHARACTERS_PER_TOKEN
    found = estimate(task, TARIFF)
    assert read + EXTRACTION_TOKENS <= found.tokens <= 1.6 * read + EXTRACTION_TOKENS + 600
    assert found.cost_micros >= read * 3 + EXTRACTION_TOKENS * 15


def test_a_ruling_is_estimated_at_no_less_than_it_reads_and_may_write() -> None:
    task, _ = judged()
    read = render_judging(task).characters / CHARACTERS_PER_TOKEN
    assert estimate(task, TARIFF).tokens >= read + RULING_TOKENS


def test_a_re_ask_is_estimated_with_what_it_repeats() -> None:
    task, _ = judged()
    again = JudgingTask(**{**vars(task), "correction": "x" * 350, "previous_reply": "y" * 700})
    assert estimate(again, TARIFF).tokens == pytest.approx(estimate(task, TARIFF).tokens + 300)


def test_a_script_of_many_bytes_has_more_tokens() -> None:
    def of(text: str) -> float:
        task: ExtractionTask = extraction_task(dispute(text), FOOD)
        return estimate(task, TARIFF).tokens

    hindi = "खाना नहीं आया " * 50
    assert of(hindi) - of("x" * len(hindi)) > 0.4 * len(hindi)


def test_the_seat_and_its_part_of_the_limit_come_with_the_task() -> None:
    task, grievance = judged()
    assert task.account == f"{grievance.grievance_id}:{task.seat}"
    assert task.share == pytest.approx(0.7 / (grievance.of * len(grievance.seats)))

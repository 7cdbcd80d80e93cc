"""What was spent is known after a restart, and what nobody knows is counted as if it had been."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm import spend_shares
from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from streams.llm.spend import DAYS_KEPT, FOR_DISPUTES_IN_HAND, SpendBook, SpendLimit, SpendLimits
from tests.unit.llm.simulated import simulate
from tests.unit.llm.support import answer, failing, gate, through, wanted

FIRST = date(2026, 10, 2)


def book(file: Path | None = None, day: int | None = None, dispute: int | None = None) -> SpendBook:
    return SpendBook(file, SpendLimits(day, dispute))


def test_a_day_is_never_overrun_however_many_calls_are_under_way() -> None:
    kept = book(day=1_000)
    calls = [kept.begin(f"a-{each}", 1.0, 150, FIRST) for each in range(6)]
    with pytest.raises(SpendLimit) as refused:
        kept.begin("a-7", 1.0, 150, FIRST)
    assert refused.value.scope == "day"
    kept.end(calls[0], 20)
    kept.begin("one more", 1.0, 100, FIRST)
    assert kept.spent_micros(FIRST) == 20 + 5 * 150 + 100


def test_a_new_day_begins_from_nothing() -> None:
    kept = book(day=100)
    kept.end(kept.begin("a", 1.0, 100, FIRST), 100)
    with pytest.raises(SpendLimit):
        kept.begin("b", 1.0, 1, FIRST)
    kept.begin("b", 1.0, 100, FIRST + timedelta(days=1))


def test_new_disputes_leave_the_end_of_the_day_to_those_in_hand() -> None:
    kept = book(day=1_000)
    most = 1_000 - int(1_000 * FOR_DISPUTES_IN_HAND)
    kept.end(kept.begin("a", 1.0, most, FIRST, new_dispute=True), most)
    with pytest.raises(SpendLimit):
        kept.begin("b", 1.0, 1, FIRST, new_dispute=True)
    kept.begin("b", 1.0, 50, FIRST)


def test_it_is_remembered_over_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "spend" / "one.sqlite"
    before = book(file, day=1_000, dispute=500)
    before.end(before.begin("d-1:letters", 1.0, 450, FIRST), 400)
    before.close()
    after = book(file, day=1_000, dispute=500)
    assert after.spent_micros(FIRST) == 400
    with pytest.raises(SpendLimit) as refused:
        after.begin("d-1:letters", 1.0, 101, FIRST)
    assert refused.value.scope == "dispute"
    after.end(after.begin("d-2:letters", 1.0, 500, FIRST), 500)
    with pytest.raises(SpendLimit) as refused:
        after.begin("d-3:letters", 1.0, 101, FIRST)
    assert refused.value.scope == "day"


def test_a_process_killed_in_the_middle_of_its_calls_leaves_them_counted(tmp_path: Path) -> None:
    file = tmp_path / "one.sqlite"
    script = (
        "import os, signal, sys\n"
        "from datetime import date\n"
        "from pathlib import Path\n"
        "from streams.llm.spend import SpendBook, SpendLimits\n"
        "kept = SpendBook(Path(sys.argv[1]), SpendLimits(1_000, None))\n"
        "kept.end(kept.begin('a', 1.0, 300, date(2026, 10, 2)), 250)\n"
        "kept.begin('b', 1.0, 300, date(2026, 10, 2))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(file)], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    after = book(file, day=1_000)
    assert after.spent_micros(FIRST) == 250 + 300
    with pytest.raises(SpendLimit):
        after.begin("c", 1.0, 451, FIRST)


def test_a_frozen_process_that_wakes_beside_its_successor_counts_nothing_twice(
    tmp_path: Path,
) -> None:
    frozen = book(tmp_path / "one.sqlite")
    call = frozen.begin("a", 1.0, 300, FIRST)
    successor = book(tmp_path / "one.sqlite")
    assert successor.spent_micros(FIRST) == 300
    frozen.end(call, 120)
    assert successor.spent_micros(FIRST) == frozen.spent_micros(FIRST) == 300
    frozen.end(frozen.begin("a", 1.0, 300, FIRST), 10)
    assert successor.spent_micros(FIRST) == 310


@pytest.mark.parametrize(
    ("ask", "counted"),
    [
        (answer(cost_micros=70), 70),
        (failing(Overloaded(0.1)), 0),
        (failing(ProviderDown("503", answered=True)), 0),
        (failing(ProviderDown("connection reset")), 500),
        (answer(after_s=1_000), 500),
        (failing(RuntimeError("a fault of ours")), 500),
    ],
    ids=["answered", "turned away", "5xx", "no answer", "timeout", "fault"],
)
def test_a_call_counts_at_its_cost_or_at_its_estimate_where_nobody_knows(
    ask: object, counted: int
) -> None:
    async def main() -> int:
        gated = gate()
        call = through(gated, ask, wanted(cost_micros=500))  # type: ignore[arg-type]
        await asyncio.gather(call, return_exceptions=True)
        return int(gated.snapshot()["spent_today_micros"])

    assert simulate(main()) == counted


def test_a_cancelled_call_counts_at_its_estimate() -> None:
    async def main() -> int:
        gated = gate()
        task = asyncio.create_task(through(gated, answer(after_s=100), wanted(cost_micros=500)))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return int(gated.snapshot()["spent_today_micros"])

    assert simulate(main()) == 500


def test_a_call_that_was_not_made_costs_nothing_and_is_counted_as_refused() -> None:
    async def main() -> dict[str, int]:
        gated = gate(spend_per_day_usd=1)
        with pytest.raises(SpendLimit):
            await through(gated, answer(), wanted(cost_micros=1_000_001))
        figures = gated.snapshot()
        assert figures["spent_today_micros"] == 0
        assert figures["spend_limit_day_micros"] == 1_000_000
        return dict(figures["refused"])

    assert simulate(main()) == {"day": 1}


def test_what_cannot_be_written_down_is_not_called(tmp_path: Path) -> None:
    async def main() -> None:
        gated = gate(tmp_path / "one.sqlite")
        gated._book.close()
        with pytest.raises(ProviderDown, match="cannot be written down"):
            await through(gated, answer(), wanted())

    simulate(main())


def test_a_file_that_is_no_record_is_said_at_the_start(tmp_path: Path) -> None:
    file = tmp_path / "one.sqlite"
    file.write_bytes(b"not a database at all " * 100)
    with pytest.raises(Misconfigured, match="REFUND_BENCH_STATE_DIR"):
        book(file)


def test_old_days_are_forgotten() -> None:
    kept = book()
    for each in range(30):
        day = FIRST + timedelta(days=each)
        kept.end(kept.begin(f"a-{each}", 1.0, 10, day), 10)
    assert kept.spent_micros(FIRST) == 0
    assert kept.spent_micros(FIRST + timedelta(days=29 - DAYS_KEPT)) == 10


@given(st.integers(1, 50), st.integers(1, 9))
def test_the_parts_of_a_dispute_add_up_to_its_limit(grievances: int, seats: int) -> None:
    extraction, letters = (
        spend_shares.for_extraction("d"),
        spend_shares.for_letters("d"),
    )
    judging = [
        spend_shares.for_seat(f"g-{index}", seat, grievances, seats)
        for index in range(grievances)
        for seat in range(seats)
    ]
    parts = [extraction, letters, *judging]
    assert sum(part.share for part in parts) == pytest.approx(1.0)
    assert len({part.account for part in parts}) == len(parts)

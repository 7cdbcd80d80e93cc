"""The stack while parts of it die or stay silent: nothing lost, nothing paid twice, nothing left behind."""

import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ops.filing import file_cases
from ops.local.stack import LocalStack
from ops.watch import Watcher
from schemas.base import PackRef
from schemas.ids import auto_key
from schemas.ruling import Ruling
from schemas.topics import RULINGS
from streams.policies.loader import SHIPPED, PackRegistry
from tests.generator import disputes
from tests.support.wait import until
from topologies import clients

KEY = b"stack faults installation key"
WINDOW_S = 3

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The food pack once more under another name, with a short window."""
    root = tmp_path_factory.mktemp("packs")
    folder = root / "food-quick" / "v1"
    shutil.copytree(SHIPPED / "food-delivery" / "v1", folder)
    file = folder / "pack.toml"
    text = file.read_text().replace('policy = "food-delivery"', 'policy = "food-quick"')
    assert "tally_window_s = 60" in text
    file.write_text(text.replace("tally_window_s = 60", f"tally_window_s = {WINDOW_S}"))
    return root


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, packs: Path) -> Iterator[LocalStack]:
    environment = {"REFUND_BENCH_INSTALLATION_KEY": KEY.decode(), "REFUND_BENCH_PACKS": str(packs)}
    with LocalStack(
        tmp_path_factory.mktemp("stack"), "offline-rules", environment=environment
    ) as running:
        yield running


def two_of_three(dispute: str, pack: PackRef) -> list[Ruling]:
    """The rulings of a bench whose third seat never answers."""
    grievance = f"{dispute}.g1"
    return [
        Ruling(
            at=datetime.now(UTC),
            dispute_id=dispute,
            order_id="silent",
            customer_id="c-silent",
            settles_under="silent",
            pack=pack,
            ruling_id=f"{grievance}.s{seat}",
            grievance_id=grievance,
            category="LATE_DELIVERY",
            seat=seat,
            ruling="UPHELD",
            confidence=0.9,
            citations=("placed_at",),
            provider="scripted",
            model="scripted",
            prompt_variant="plain",
            prompt_hash="sha256:0",
            evidence_hash="sha256:0",
            grievance_at=datetime.now(UTC),
        )
        for seat in (1, 2)
    ]


def test_a_silent_topic_closes_its_window_with_a_seat_missing(
    stack: LocalStack, packs: Path
) -> None:
    pack = PackRegistry.load(SHIPPED, packs).latest("food-quick")
    watcher = Watcher(stack.bootstrap)
    producer = clients.producer(stack.bootstrap)
    # The first only makes sure that tally and timer app have come up; the second is timed.
    for dispute in ("d-warm", "d-silent"):
        for ruling in two_of_three(dispute, pack.ref):
            producer.produce(
                RULINGS.name, key=ruling.grievance_id.encode(), value=ruling.to_bytes()
            )
        assert producer.flush(10) == 0
        began = time.monotonic()
        assert watcher.wait([dispute], 30, done=lambda trail: bool(trail.verdicts)) == []
        took = time.monotonic() - began
    watcher.close()
    verdict = watcher.trails["d-silent"].verdicts["d-silent.g1"]
    assert (verdict.closed_by, verdict.ruling) == ("window", "UPHELD")
    assert (verdict.votes.UPHELD, verdict.votes.absent) == (2, 1)
    assert WINDOW_S - 0.5 < took < WINDOW_S + 2


def test_kill_9_of_every_app_under_load_loses_nothing_and_pays_once(stack: LocalStack) -> None:
    cases = disputes(60, seed=77)
    watcher = Watcher(stack.bootstrap)
    producer = clients.producer(stack.bootstrap)
    filed: dict[str, str] = {}
    victims = [
        status.name for status in stack.status() if status.name not in ("kafka", "clickhouse")
    ]
    share = len(cases) // len(victims)
    for number, victim in enumerate(victims):
        batch = cases[number * share : (number + 1) * share if victim != victims[-1] else None]
        filed |= file_cases(batch, KEY, producer=producer)
        pid = next(status.pid for status in stack.status() if status.name == victim)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        watcher.poll(0.3)
    assert watcher.wait(filed.values(), 120) == []
    restarted = {status.name: status.restarts for status in stack.status()}
    assert all(restarted[victim] >= 1 for victim in victims)
    with sqlite3.connect(f"file:{stack.gateway_file}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT reference, amount_minor FROM refunds").fetchall()
    assert len(rows) == len({reference for reference, _ in rows}), "a reference was paid twice"
    paid = dict(rows)
    for dispute in filed.values():
        trail = watcher.trails[dispute]
        assert trail.entry is not None
        assert len(trail.payments) == len(trail.decisions)
        assert len(trail.letters) == 1
        assert paid.get(auto_key(dispute), 0) == trail.entry.paid_minor == trail.entry.amount_minor
    watcher.close()


def test_stop_takes_less_than_ten_seconds_and_leaves_no_process(stack: LocalStack) -> None:
    pids = [status.pid for status in stack.status() if status.pid]
    assert len(pids) == 11
    began = time.monotonic()
    stack.stop()
    assert time.monotonic() - began < 10

    def gone(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    until(lambda: all(gone(pid) for pid in pids), timeout_s=2)

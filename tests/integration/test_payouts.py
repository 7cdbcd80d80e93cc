"""Payout alone on Apache Kafka: paused it holds, tripped it holds, and what it held is paid once."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ops.bounded_read import every_partition, spans, stream
from ops.local.kafka import LocalKafka
from ops.local.tether import Child, spawn
from schemas.base import PackRef
from schemas.payment import Payment
from schemas.settlement import Decision
from schemas.topics import DEAD_LETTERS, DECISIONS, OPERATIONS, PAYMENTS, Topic
from streams.payments.kill_switch import resume
from streams.policies.loader import SHIPPED, PackRegistry
from streams.sealing import DecisionSeal
from tests.support.gateway import GatewayProcess, gateway_process
from tests.support.wait import until
from tests.unit.stages.events import a_line, a_proposal, as_decided
from topologies import clients
from topologies.switch_desk import read_switch, write_turn
from topologies.topic_admin import create_topics

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(120)]
KEY = "the installation key of this test"
SEAL = DecisionSeal(KEY.encode())
CEILING = 10_000


class Installation:
    """A broker, a gateway, and one payout app that can be killed and started again."""

    def __init__(self, bootstrap: str, gateway: GatewayProcess, packs: Path, folder: Path) -> None:
        self.bootstrap = bootstrap
        self.gateway = gateway
        self.packs = PackRegistry.load(SHIPPED, packs)
        self.environment = {
            "REFUND_BENCH_BROKER": bootstrap,
            "REFUND_BENCH_INSTALLATION_KEY": KEY,
            "REFUND_BENCH_GATEWAY": gateway.url,
            "REFUND_BENCH_GATEWAY_KIND": "embedded",
            "REFUND_BENCH_PACKS": str(packs),
            "REFUND_BENCH_REPLICATION": "1",
        }
        self._log = folder / "payout.log"
        self._producer = clients.producer(bootstrap)
        self.payout: Child | None = None

    def start(self) -> None:
        argv = [sys.executable, "-m", "ops.cli", "run", "payout"]
        with open(self._log, "ab") as log:
            self.payout = spawn(argv, log, {**os.environ, **self.environment})

    def kill(self) -> None:
        if self.payout is not None:
            self.payout.kill()
            self.payout.wait()
            self.payout = None

    def payouts(self, *words: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", "ops.cli", "payouts", *words, "--json"],
            env={**os.environ, **self.environment}, capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def decide(self, *decisions: Decision) -> None:
        for decision in decisions:
            self._producer.produce(
                DECISIONS.name, key=decision.settles_under, value=decision.to_bytes()
            )
        assert self._producer.flush(10) == 0

    def decision(self, name: str, amount: int = 4_000, policy: str = "food-delivery") -> Decision:
        pack = self.packs.latest(policy)
        of = PackRef(policy=policy, pack_version=pack.pack.version, pack_hash=pack.hash)
        line = a_line(dispute=name, amount_minor=amount)
        plain = as_decided(
            a_proposal(line, dispute=name), pack=of, order_id=name, settles_under=name
        )
        return SEAL.sealed(plain)

    def values(self, topic: Topic) -> list[bytes]:
        there = spans(every_partition(topic), bootstrap=self.bootstrap)
        return [one.value or b"" for one in stream(there, bootstrap=self.bootstrap)]

    def payments(self) -> dict[str, Payment]:
        found = [Payment.from_bytes(value) for value in self.values(PAYMENTS)]
        return {payment.payment_id: payment for payment in found}

    def moved(self) -> list[str]:
        """The keys under which money moved, by the gateway's own file."""
        return sorted(one["key"] for one in self.gateway.call("GET", "/refunds")["refunds"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("payouts")
    pack = folder / "packs" / "food-small" / "v1"
    shutil.copytree(SHIPPED / "food-delivery" / "v1", pack)
    text = (pack / "pack.toml").read_text().replace('"food-delivery"', '"food-small"')
    assert "payout_ceiling_minor = 150000000" in text
    text = text.replace("payout_ceiling_minor = 150000000", f"payout_ceiling_minor = {CEILING}")
    (pack / "pack.toml").write_text(text)
    kafka = LocalKafka(folder / "kafka")
    kafka.start()
    try:
        create_topics(kafka.bootstrap, 1)
        with gateway_process(folder) as gateway:
            installation = Installation(kafka.bootstrap, gateway, folder / "packs", folder)
            try:
                yield installation
            finally:
                installation.kill()
    finally:
        kafka.stop()


def test_what_a_pause_or_a_trip_holds_survives_a_kill_and_is_paid_once_after_a_person_resumes(
    here: Installation,
) -> None:
    here.start()
    here.decide(*(here.decision(f"small-{n}", policy="food-small") for n in (1, 2)))
    until(lambda: len(here.payments()) == 2, 30, 0.2)
    before = here.moved()
    told = here.payouts("pause", "--as", "asha", "--reason", "gateway_incident")
    assert (told["paused"], told["by"], told["reason"]) == (True, "asha", "gateway_incident")
    forged = here.decision("forged").model_copy(update={"amount_minor": 4_001})
    due = [here.decision(f"paused-{number}") for number in range(6)]
    here.decide(*due, forged, here.decision("nothing", amount=0))
    # The two that a pause does not hold show that the app has taken what lay before them.
    until(lambda: "nothing:auto" in here.payments() and here.values(DEAD_LETTERS), 30, 0.2)
    here.kill()
    here.start()
    here.decide(here.decision("nothing-2", amount=0))
    until(lambda: "nothing-2:auto" in here.payments(), 30, 0.2)
    assert here.moved() == before
    assert here.payouts("resume", "--as", "ben", "--reason", "over")["paused"] is False
    until(lambda: len(here.payments()) == 10, 30, 0.2)
    assert here.moved() == sorted([*before, *(decision.decision_id for decision in due)])
    assert {payment.attempts for payment in here.payments().values()} == {1}

    # 8,000 of the ceiling's 10,000 were paid by the app that was killed.
    here.decide(here.decision("small-3", policy="food-small"))
    tripped = until(lambda: state if (state := read_switch(here.bootstrap)).paused else None, 30)
    assert (tripped.by, tripped.reason) == ("payout", "ceiling_passed")
    assert "small-3:auto" not in here.moved()
    resumed = resume(tripped, "asha", "sums_checked", datetime.now(UTC))
    assert resumed is not None
    producer = clients.transactional_producer("test-resume", 0, here.bootstrap)
    producer.init_transactions(10)
    write_turn(producer, resumed)
    until(lambda: "small-3:auto" in here.payments(), 30, 0.2)
    assert here.moved().count("small-3:auto") == 1
    assert not read_switch(here.bootstrap).paused
    acts = [json.loads(value)["action"] for value in here.values(OPERATIONS)]
    assert acts == ["payouts_paused", "payouts_resumed", "payouts_tripped", "payouts_resumed"]

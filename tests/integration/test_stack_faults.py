"""The stack while parts of it die or stay silent: nothing lost, nothing paid twice, nothing left behind."""

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

from ops.bounded_read import every_partition, spans, stream
from ops.chaos.money import reconcile, under_fire
from ops.chaos.money_orders import disputes
from ops.filing import file_cases
from ops.local.gateway_faults import Faults
from ops.local.stack import LocalStack
from ops.watch import Watcher
from schemas.base import PackRef
from schemas.ruling import Ruling
from schemas.topics import RULINGS, VERDICTS
from streams.policies.loader import SHIPPED, PackRegistry
from tests import generator
from tests.support.wait import until
from topologies import clients
from topologies.async_stage.settings import DEFAULT_GROUP_PREFIX
from topologies.topic_admin import create_topics

KEY = b"stack faults installation key"
WINDOW_S = 3
FAULTS = Faults(
    latency_s=(0, 0.2),
    fail_before=0.05,
    fail_after=0.2,
    fail_after_with="reset",
    deliver_twice=0.2,
    forget_keys_after_s=5,
)

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
        tmp_path_factory.mktemp("stack"),
        "offline-rules",
        environment=environment,
        gateway_flags=("--faults", FAULTS.model_dump_json()),
        longest_backoff_s=1.0,
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
        assert watcher.wait([dispute], 90, done=lambda trail: bool(trail.verdicts)) == []
        took = time.monotonic() - began
    watcher.close()
    verdict = watcher.trails["d-silent"].verdicts["d-silent.g1"]
    assert (verdict.closed_by, verdict.ruling) == ("window", "UPHELD")
    assert (verdict.votes.UPHELD, verdict.votes.absent) == (2, 1)
    assert WINDOW_S - 0.5 < took < WINDOW_S + 2


def test_kill_9_of_every_app_under_load_loses_nothing_and_pays_once(stack: LocalStack) -> None:
    victims = [s.name for s in stack.status() if s.name not in ("kafka", "clickhouse")]
    found = under_fire(
        stack, disputes(40, 77), victims, random.Random(77), looks=1, most_between_kills_s=1.0
    )
    assert found["ok"], found
    assert found["killed"] == dict.fromkeys(victims, 1)
    assert found["duplicate_letters"] == 0
    restarted = {status.name: status.restarts for status in stack.status()}
    assert all(restarted[victim] >= 1 for victim in victims)


def committed(bootstrap: str) -> dict[str, list[TopicPartition]]:
    """Each of our groups and where it stands."""
    admin = clients.admin(bootstrap)
    listed = admin.list_consumer_groups(request_timeout=10).result(15).valid
    groups = [g.group_id for g in listed if g.group_id.startswith(DEFAULT_GROUP_PREFIX)]
    found = {}
    for group in groups:
        asked = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=clients.COORDINATOR_TIMEOUT_S
        )
        places = [p for p in clients.answer(asked[group], 15).topic_partitions if p.offset >= 0]
        if places:
            found[group] = places
    return found


def rewind(bootstrap: str, groups: dict[str, list[TopicPartition]]) -> None:
    """Every group to the beginning of its topics; a member that is gone must have been missed first."""
    admin = clients.admin(bootstrap)

    def rewound(group: str) -> bool:
        to = [TopicPartition(p.topic, p.partition, 0) for p in groups[group]]
        asked = admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, to)],
            request_timeout=clients.COORDINATOR_TIMEOUT_S,
        )
        try:
            clients.answer(asked[group], 15)
        except KafkaException:
            return False
        return True

    for group in groups:
        until(lambda group=group: rewound(group), timeout_s=30, every_s=0.5)


def money(stack: LocalStack) -> list[tuple[str, int]]:
    with sqlite3.connect(f"file:{stack.gateway_file}?mode=ro", uri=True) as db:
        return list(db.execute("SELECT reference, amount_minor FROM refunds ORDER BY id"))


@pytest.mark.parametrize(
    "changelogs_too", [False, pytest.param(True, marks=pytest.mark.long)], ids=["state", "changelogs"]
)  # fmt: skip
def test_everything_read_again_from_the_beginning_pays_nothing_again(
    stack: LocalStack, changelogs_too: bool
) -> None:
    """Every verdict produced again, every group at zero, every state directory gone."""
    watcher = Watcher(stack.bootstrap)
    filed = file_cases(generator.disputes(8, seed=78), KEY, stack.bootstrap)
    assert watcher.wait(filed.values(), 60) == []
    watcher.close()
    before, moved = committed(stack.bootstrap), money(stack)
    assert moved
    stack.stop_apps()
    producer = clients.producer(stack.bootstrap)
    for one in stream(spans(every_partition(VERDICTS), bootstrap=stack.bootstrap), bootstrap=stack.bootstrap):  # fmt: skip
        producer.produce(VERDICTS.name, key=one.key, value=one.value)
    assert producer.flush(10) == 0
    shutil.rmtree(stack.environment["REFUND_BENCH_STATE_DIR"])
    if changelogs_too:
        admin = clients.admin(stack.bootstrap)
        lost = [t for t in admin.list_topics(timeout=10).topics if t.startswith("changelog__")]
        for deleted in admin.delete_topics(lost).values():
            deleted.result(20)
        until(lambda: set(create_topics(stack.bootstrap, 1)) >= set(lost), timeout_s=20)
    rewind(stack.bootstrap, before)
    stack.start_apps()

    def caught_up() -> bool:
        now = committed(stack.bootstrap)
        at = {(g, p.topic, p.partition): p.offset for g, places in now.items() for p in places}
        return all(
            at.get((g, p.topic, p.partition), -1) >= p.offset
            for g, places in before.items()
            for p in places
        )

    until(caught_up, timeout_s=120, every_s=0.5)
    answer = reconcile(stack, wait_s=60)
    out, _ = answer.communicate()
    assert (answer.returncode, money(stack)) == (0, moved), out


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

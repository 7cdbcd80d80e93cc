"""The async stage's processes killed at random: one output per input, and what it cost in calls.

Two instances, each killed at any moment; a third of the processes also carries a fault that kills
them exactly between send-offsets and commit, or between the commit and its reply. A killed one is
started again at once.
"""

import contextlib
import itertools
import random
import shutil
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from confluent_kafka import Message, TopicPartition
from confluent_kafka.admin import NewTopic

from ops.chaos.stage_fleet import JOURNAL, Fleet
from ops.local.kafka import LocalKafka
from topologies import clients
from topologies.async_stage.offset_codec import decode

PARTITIONS = 12
INSTANCES = 2
FAULTY_SHARE = 1 / 3
MOST_BETWEEN_KILLS_S = 10.0

Places = dict[bytes, tuple[int, int]]


def run(
    kills: int = 100,
    messages: int = 5_000,
    seconds: tuple[float, float] = (1.0, 2.0),
    slots: int = 100,
    seed: int = 1,
    broker: str | None = None,
) -> dict[str, Any]:
    """Kill `kills` times while the messages are worked on; `broker` None starts Apache Kafka."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="refund-bench-") as name:
        folder = Path(name)
        with LocalKafka(folder / "kafka") if broker is None else contextlib.nullcontext() as own:
            bootstrap = broker or own.bootstrap
            prefix = f"chaos-{uuid.uuid4().hex[:8]}."
            topics = [prefix + each for each in ("in", "out", "dead")]
            _create(bootstrap, topics)
            places = _fill(bootstrap, topics[0], messages)
            fleet = Fleet(
                bootstrap,
                *topics,
                prefix=prefix,
                folder=folder,
                seconds=seconds,
                settings={"slots": slots},
            )
            try:
                killed = _kill(fleet, kills, messages, rng)
                last_kill = time.monotonic()
                seen = _read(bootstrap, topics[1], set(places), 120 + messages * 2 / slots)
                finished_s = time.monotonic() - last_kill
                exit_codes = [fleet.terminate(each) for each in list(fleet.running)]
                passed = _finished(bootstrap, fleet.group, topics[0], places)
            finally:
                fleet.end()
            recovery = _recovery(fleet)
            missing = [key for key in places if key not in seen]
            duplicates = sum(count - 1 for count in seen.values())
            found = {
                "broker": "Apache Kafka",
                "seed": seed,
                "kills": killed,
                "disputes": messages,
                "instances": INSTANCES,
                "outputs": sum(seen.values()),
                "lost": len([key for key in missing if key in passed]),
                "stuck": len([key for key in missing if key not in passed]),
                "duplicate_rows": duplicates,
                # An output twice would be a payment twice.
                "double_paid": duplicates,
                "calls": len(fleet.calls()),
                "repeated_calls": fleet.repeated(),
                "repeated_calls_per_kill": round(fleet.repeated() / max(killed, 1), 1),
                "repeated_without_cause": len(fleet.unexcused()),
                "repeated_by_cause": Counter(cause for cause, _, _ in fleet.repeats()),
                "partitions_revoked": fleet.journal.moved("revoked"),
                "partitions_lost": fleet.journal.moved("lost"),
                "recovered_s": recovery[-1] if recovery else None,
                "recovered_p50_s": recovery[len(recovery) // 2] if recovery else None,
                "finished_after_last_kill_s": round(finished_s, 1),
                "exit_codes": exit_codes,
                "reconcile_ok": not missing and not duplicates and set(seen) == set(places),
            }
            clean = found["reconcile_ok"] and not fleet.unexcused() and not any(exit_codes)
            evidence = None if clean else _keep(folder)
    return {"ok": clean, "evidence": evidence, **found}


def _keep(folder: Path) -> str:
    """The journal and the logs of a run that was not clean; where they are."""
    kept = Path(tempfile.mkdtemp(prefix="refund-bench-chaos-"))
    for each in (folder / JOURNAL, *folder.glob("log-*")):
        shutil.copy(each, kept)
    return str(kept)


def _create(bootstrap: str, topics: list[str]) -> None:
    admin = clients.admin(bootstrap)
    for made in admin.create_topics([NewTopic(each, PARTITIONS, 1) for each in topics]).values():
        made.result(30)


def _fill(bootstrap: str, topic: str, messages: int) -> Places:
    """Write the inputs; where each one is."""
    places: Places = {}

    def delivered(error: object, record: Message) -> None:
        assert error is None, error
        places[record.key()] = (record.partition(), record.offset())

    producer = clients.producer(bootstrap)
    for number in range(messages):
        producer.produce(topic, key=str(number), value=b"work", on_delivery=delivered)
        producer.poll(0)
    producer.flush(60)
    return places


def _kill(fleet: Fleet, kills: int, messages: int, rng: random.Random) -> int:
    """Start the instances and kill one or the other, evenly over the work, so that none is idle."""
    for ordinal in range(INSTANCES):
        fleet.start(ordinal, fault=_fault(rng))
    for kill in range(1, kills + 1):
        ordinal = rng.randrange(INSTANCES)
        victim = fleet.running[ordinal]
        wanted = messages * (kill - rng.random()) / (kills + 1)
        end = time.monotonic() + MOST_BETWEEN_KILLS_S
        while fleet.finished() < wanted and time.monotonic() < end and victim.poll() is None:
            time.sleep(0.1 * rng.random())
        if victim.poll() is None:
            fleet.kill(ordinal)
        else:
            fleet.note_death(ordinal)
        fleet.start(ordinal, fault=_fault(rng) if kill < kills else None)
        print(f"kill {kill}: {fleet.finished()} of {messages} done", file=sys.stderr)  # noqa: T201
    # Whoever still carries a fault is replaced, so that the last stretch is undisturbed.
    for ordinal in list(fleet.running):
        fleet.kill(ordinal)
        fleet.start(ordinal)
    return kills + INSTANCES


def _fault(rng: random.Random) -> dict[str, Any] | None:
    if rng.random() > FAULTY_SHARE:
        return None
    when = rng.choice(["before", "after"])
    return {"commit": rng.randint(1, 30), "when": when, "signal": "SIGKILL"}


def _read(bootstrap: str, topic: str, wanted: set[bytes], patience_s: float) -> Counter[bytes]:
    """What a read_committed reader sees, until all is there and a little longer."""
    consumer = clients.consumer(f"{topic}-reader", bootstrap=bootstrap)
    consumer.assign([TopicPartition(topic, each, 0) for each in range(PARTITIONS)])
    seen: Counter[bytes] = Counter()
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        for record in consumer.consume(1_000, 0.1):
            if record.error() is None:
                seen[record.key()] += 1
        if wanted <= seen.keys():
            end = min(end, time.monotonic() + 5.0)
            wanted = {b""}  # nothing more is waited for, only looked for
    consumer.close()
    return seen


def _finished(bootstrap: str, group: str, topic: str, places: Places) -> set[bytes]:
    """The messages that the committed offsets call finished."""
    consumer = clients.consumer(group, bootstrap=bootstrap)
    asked = [TopicPartition(topic, each) for each in range(PARTITIONS)]
    progress = {
        each.partition: decode(each.offset, each.metadata)
        for each in consumer.committed(asked, timeout=30)
        if each.offset >= 0
    }
    consumer.close()
    return {
        key
        for key, (partition, offset) in places.items()
        if partition in progress and progress[partition].finished(offset)
    }


def _recovery(fleet: Fleet) -> list[float]:
    """Seconds from each kill to the first call of the process that took over, ascending."""
    first_call: dict[int, float] = {}
    for call in fleet.calls():
        first_call.setdefault(call.pid, call.begin)
    taken = []
    for ordinal_pids in fleet.successions.values():
        for dead, heir in itertools.pairwise(ordinal_pids):
            if dead in fleet.killed_at and heir in first_call:
                taken.append(first_call[heir] - fleet.killed_at[dead])
    return [round(each, 2) for each in sorted(taken)]

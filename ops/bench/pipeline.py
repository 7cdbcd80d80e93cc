"""From complaint to settled through the whole stack, with a provider that answers at once.

What is timed is the pipeline itself: the broker's time of the complaint to the broker's time of the
payment record, which says that the gateway confirmed, or that nothing was to be paid because a
person decides or the dispute closed. The letter comes after and is not in it.
"""

import itertools
import tempfile
import time
import uuid
from pathlib import Path
from statistics import quantiles
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from ops.cases import evidence_of, labelled, renamed
from ops.filing import file_cases
from ops.local.stack import LocalStack
from ops.watch import Watcher
from schemas.payment import Payment
from schemas.topics import COMPLAINTS, PARTITIONS, PAYMENTS
from topologies import clients

PROMISE_P50_S = 1.0
WARM_UP = 30
"""Disputes filed before the clock counts: every app has its partitions and its code is loaded."""


def run(disputes: int = 200, per_second: float = 5.0, seed: int = 1) -> dict[str, Any]:
    """File at a steady rate and report how long each took to settle (seconds)."""
    pool = [case for case in labelled() if evidence_of(case) is not None]
    source = (
        renamed(case, f"bench-{number}", f"cust-bench-{number}")
        for number, case in enumerate(itertools.cycle(pool))
    )
    with (
        tempfile.TemporaryDirectory(prefix="refund-bench-") as folder,
        LocalStack(Path(folder), "offline-rules") as stack,
    ):
        key = stack.environment["REFUND_BENCH_INSTALLATION_KEY"].encode()
        watcher = Watcher(stack.bootstrap)
        warm = file_cases(itertools.islice(source, WARM_UP), key, stack.bootstrap)
        cold = watcher.wait(warm.values(), 90)
        filed: dict[str, str] = {}
        producer = clients.producer(stack.bootstrap)
        began = time.monotonic()
        for number, case in enumerate(itertools.islice(source, disputes)):
            # An open load: the next complaint comes when it comes, however far the pipeline is.
            while (ahead := began + number / per_second - time.monotonic()) > 0:
                watcher.poll(min(ahead, 0.05))
            filed |= file_cases([case], key, producer=producer)
        offered_s = time.monotonic() - began
        late = watcher.wait(filed.values(), 60)
        watcher.close()
        taken = _seconds_to_settle(
            set(filed.values()), {d: o for o, d in filed.items()}, stack.bootstrap
        )
    cuts = quantiles(taken.values(), n=100) if len(taken) > 1 else []
    p50, p90, p99 = (cuts[49], cuts[89], cuts[98]) if cuts else (None, None, None)
    return {
        "ok": not late
        and not cold
        and len(taken) == disputes
        and p50 is not None
        and p50 < PROMISE_P50_S,
        "broker": "Apache Kafka",
        "seed": seed,
        "disputes": disputes,
        "offered_per_s": round(disputes / offered_s, 2),
        "settled": len(taken),
        "unfinished": len(late) + len(cold),
        "p50_s": round(p50, 3) if p50 is not None else None,
        "p90_s": round(p90, 3) if p90 is not None else None,
        "p99_s": round(p99, 3) if p99 is not None else None,
        "promise_p50_s": PROMISE_P50_S,
        "provider": "offline-rules (zero latency)",
    }


def _seconds_to_settle(
    disputes: set[str], order_of: dict[str, str], bootstrap: str
) -> dict[str, float]:
    """Dispute → seconds between the broker's time of its complaint and of its first payment record."""
    filed_ms: dict[str, int] = {}
    settled_ms: dict[str, int] = {}
    consumer = clients.consumer(f"refund-bench.bench-{uuid.uuid4()}", bootstrap=bootstrap)
    consumer.assign(
        [
            TopicPartition(topic.name, p, OFFSET_BEGINNING)
            for topic in (COMPLAINTS, PAYMENTS)
            for p in range(PARTITIONS)
        ]
    )
    quiet = 0
    while quiet < 5:
        batch = consumer.consume(1_000, 0.5)
        quiet = 0 if batch else quiet + 1
        for message in batch:
            if message.error() is not None:
                continue
            at = message.timestamp()[1]
            if message.topic() == COMPLAINTS.name:
                filed_ms[message.key().decode()] = at
            else:
                settled_ms.setdefault(Payment.from_bytes(message.value()).dispute_id, at)
    consumer.close()
    return {
        d: (settled_ms[d] - filed_ms[order_of[d]]) / 1000
        for d in disputes
        if d in settled_ms and order_of[d] in filed_ms
    }

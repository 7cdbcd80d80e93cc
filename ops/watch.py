"""Follow disputes through Kafka: what each stage has said of them so far."""

import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from schemas.docket import Docket
from schemas.ledger import FINAL, LedgerEntry
from schemas.letter import Letter
from schemas.payment import Payment
from schemas.settlement import Decision
from schemas.topics import (
    DECISIONS,
    DOCKETS,
    LEDGER,
    LETTERS,
    PARTITIONS,
    PAYMENTS,
    VERDICTS,
    Topic,
)
from schemas.verdict import Verdict
from streams.telling import is_outcome
from topologies import clients


@dataclass
class Trail:
    """What is known of one dispute."""

    entry: LedgerEntry | None = None
    docket: Docket | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    decisions: dict[str, Decision] = field(default_factory=dict)
    payments: list[Payment] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """True when the pipeline has done its part and the customer has been written to."""
        return (
            self.entry is not None
            and self.entry.status in FINAL
            and self.outcome_letter is not None
        )

    @property
    def outcome_letter(self) -> Letter | None:
        """The letter that ends the automatic part; a pack may have acknowledged the complaint before."""
        return next((one for one in self.letters if is_outcome(one.letter_id)), None)


class Watcher:
    """Reads the topics that tell of disputes, committed records only, without a group of its own."""

    TOPICS: tuple[Topic, ...] = (DOCKETS, VERDICTS, DECISIONS, PAYMENTS, LETTERS, LEDGER)

    def __init__(self, bootstrap: str | None = None) -> None:
        self._consumer = clients.consumer(f"refund-bench.watch-{uuid.uuid4()}", bootstrap=bootstrap)
        self._consumer.assign(
            [
                TopicPartition(topic.name, p, OFFSET_BEGINNING)
                for topic in self.TOPICS
                for p in range(PARTITIONS)
            ]
        )
        self.trails: dict[str, Trail] = {}

    def poll(self, timeout_s: float = 0.1) -> None:
        """Take in what has come."""
        for message in self._consumer.consume(1_000, timeout_s):
            if message.error() is None and message.value():
                self._take(message.topic(), message.value())

    def wait(
        self,
        dispute_ids: Iterable[str],
        timeout_s: float,
        on_progress: Callable[[dict[str, Trail]], None] = lambda trails: None,
        done: Callable[[Trail], bool] = lambda trail: trail.ended,
    ) -> list[str]:
        """Poll until every dispute is done; those that are not when the time is up."""
        waiting = set(dispute_ids)
        until = time.monotonic() + timeout_s
        while waiting and time.monotonic() < until:
            self.poll()
            waiting = {d for d in waiting if d not in self.trails or not done(self.trails[d])}
            on_progress(self.trails)
        return sorted(waiting)

    def close(self) -> None:
        self._consumer.close()

    def _take(self, topic: str, value: bytes) -> None:
        if topic == LEDGER.name:
            entry = LedgerEntry.from_bytes(value)
            trail = self._trail(entry.dispute_id)
            if trail.entry is None or entry.sequence >= trail.entry.sequence:
                trail.entry = entry
        elif topic == DOCKETS.name:
            docket = Docket.from_bytes(value)
            self._trail(docket.dispute_id).docket = docket
        elif topic == VERDICTS.name:
            verdict = Verdict.from_bytes(value)
            self._trail(verdict.dispute_id).verdicts.setdefault(verdict.grievance_id, verdict)
        elif topic == DECISIONS.name:
            decision = Decision.from_bytes(value)
            self._trail(decision.dispute_id).decisions.setdefault(decision.decision_id, decision)
        elif topic == PAYMENTS.name:
            payment = Payment.from_bytes(value)
            self._trail(payment.dispute_id).payments.append(payment)
        else:
            letter = Letter.from_bytes(value)
            self._trail(letter.dispute_id).letters.append(letter)

    def _trail(self, dispute_id: str) -> Trail:
        return self.trails.setdefault(dispute_id, Trail())

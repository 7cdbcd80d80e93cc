"""Every topic as data: name, key, partitions, retention, compaction, and the event it carries."""

from dataclasses import dataclass
from typing import Literal

from schemas.base import Model
from schemas.complaint import Complaint
from schemas.dead_letter import DeadLetter
from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.evidence import Record
from schemas.grievance import Grievance
from schemas.ledger import AuditEntry, LedgerEntry
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.ruling import Ruling
from schemas.settlement import Decision, Proposal
from schemas.switch import Switch
from schemas.timer import Deadline, Timer
from schemas.verdict import Verdict

PARTITIONS = 12
"""One count everywhere, never changed in place: keys would move and state would not follow."""

MAX_MESSAGE_BYTES = 2 * 1024 * 1024
DAY_MS = 24 * 60 * 60 * 1000
TEXT_RETENTION_MS = 30 * DAY_MS
"""Free text lives no longer than this in Kafka."""
CODES_RETENTION_MS = 7 * 365 * DAY_MS


@dataclass(frozen=True)
class Topic:
    """A topic's contract.

    `key` names the field of the event that is the record's key. `text` says whether records hold a
    person's words, which bounds the retention.
    """

    name: str
    key: str
    event: type[Model] | type[Record]
    text: bool
    cleanup: Literal["delete", "compact"] = "delete"
    partitions: int = PARTITIONS

    @property
    def retention_ms(self) -> int:
        """How long records are kept; -1 for ever, in a compacted topic."""
        if self.cleanup == "compact":
            return -1
        return TEXT_RETENTION_MS if self.text else CODES_RETENTION_MS

    def config(self, replication: int) -> dict[str, str]:
        """The broker's settings for the topic on a cluster that keeps `replication` copies.

        `LogAppendTime` because a bad timestamp in a record must not move anyone's clock.
        """
        return {
            "cleanup.policy": self.cleanup,
            "retention.ms": str(self.retention_ms),
            "max.message.bytes": str(MAX_MESSAGE_BYTES),
            "message.timestamp.type": "LogAppendTime",
            "min.insync.replicas": str(min(2, replication)),
        }


COMPLAINTS = Topic("complaints", "order_id", Complaint, text=True)
EVIDENCE = Topic("evidence", "order_id", Record, text=True)
DISPUTES = Topic("disputes", "settles_under", Dispute, text=True)
DOCKETS = Topic("dockets", "settles_under", Docket, text=True)
GRIEVANCES = Topic("grievances", "grievance_id", Grievance, text=True)
RULINGS = Topic("rulings", "grievance_id", Ruling, text=True)
VERDICTS = Topic("verdicts", "settles_under", Verdict, text=True)
PROPOSALS = Topic("proposals", "customer_id", Proposal, text=False)
DECISIONS = Topic("decisions", "settles_under", Decision, text=False)
PAYMENTS = Topic("payments", "settles_under", Payment, text=False)
LETTER_REQUESTS = Topic("letter-requests", "settles_under", LetterRequest, text=True)
LETTERS = Topic("letters", "settles_under", Letter, text=True)
RECEIPTS = Topic("receipts", "settles_under", Receipt, text=False)
REVIEWS = Topic("reviews", "settles_under", Review, text=True)
TIMERS = Topic("timers", "timer_id", Timer, text=False, cleanup="compact")
DEADLINES = Topic("deadlines", "waiting_key", Deadline, text=False)
LEDGER = Topic("ledger", "dispute_id", LedgerEntry, text=False, cleanup="compact")
AUDIT = Topic("audit", "dispute_id", AuditEntry, text=False)
SWITCHES = Topic("switches", "switch", Switch, text=False, cleanup="compact")
OPERATIONS = Topic("operations", "subject", Operation, text=False)
DEAD_LETTERS = Topic("dead-letters", "source key", DeadLetter, text=True)

ALL: tuple[Topic, ...] = (
    COMPLAINTS, EVIDENCE, DISPUTES, DOCKETS, GRIEVANCES, RULINGS, VERDICTS, PROPOSALS, DECISIONS,
    PAYMENTS, LETTER_REQUESTS, LETTERS, RECEIPTS, REVIEWS, TIMERS, DEADLINES, LEDGER, AUDIT,
    SWITCHES, OPERATIONS, DEAD_LETTERS,
)  # fmt: skip

BY_NAME = {topic.name: topic for topic in ALL}

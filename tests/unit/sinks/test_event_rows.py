"""A record's bytes are kept as they are, under the dispute or the subject they belong to."""

from schemas.ids import content_hash
from sinks.app import read
from sinks.rows.events import KEPT
from sinks.rows.projections import PROJECTIONS
from sinks.rows.row import Place
from tests.unit.sinks.sample_events import DisputeEvents

EVENTS = DisputeEvents(3)
PROJECTION = {projection.topic: projection for projection in PROJECTIONS}


def test_every_kept_topic_leaves_its_bytes_and_their_hash() -> None:
    for topic, made in EVENTS.all().items():
        value = made[0].to_bytes()
        record = read(PROJECTION[topic], Place(topic, 2, 9), b"the-key", value)
        assert record is not None
        kept = [row.values for row in record.rows if row.table == "events"]
        if topic not in KEPT:
            assert kept == []
            continue
        [row] = kept
        assert (row["subject"], row["key"]) == (EVENTS.dispute_id, "the-key")
        assert str(row["value"]).encode() == value
        assert (row["event_hash"], row["erased"]) == (content_hash(value), 0)


def test_what_decides_money_or_tells_the_customer_is_kept() -> None:
    left = set(PROJECTION) - KEPT
    assert left == {"ledger", "audit", "dead-letters"}

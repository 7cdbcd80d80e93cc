"""File complaints and their evidence into Kafka, as an upstream with the `records` role does."""

from collections.abc import Iterable
from typing import Any

import orjson
from confluent_kafka import Producer

from ops.cases import complaint_of, evidence_of
from schemas.ids import dispute_id
from schemas.topics import COMPLAINTS, EVIDENCE
from schemas.trace import new_trace
from topologies import clients


def file_cases(
    cases: Iterable[dict[str, Any]],
    installation_key: bytes,
    bootstrap: str | None = None,
    producer: Producer | None = None,
) -> dict[str, str]:
    """Produce each case's complaint and evidence; case id → dispute id. A load keeps one `producer`.

    Raises:
        RuntimeError: the broker did not take every record within 30 s.
    """
    producer = producer or clients.producer(bootstrap)
    filed: dict[str, str] = {}
    for case in cases:
        complaint, evidence = complaint_of(case), evidence_of(case)
        order_id = complaint["order_id"]
        producer.produce(
            COMPLAINTS.name,
            key=order_id.encode(),
            value=orjson.dumps(complaint),
            headers=new_trace(),
        )
        if evidence is not None:
            producer.produce(EVIDENCE.name, key=order_id.encode(), value=orjson.dumps(evidence))
        filed[case["id"]] = dispute_id(installation_key, order_id, complaint["text"])
        producer.poll(0)
    if producer.flush(30):
        raise RuntimeError("the broker did not take every complaint within 30 s")
    return filed

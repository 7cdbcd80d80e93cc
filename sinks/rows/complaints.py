"""A complaint leaves one row without its words: the dispute it opens, or had opened before."""

from collections.abc import Callable

from schemas.complaint import Complaint
from schemas.ids import dispute_id
from sinks.rows.row import Place, Row, moment


def rows_under(installation_key: bytes) -> Callable[[Complaint, Place], list[Row]]:
    """The row function of an installation: only its key makes a dispute's id from a text."""

    def rows(event: Complaint, place: Place) -> list[Row]:
        return [
            Row(
                "complaints",
                {
                    "dispute_id": dispute_id(installation_key, event.order_id, event.text),
                    "order_id": event.order_id,
                    "customer_id": event.customer_id,
                    "policy": event.policy,
                    "at": moment(event.filed_at),
                    "kafka_partition": place.partition,
                    "kafka_offset": place.offset,
                    "channel": event.channel,
                    "client": event.source.client,
                },
            )
        ]

    return rows

"""A decision leaves one row."""

from schemas.settlement import Decision
from sinks.rows.priced import priced
from sinks.rows.row import Place, Row, about


def rows(event: Decision, place: Place) -> list[Row]:
    return [
        Row(
            "decisions",
            {**about(event, place), "decision_id": event.decision_id, **priced(event)},
        )
    ]

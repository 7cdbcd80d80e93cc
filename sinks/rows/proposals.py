"""A proposal leaves one row."""

from schemas.settlement import Proposal
from sinks.rows.priced import priced
from sinks.rows.row import Place, Row, about


def rows(event: Proposal, place: Place) -> list[Row]:
    return [
        Row(
            "proposals",
            {
                **about(event, place),
                "proposal_id": event.proposal_id,
                **priced(event),
                "history_minor": event.history_minor,
            },
        )
    ]

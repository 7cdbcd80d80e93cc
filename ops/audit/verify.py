"""Verifies chains: one dispute's, those of a period, or those of a heads file, in every store there is."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

from clickhouse_connect.driver.client import Client

from ops.audit import clickhouse_view, kafka_view
from ops.audit.chains import Checked, check_chain
from ops.audit.heads import Heads
from ops.audit.rows import check_rows
from ops.audit.stored import Place, View
from ops.trail import find
from schemas.ids import operations_chain
from schemas.topics import OPERATIONS

BEFORE = timedelta(hours=1)
"""How much before a period Kafka is read: what was linked in it may have come earlier."""


def check_views(
    chains: Iterable[str], views: Collection[View], now: datetime, heads: Heads | None = None
) -> Checked:
    """Check every chain in all of the views, Kafka's first."""
    total = Checked()
    for chain in chains:
        head = (heads or {}).get(chain)
        total.add(
            check_chain(
                chain,
                list(views),
                now,
                erasure_recorded=_erasure_recorded(chain, views),
                heads={head[0]: head[1]} if head else None,
            )
        )
    return total


def _erasure_recorded(chain: str, views: Iterable[View]) -> bool:
    """Whether a `customer_erased` on the dispute is linked in the chain of what was done to it."""
    mine = operations_chain(chain)
    for view in views:
        linked = {link.event_hash for link in view.links.get(mine, ())}
        for one in view.events.get(mine, ()):
            if one.place.topic == OPERATIONS.name and one.hash in linked:
                event = one.event()
                if getattr(event, "action", None) == "customer_erased":
                    return True
    return False


def verify_dispute(
    identifier: str, client: Client | None, kafka: bool, now: datetime, heads: Heads | None = None
) -> Checked | None:
    """Verify the chain of a dispute (of an order: all of its disputes) and of what was done to it; None where
    nothing is known of the id.

    Raises:
        KafkaException, clickhouse_connect.driver.exceptions.Error: a store went away.
    """
    entries = find(identifier) if kafka else []
    disputes = [entry.dispute_id for entry in entries]
    if client is not None:
        disputes += clickhouse_view.disputes_of(client, identifier)
    if not disputes:
        return None
    chains = [c for one in dict.fromkeys(disputes) for c in (one, operations_chain(one))]
    views = [kafka_view.view_of(entries)] if entries else []
    return _verify(chains, views, client, sink_lag(kafka), now, heads)


def verify_period(
    since: datetime,
    until: datetime,
    client: Client | None,
    kafka: bool,
    now: datetime,
    heads: Heads | None = None,
) -> Checked:
    """Verify every chain that grew in [since, until), operations included, and those of the heads.

    Raises:
        KafkaException, clickhouse_connect.driver.exceptions.Error: a store went away.
    """
    views = [kafka_view.view_since(since - BEFORE, keep_values=False)] if kafka else []
    chains = {
        chain
        for view in views
        for chain, links in view.links.items()
        if any(since <= link.at < until for link in links)
    }
    if client is not None:
        chains |= set(clickhouse_view.active(client, since, until))
    return _verify(sorted(chains | set(heads or {})), views, client, sink_lag(kafka), now, heads)


def _verify(
    chains: Collection[str],
    kafka_views: list[View],
    client: Client | None,
    behind: Callable[[Place], bool],
    now: datetime,
    heads: Heads | None,
) -> Checked:
    total = Checked()
    for batch in clickhouse_view.batches(chains):
        views = list(kafka_views)
        if client is not None:
            asked = set(batch) | {operations_chain(chain) for chain in batch}
            view = clickhouse_view.view_of(client, asked, behind)
            view.unread = kafka_views[0].unread if kafka_views else (lambda _: False)
            views.append(view)
        total.add(check_views(batch, views, now, heads))
        if client is not None:
            total.faults += check_rows(client, views[-1], batch, now)
    return total


def sink_lag(kafka: bool) -> Callable[[Place], bool]:
    """Whether the sink has yet to come to a record; without Kafka nobody can say, and age must do."""
    if not kafka:
        return lambda _: False
    done: Mapping[tuple[str, int], int] = kafka_view.committed("sink")
    return lambda place: place.offset >= done.get(place[:2], 0)

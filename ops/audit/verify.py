"""Verifies chains: one dispute's, those of a period, or those of a heads file, in every store there is."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta

from clickhouse_connect.driver.client import Client

from ops.audit import clickhouse_view, kafka_view
from ops.audit.chains import Checked, Fault, check_chain
from ops.audit.heads import Heads, HeadsFile, read_links, window
from ops.audit.rows import check_rows
from ops.audit.stored import Place, View
from ops.trail import find
from schemas.ids import operations_chain
from schemas.topics import OPERATIONS

Period = tuple[datetime, datetime]
SLICE = timedelta(minutes=30)
"""How much of a period is held in memory at once: at the peak of 200 disputes a minute, and with as much
before it, some 300 MB."""
LONGEST, FEW = timedelta(hours=2), 1_000
"""In quiet times slices grow."""
LATE = timedelta(days=1)
"""How much earlier an event may have come than the first link tells: a ledger that was down links later."""


def check_views(
    chains: Iterable[str],
    views: Collection[View],
    now: datetime,
    heads: Heads | None = None,
    period: Period | None = None,
) -> Checked:
    """Check every chain in all of the views, Kafka's first; count what was linked in the period."""
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
                period=period,
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
    since: datetime, until: datetime, client: Client | None, kafka: bool, now: datetime
) -> Checked:
    """Verify every chain that grew in [since, until), operations included. What lies before the first link of
    any store is passed over: ten years of nothing would be looked through slice by slice.

    Raises:
        KafkaException, clickhouse_connect.driver.exceptions.Error: a store went away.
    """
    total = Checked()
    first = _first_link(client, kafka)
    if first is None:
        return total
    behind = sink_lag(kafka)
    since = max(since, first - LATE)
    seen: set[str] = set()
    faults: dict[Fault, None] = {}
    step = SLICE if kafka else until - since
    while since < until:
        upto = min(until, since + step)
        views = [kafka_view.view_between(since - SLICE, upto)] if kafka else []
        chains = {
            chain
            for view in views
            for chain, links in view.links.items()
            if any(since <= link.at < upto for link in links)
        }
        if client is not None:
            chains |= set(clickhouse_view.active(client, since, upto))
        part = _verify(sorted(chains), views, client, behind, now, period=(since, upto))
        if kafka:
            part.faults = _looked_at_again(part.faults, client, behind, now)
        faults |= dict.fromkeys(part.faults)
        # A chain that grew in two slices is checked in both, and counted once.
        part.chains = len(chains - seen)
        part.disputes = sum(not chain.startswith("operations:") for chain in chains - seen)
        part.faults = []
        total.add(part)
        seen |= chains
        since = upto
        step = min(2 * step, LONGEST) if len(chains) < FEW else SLICE
    total.faults = list(faults)
    return total


def _first_link(client: Client | None, kafka: bool) -> datetime | None:
    stores = [kafka_view.first_link() if kafka else None]
    stores.append(clickhouse_view.first_link(client) if client is not None else None)
    return min((at for at in stores if at is not None), default=None)


def _looked_at_again(
    faults: list[Fault], client: Client | None, behind: Callable[[Place], bool], now: datetime
) -> list[Fault]:
    """A slice of Kafka may lack what explains a fault (a ledger that was down linked much later); a dispute's
    whole trail does not."""
    doubted = {fault.dispute_id for fault in faults if fault.where == "kafka"}
    again: list[Fault] = [fault for fault in faults if fault.dispute_id not in doubted]
    for chain in sorted(doubted):
        entries = find(chain.removeprefix("operations:"))
        mine = [entry for entry in entries if entry.dispute_id == chain.removeprefix("operations:")]
        if not mine:
            again += [fault for fault in faults if fault.dispute_id == chain]
            continue
        views = [kafka_view.view_of(mine)]
        again += _verify([chain], views, client, behind, now).faults
    return again


def verify_heads(file: HeadsFile, client: Client | None, kafka: bool, now: datetime) -> list[Fault]:
    """Whether each chain still has the head that was written out, in each store.

    Raises:
        KafkaException, clickhouse_connect.driver.exceptions.Error: a store went away.
    """
    stores: dict[str, dict[tuple[str, int], str]] = {}
    if kafka:
        begin, _ = window(file.day, now)
        links = read_links(begin, file.until)
        stores["kafka"] = {(c, n): h for c, n, h in links if file.heads.get(c, (0, ""))[0] == n}
    if client is not None:
        stores["clickhouse"] = {}
        for batch in clickhouse_view.batches(file.heads):
            for chain, links_ in clickhouse_view.links_of(client, batch).items():
                stores["clickhouse"] |= {(chain, link.sequence): link.chain for link in links_}
    said = "the chain was made anew, or cut, after its head was written out"
    return [
        Fault(chain, "head_missing" if there is None else "head_differs", name, number, None, said)
        for name, held in stores.items()
        for chain, (number, head) in sorted(file.heads.items())
        if (there := held.get((chain, number))) != head
    ]


def _verify(
    chains: Collection[str],
    kafka_views: list[View],
    client: Client | None,
    behind: Callable[[Place], bool],
    now: datetime,
    heads: Heads | None = None,
    period: Period | None = None,
) -> Checked:
    total = Checked()
    for batch in clickhouse_view.batches(chains):
        views = list(kafka_views)
        if client is not None:
            asked = set(batch) | {operations_chain(chain) for chain in batch}
            view = clickhouse_view.view_of(client, asked, behind)
            view.unread = kafka_views[0].unread if kafka_views else (lambda _: False)
            views.append(view)
        total.add(check_views(batch, views, now, heads, period))
        if client is not None:
            total.faults += check_rows(client, views[-1], batch, now)
    return total


def sink_lag(kafka: bool) -> Callable[[Place], bool]:
    """Whether the sink has yet to come to a record; without Kafka nobody can say, and age must do."""
    if not kafka:
        return lambda _: False
    done: Mapping[tuple[str, int], int] = kafka_view.committed("sink")
    return lambda place: place.offset >= done.get(place[:2], 0)

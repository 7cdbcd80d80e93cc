"""Recounts disputes: votes, prices, rule and payment from the raw rulings and the pack of the time."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from clickhouse_connect.driver.client import Client

from ops.audit import clickhouse_view, kafka_view
from ops.audit.chains import Checked, Fault
from ops.audit.history import History
from ops.audit.recount_money import recount_customer, recount_order, recount_payments
from ops.audit.recount_votes import WHERE, recount_votes
from ops.audit.stored import Stored, View
from schemas.base import PackRef
from schemas.ids import auto_key
from schemas.topics import DECISIONS, DISPUTES, DOCKETS
from streams.policies.loader import LoadedPack, PackRegistry


def recount(disputes: Collection[str], history: History, packs: PackRegistry) -> Checked:
    """Recount these disputes. `history` has every dispute on their orders, and of their customers at least
    proposals and decisions as far back as the pack's window."""
    checked = Checked()
    ready: list[str] = []
    for dispute in dict.fromkeys(disputes):
        opened = history.first(dispute, DISPUTES) or history.first(dispute, DOCKETS)
        if dispute in history.erased:
            checked.erased += 1
            continue
        decided = {told.event.decision_id for told in history.of(dispute, DECISIONS)}
        if opened is None or auto_key(dispute) not in decided:
            checked.under_way += 1
            continue
        checked.disputes += 1
        pack = sealed_pack(packs, opened.event.pack)
        if pack is None:
            checked.faults.append(_not_loaded(dispute, opened.event.pack))
            continue
        ready.append(dispute)
        checked.faults += recount_votes(dispute, history, pack)
        checked.faults += recount_payments(dispute, history)
    checked.faults += _money(ready, history, packs)
    return checked


def _money(ready: Iterable[str], history: History, packs: PackRegistry) -> Iterator[Fault]:
    orders: dict[str, list[str]] = {}
    for told in history.every(DOCKETS):
        mine = orders.setdefault(told.event.settles_under, [])
        if told.event.dispute_id not in mine:
            mine.append(told.event.dispute_id)
    wanted = set(ready)
    customers: dict[str, set[str]] = {}
    for beside in orders.values():
        if not wanted & set(beside):
            continue
        for dispute in set(beside) & wanted:
            docket = history.first(dispute, DOCKETS)
            assert docket is not None
            customers.setdefault(docket.event.customer_id, set()).add(dispute)
        missing = [
            ref
            for dispute in beside
            for told in history.of(dispute, DOCKETS)
            if sealed_pack(packs, ref := told.event.pack) is None
        ]
        if missing:
            yield from (_not_loaded(dispute, missing[0]) for dispute in set(beside) & wanted)
            continue
        yield from (f for f in recount_order(beside, history, packs) if f.dispute_id in wanted)
    for customer, theirs in customers.items():
        yield from recount_customer(customer, theirs, history, packs)


def sealed_pack(packs: PackRegistry, ref: PackRef) -> LoadedPack | None:
    """The pack with that seal; a pack of that version with another seal is not it."""
    return next((pack for pack in packs if pack.ref == ref), None)


def _not_loaded(dispute: str, ref: PackRef) -> Fault:
    said = (
        f"{ref.policy} v{ref.pack_version} {ref.pack_hash} is not loaded; "
        "name the folder that has it in REFUND_BENCH_PACKS"
    )
    return Fault(dispute, "pack_not_loaded", WHERE, None, None, said)


def from_clickhouse(client: Client, disputes: Collection[str], packs: PackRegistry) -> Checked:
    """Recount from ClickHouse, a batch of disputes at a time, each with what was beside and before it.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    total = Checked()
    for batch in clickhouse_view.batches(disputes, 100):
        beside = set(batch) | set(clickhouse_view.disputes_beside(client, batch))
        view = clickhouse_view.view_of(client, beside)
        records = [one for events in view.events.values() for one in events]
        customers = {told.event.customer_id for told in History(records).every(DOCKETS)}
        earlier = clickhouse_view.proposals_of(client, customers)
        elsewhere = {one.chain for one in earlier} - beside
        records += earlier + clickhouse_view.decisions_of(client, elsewhere)
        total.add(recount(batch, History(records), packs))
    return total


def from_kafka(disputes: Collection[str] | None, since: datetime, until: datetime, packs: PackRegistry) -> Checked:  # fmt: skip
    """Recount from Kafka alone, all of it in memory: for an installation without ClickHouse, or a small one.

    Raises:
        KafkaException: the broker is away.
    """
    view: View = kafka_view.view_everything()
    records: list[Stored] = [one for events in view.events.values() for one in events]
    history = History(records)
    if disputes is None:
        decided = history.every(DECISIONS)
        disputes = {t.event.dispute_id for t in decided if since <= t.record.at < until}
    return recount(sorted(disputes), history, packs)

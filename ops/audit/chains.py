"""Walks a chain through every store that holds it: what is missing, altered, reordered, or in no chain."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ops.audit.stored import CHAINED, Place, Stored, View
from schemas.ledger import AuditEntry
from streams.ledger_chain import GENESIS, chain

UNDER_WAY = timedelta(minutes=10)
"""What is younger may still be on its way from Kafka to another store."""


@dataclass(frozen=True)
class Fault:
    """One thing that is not as the chain says."""

    dispute_id: str
    """The chain: a dispute, or `operations:<subject>`."""
    what: str
    where: str
    """The store that is wrong, or lacks it."""
    sequence: int | None = None
    place: Place | None = None
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "dispute_id": self.dispute_id,
            "what": self.what,
            "where": self.where,
            "sequence": self.sequence,
            "event": str(self.place) if self.place else None,
            "detail": self.detail,
        }


@dataclass
class Checked:
    """The result for some chains."""

    chains: int = 0
    disputes: int = 0
    events: int = 0
    """Links whose event was found in a store and has the hash of the link."""
    erased: int = 0
    """Events of which only the hash is left, each explained by an operation."""
    under_way: int = 0
    """Links whose event a store may rightly lack: retention took it there, or it has not come that far."""
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: "Checked") -> None:
        for name in ("chains", "disputes", "events", "erased", "under_way"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults += other.faults


def check_chain(
    chain_id: str,
    views: Sequence[View],
    now: datetime,
    *,
    erasure_recorded: bool = False,
    heads: Mapping[int, str] | None = None,
    period: tuple[datetime, datetime] | None = None,
) -> Checked:
    """Check one chain. The first view that has a link has the say on it; so put Kafka first.

    Args:
        erasure_recorded: an operation `customer_erased` on this dispute stands in its chain.
        heads: sequence → head, from files kept elsewhere.
        period: count only events linked in [since, until); all are checked.
    """
    links: dict[int, AuditEntry] = {}
    faults: list[Fault] = []
    for view in views:
        mine = view.links.get(chain_id, [])
        faults += _walk(chain_id, view, mine)
        for link in mine:
            known = links.setdefault(link.sequence, link)
            if _facts(known) != _facts(link):
                faults.append(_fault(link, "link_altered", view, "another store has another link"))
    stands = {
        sequence: view.link_places[chain_id, sequence]
        for view in views
        for sequence in links
        if (chain_id, sequence) in view.link_places
    }
    for view in views:
        faults += _links_lacking(chain_id, view, links, stands, now)
    for sequence, head in (heads or {}).items():
        there = links.get(sequence)
        if there is None or there.chain != head:
            what = "head_missing" if there is None else "head_differs"
            said = "the chain was made anew, or cut, after its head was written out"
            faults.append(Fault(chain_id, what, "heads", sequence, None, said))
    checked = Checked(chains=1, disputes=not chain_id.startswith("operations:"), faults=faults)
    found: set[int] = set()
    gone: set[int] = set()
    for view in views:
        _events(chain_id, view, links, now, erasure_recorded, checked, found, gone)
        checked.faults += _vouched(chain_id, view, now)
    since, until = period or (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    counted = {sequence for sequence, link in links.items() if since <= link.at < until}
    checked.events, checked.erased = len(found & counted), len((gone - found) & counted)
    for sequence in links.keys() - found - gone:
        if not any(f.sequence == sequence for f in checked.faults):
            link = links[sequence]
            if link.at < now - UNDER_WAY or any(view.complete for view in views):
                checked.faults.append(_fault(link, "event_missing", None, "no store has it"))
    return checked


def _facts(link: AuditEntry) -> tuple[Any, ...]:
    return (
        link.sequence, link.topic, link.partition, link.offset, link.event_hash, link.previous, link.chain,
    )  # fmt: skip


def _fault(link: AuditEntry, what: str, view: View | None, detail: str = "") -> Fault:
    place = Place(link.topic, link.partition, link.offset)
    name = view.name if view else "everywhere"
    return Fault(link.dispute_id, what, name, link.sequence, place, detail)


def _walk(chain_id: str, view: View, links: Sequence[AuditEntry]) -> Iterator[Fault]:
    """Each link follows the one before, by number and by hash."""
    expected = None if not view.whole and links and links[0].sequence > 1 else GENESIS
    number = links[0].sequence - 1 if expected is None else 0
    for link in links:
        if link.sequence <= number:
            yield _fault(link, "link_repeated", view, "its number was given before")
            continue
        if link.sequence != number + 1:
            missing = f"{number + 1} to {link.sequence - 1}"
            yield Fault(chain_id, "link_missing", view.name, number + 1, None, f"links {missing}")
            expected = None
        if expected is not None and link.previous != expected:
            yield _fault(link, "link_altered", view, "does not follow the link before it")
        if link.chain != chain(link.previous, link.event_hash):
            yield _fault(link, "link_altered", view, "is not the hash of what it links")
        number, expected = link.sequence, link.chain


def _links_lacking(
    chain_id: str,
    view: View,
    links: Mapping[int, AuditEntry],
    stands: Mapping[int, Place],
    now: datetime,
) -> Iterator[Fault]:
    """Links at the end of a chain that only another store has, and that had come as far as this one; gaps
    before it, the walk has found."""
    mine = view.links.get(chain_id, [])
    if not view.whole:
        return
    last = max((link.sequence for link in mine), default=0)
    for sequence in sorted(links):
        place = stands.get(sequence)
        if place is not None and view.excused(place):
            continue
        if sequence > last and links[sequence].at < now - UNDER_WAY:
            yield _fault(links[sequence], "link_missing", view, "another store has it")


def _events(
    chain_id: str,
    view: View,
    links: Mapping[int, AuditEntry],
    now: datetime,
    erasure_recorded: bool,
    checked: Checked,
    found: set[int],
    gone: set[int],
) -> None:
    """Each link's event, by its place and its hash; and each event, whether a link has it."""
    events = view.events.get(chain_id, [])
    held = {one.place: one for one in events}
    hashes = {one.hash for one in events}
    for sequence, link in sorted(links.items()):
        place = Place(link.topic, link.partition, link.offset)
        one = held.get(place)
        if one is not None and one.hash == link.event_hash:
            if not one.erased:
                found.add(sequence)
                continue
            gone.add(sequence)
            if not erasure_recorded:
                said = "its bytes are gone, and no customer_erased on this dispute explains it"
                checked.faults.append(_fault(link, "erased_unexplained", view, said))
        elif one is not None:
            swapped = link.event_hash in hashes
            what = "event_reordered" if swapped else "event_altered"
            said = "stands where another should" if swapped else "is not what was linked"
            checked.faults.append(_fault(link, what, view, said))
        elif view.excused(place) or (not view.complete and link.at > now - UNDER_WAY):
            checked.under_way += 1
        else:
            what = "event_reordered" if link.event_hash in hashes else "event_missing"
            checked.faults.append(_fault(link, what, view))
    checked.faults += _unlinked(chain_id, view, events, links.values(), now)


def _unlinked(
    chain_id: str,
    view: View,
    events: Sequence[Stored],
    links: Collection[AuditEntry],
    now: datetime,
) -> Iterator[Fault]:
    """Events the ledger should have linked. One that came twice is linked once."""
    linked = {link.event_hash for link in links}
    places = {Place(link.topic, link.partition, link.offset) for link in links}
    names = {one.name for one in events if one.hash in linked and one.name}
    for one in events:
        if one.place.topic not in CHAINED or one.hash in linked or one.place in places:
            continue
        if one.name in names or view.unread(one.place):
            continue
        if not view.complete and one.at > now - UNDER_WAY:
            continue
        yield Fault(chain_id, "event_not_in_chain", view.name, None, one.place)


def _vouched(chain_id: str, view: View, now: datetime) -> Iterator[Fault]:
    """Rulings and proposals are in no chain: the verdict or decision that used one has its hash."""
    events = view.events.get(chain_id, [])
    held: dict[str, set[str]] = {}
    for one in events:
        if one.name and one.place.topic not in CHAINED:
            held.setdefault(one.name, set()).add(one.hash)
    for one in events:
        for name, said in one.vouches:
            hashes = held.get(name)
            if hashes is None:
                if view.complete or (view.whole and _due(view, one.at, now)):
                    yield Fault(chain_id, "vouched_missing", view.name, None, one.place, name)
            elif said not in hashes:
                yield Fault(chain_id, "vouched_altered", view.name, None, one.place, name)


def _due(view: View, at: datetime, now: datetime) -> bool:
    """Whether the store must have what belongs to an event of that time: it had come, and is still kept."""
    forgotten = view.forgets_after is not None and at < now - view.forgets_after
    return at < now - UNDER_WAY and not forgotten

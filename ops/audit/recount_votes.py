"""The votes again: every verdict of a dispute from the raw rulings, by the tally's own functions."""

from collections.abc import Container, Iterator

from ops.audit.chains import Fault
from ops.audit.history import History, Told
from schemas.base import Model, canonical_bytes
from schemas.docket import Docket
from schemas.ids import evidence_hash
from schemas.pack import PolicyPack
from schemas.ruling import Ruling
from schemas.topics import DOCKETS, GRIEVANCES, RULINGS, VERDICTS
from schemas.verdict import CountedRuling, Verdict
from streams.extraction import evidence_for
from streams.policies.loader import LoadedPack
from streams.tally import as_counted, count

WHERE = "recount"


def recount_votes(dispute_id: str, history: History, pack: LoadedPack) -> Iterator[Fault]:
    """What does not follow: the evidence judged on, a ruling as counted, the count."""
    docket = history.first(dispute_id, DOCKETS)
    if docket is not None:
        yield from _evidence(docket, history, pack)
    rulings: dict[str, Told] = {}
    for told in history.of(dispute_id, RULINGS):
        rulings.setdefault(told.event.ruling_id, told)
    counted_ids: set[str] = set()
    for told in history.of(dispute_id, VERDICTS):
        counted_ids |= {one.ruling_id for one in told.event.rulings}
        yield from _verdict(told, rulings, pack.pack)
    for ruling_id, told in rulings.items():
        ruling: Ruling = told.event
        if ruling_id not in counted_ids and pack.pack.weight(ruling.seat, ruling.category):
            yield _fault(told, "ruling_not_counted", "no revision of the verdict has it")


def _evidence(told: Told, history: History, pack: LoadedPack) -> Iterator[Fault]:
    docket: Docket = told.event
    if docket.evidence is not None:
        found = evidence_hash(canonical_bytes(docket.evidence))
        if found != docket.evidence_hash:
            yield _fault(told, "evidence_differs", f"its hash is {found}")
    claims = {claim.grievance_id: claim for claim in docket.claims}
    for grievance in history.of(docket.dispute_id, GRIEVANCES):
        event = grievance.event
        claim = claims.get(event.grievance_id)
        shown = evidence_for(claim.category, docket.evidence or {}, pack) if claim else None
        if claim != event.claim or shown != event.evidence:
            yield _fault(grievance, "grievance_differs", "is not what the docket says")
    for ruling in history.of(docket.dispute_id, RULINGS):
        if ruling.event.evidence_hash != (docket.evidence_hash or ""):
            yield _fault(ruling, "evidence_differs", "was judged on another snapshot")


def _verdict(told: Told, rulings: dict[str, Told], pack: PolicyPack) -> Iterator[Fault]:
    verdict: Verdict = told.event
    raw: list[CountedRuling] = []
    for used in verdict.rulings:
        found = rulings.get(used.ruling_id)
        if found is None:
            yield _fault(told, "ruling_missing", used.ruling_id)
            raw.append(used)
            continue
        mine = as_counted(found.event, pack, found.record.value)
        raw.append(mine)
        wrong = unlike(used, mine)
        if wrong:
            yield _fault(told, "ruling_differs", f"{used.ruling_id}: {', '.join(wrong)}")
    value, votes, confidence = count(raw, pack, verdict.category)
    again = {"ruling": value, "votes": votes, "confidence": confidence}
    wrong = [name for name, fresh in again.items() if getattr(verdict, name) != fresh]
    if verdict.closed_by == "all_seats" and len(raw) != len(pack.bench.seats):
        wrong.append("closed_by")
    if wrong:
        yield _fault(told, "count_differs", ", ".join(wrong))


def unlike(said: Model, again: Model, but: Container[str] = ()) -> list[str]:
    """Fields that were said and come out otherwise. What an older release did not say is no difference."""
    names = sorted(said.model_fields_set)
    return [n for n in names if n not in but and getattr(said, n) != getattr(again, n)]


def _fault(told: Told, what: str, detail: str) -> Fault:
    return Fault(told.record.chain, what, WHERE, None, told.record.place, detail)

"""One dispute as one zip: every event as bytes, what they rest on, a page to read, and the hashes of all of it."""

import io
import zipfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ops.audit.case import Case
from ops.audit.stored import CHAINED, Stored
from ops.explanation import explanation
from schemas.base import canonical_bytes
from schemas.ids import content_hash, operations_chain
from schemas.topics import AUDIT, DECISIONS, DISPUTES, DOCKETS, OPERATIONS, REVIEWS, RULINGS
from streams.policies.loader import LoadedPack, contents

FORMAT = "refund-bench audit export 1"
MANIFEST = "manifest.json"
TEMPLATE = Path(__file__).parent / "page.html.j2"
README = """\
One dispute of Refund Bench, as it was on the day in manifest.json.

index.html      the dispute, to read
events/         every event, byte for byte; events.json says where in Kafka each stood, and its hash
chain.json      the links: sha256(previous || event hash), by which the ledger numbered the events
evidence.json   the frozen record, in the bytes its hash is over
replies/        what each model answered
pack/           the policy pack of the dispute, prompts included; its seal is in every event
people.json     who decided, and who read
manifest.json   sha256 of every other file

Check it:   refund-bench audit verify --zip THIS.zip
Beside a heads file of the day, kept elsewhere, it shows that the chain was not made anew:
            refund-bench audit verify --zip THIS.zip --heads heads-DAY.json
The page and people.json are made from the events, for reading; what counts are the events.
"""


def export(case: Case, pack: LoadedPack, by: str, now: datetime) -> bytes:
    """The zip. Events that the ledger has not linked yet are left out: they have no place in the chain."""
    mine = (case.dispute_id, operations_chain(case.dispute_id))
    links = [link for chain in mine for link in case.view.links.get(chain, ())]
    linked = {link.event_hash for link in links}
    events = [
        one
        for chain in mine
        for one in case.view.events.get(chain, ())
        if one.place.topic not in ("ledger", AUDIT.name)
        and (one.place.topic not in CHAINED or one.hash in linked)
    ]
    told = explanation(case.trail)
    files: dict[str, bytes] = {
        "README.txt": README.encode(),
        "chain.json": _json([link.model_dump(mode="json") for link in links]),
        "people.json": _json(_people(case)),
        "ledger.json": _json(case.trail.entry.model_dump(mode="json", exclude_none=True)),
    }
    files |= _event_files(events)
    files |= _evidence(case)
    files |= {f"replies/{ruling.ruling_id}.txt": ruling.raw_reply.encode() for ruling in case.trail.of(RULINGS)}  # fmt: skip
    files |= {f"pack/{path}": body for path, body in contents(pack.folder).items()}
    files["index.html"] = page(told, now).encode()
    manifest = {
        "format": FORMAT,
        "dispute_id": case.dispute_id,
        "made_at": now.isoformat(),
        "made_by": by,
        "source": case.source,
        "pack": pack.ref.model_dump(),
        "files": {
            name: {"sha256": content_hash(body).removeprefix("sha256:"), "bytes": len(body)}
            for name, body in sorted(files.items())
        },
    }
    files[MANIFEST] = _json(manifest)
    return _zip(files, now)


def page(told: dict[str, Any], now: datetime) -> str:
    """The page to read: the dispute from complaint to letter, everything escaped."""
    import jinja2

    from schemas.money import show

    def money(amount: int, currency: str | None) -> str:
        return show(amount, currency) if currency else str(amount)

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["money"] = money
    return environment.from_string(TEMPLATE.read_text("utf-8")).render(d=told, made_at=now)


def _event_files(events: Iterable[Stored]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    index: list[dict[str, Any]] = []
    ordered = sorted(events, key=lambda one: (one.at, one.place))
    for number, one in enumerate(ordered, 1):
        topic, partition, offset = one.place
        name = f"events/{number:03}-{topic}-{partition}-{offset}.json"
        if one.value is not None:
            files[name] = one.value
        index.append(
            {
                "file": name if one.value is not None else None,
                "topic": topic,
                "partition": partition,
                "offset": offset,
                "key": one.key,
                "chain": one.chain,
                "at": one.at.isoformat(),
                "hash": one.hash,
                "erased": one.erased,
            }
        )
    files["events.json"] = _json(index)
    return files


def _evidence(case: Case) -> dict[str, bytes]:
    for topic in (DISPUTES, DOCKETS):
        for event in case.trail.of(topic):
            if event.evidence is not None:
                return {"evidence.json": canonical_bytes(event.evidence)}
    return {}


def _people(case: Case) -> dict[str, Any]:
    trail = case.trail
    return {
        "reviews": [
            {"reviewer": one.reviewer, "role": one.role, "action": one.action, "reason_code": one.reason_code, "at": one.at.isoformat()}
            for one in trail.of(REVIEWS)
        ],
        "decisions": [
            {"decision_id": one.decision_id, "authorised_by": one.authorised_by} for one in trail.of(DECISIONS)
        ],
        "operations": [
            {"actor": one.actor, "role": one.role, "action": one.action, "at": one.at.isoformat()}
            for one in trail.of(OPERATIONS)
        ],
    }  # fmt: skip


def _json(body: Any) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)


def _zip(files: dict[str, bytes], now: datetime) -> bytes:
    """The same files give the same bytes: names in order, one date."""
    out = io.BytesIO()
    stamp = (max(now.year, 1980), now.month, now.day, now.hour, now.minute, now.second)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in sorted(files.items()):
            info = zipfile.ZipInfo(name, stamp)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, body)
    return out.getvalue()

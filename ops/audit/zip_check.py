"""Verifies an exported zip by itself: no store, no network, nothing but the file and, if given, a heads file."""

import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ops.audit.chains import Checked, Fault
from ops.audit.export import FORMAT, MANIFEST
from ops.audit.heads import Heads
from ops.audit.stored import Place, Stored, View, stored
from ops.audit.verify import check_views
from schemas.ids import content_hash
from schemas.ledger import AuditEntry
from streams.policies.loader import seal_of

MOST_BYTES = 500_000_000
"""Unpacked; a dispute has some hundred KB."""
WHERE = "zip"


class ZipError(ValueError):
    """The file is not an export that can be looked at; says why."""


def check_zip(file: Path, heads: Heads | None = None) -> Checked:
    """Check every hash, the chain, the evidence, the rulings that verdicts vouch for, and the pack's seal.

    Raises:
        ZipError: it is no export of ours.
    """
    files = _read(file)
    try:
        manifest = orjson.loads(files[MANIFEST])
        if manifest["format"] != FORMAT:
            raise ZipError(f"{file}: is of the format {manifest['format']!r}, not {FORMAT!r}")
        return _check(files, manifest, heads)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ZipError):
            raise
        raise ZipError(f"{file}: is not an export ({type(error).__name__}: {error})") from None


def _read(file: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > MOST_BYTES:
                raise ZipError(f"{file}: unpacks to more than {MOST_BYTES // 1_000_000} MB")
            if len({info.filename for info in infos}) != len(infos):
                raise ZipError(f"{file}: has two files of one name")
            return {info.filename: archive.read(info) for info in infos}
    except OSError as error:
        raise ZipError(f"{file}: {error.strerror}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ZipError(f"{file}: is not a zip that can be read: {error}") from None


def _check(files: dict[str, bytes], manifest: dict[str, Any], heads: Heads | None) -> Checked:
    dispute = str(manifest["dispute_id"])

    def fault(what: str, detail: str) -> Fault:
        return Fault(dispute, what, WHERE, None, None, detail)

    faults = _files(files, manifest["files"], fault)
    view = _view(files, fault, faults)
    if dispute not in view.links:
        faults.append(fault("link_missing", "no link of the dispute"))
    checked = check_views(sorted(view.links.keys() | view.events.keys()), [view], datetime.fromisoformat(manifest["made_at"]), heads)  # fmt: skip
    events: list[tuple[Stored, Any]] = [
        (one, one.event()) for each in view.events.values() for one in each
    ]
    faults += _rests_on(files, events, fault)
    checked.faults = [*faults, *checked.faults]
    return checked


def _files(
    files: dict[str, bytes], listed: dict[str, Any], fault: Callable[[str, str], Fault]
) -> list[Fault]:
    found = [fault("file_missing", name) for name in listed.keys() - files.keys()]
    found += [fault("file_extra", name) for name in files.keys() - listed.keys() - {MANIFEST}]
    found += [
        fault("file_altered", name)
        for name in listed.keys() & files.keys()
        if content_hash(files[name]) != f"sha256:{listed[name]['sha256']}"
    ]
    return sorted(found, key=lambda one: one.detail)


def _view(files: dict[str, bytes], fault: Callable[[str, str], Fault], faults: list[Fault]) -> View:
    view = View(WHERE, complete=True)
    for link in orjson.loads(files["chain.json"]):
        view.add_link(AuditEntry.model_validate(link))
    for row in orjson.loads(files["events.json"]):
        place = Place(row["topic"], row["partition"], row["offset"])
        at = datetime.fromisoformat(row["at"])
        if row["erased"]:
            view.add(Stored(place, row["key"], row["chain"], at, row["hash"], None, erased=True))
            continue
        value = files.get(row["file"])
        one = stored(place, row["key"], at, value) if value is not None else None
        if one is None:
            faults.append(fault("event_unreadable", str(row["file"])))
            continue
        if one.hash != row["hash"]:
            faults.append(fault("event_altered", str(row["file"])))
        view.add(one)
    return view


def _rests_on(
    files: dict[str, bytes],
    events: list[tuple[Stored, Any]],
    fault: Callable[[str, str], Fault],
) -> list[Fault]:
    """The evidence, the pack and the prompts that the events name by their hashes."""
    found: list[Fault] = []
    pack = {n.removeprefix("pack/"): body for n, body in files.items() if n.startswith("pack/")}
    seal = seal_of(pack)
    prompts = {content_hash(body) for name, body in pack.items() if name.startswith("prompts/")}
    evidence = content_hash(files["evidence.json"]) if "evidence.json" in files else None
    for one, event in events:
        ref = getattr(event, "pack", None)
        if ref is not None and ref.pack_hash != seal:
            found.append(fault("pack_differs", f"{one.place} was made under {ref.pack_hash}"))
        named = getattr(event, "evidence_hash", None)
        if named and named != evidence:
            found.append(fault("evidence_differs", f"{one.place} rests on {named}"))
        prompt = getattr(event, "prompt_hash", None)
        if prompt and prompt not in prompts:
            found.append(fault("prompt_missing", f"{one.place} was asked with {prompt}"))
        if one.place.topic == "rulings" and event is not None:
            reply = files.get(f"replies/{event.ruling_id}.txt")
            if reply != event.raw_reply.encode():
                found.append(fault("reply_differs", event.ruling_id))
    return found

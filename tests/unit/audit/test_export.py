"""One dispute's zip: whole, readable, and right by itself; a byte changed anywhere shows."""

import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from pathlib import Path

import orjson
import pytest

from ops.audit.case import Case
from ops.audit.export import MANIFEST, export
from ops.audit.recount import sealed_pack
from ops.audit.refold import entry_of
from ops.audit.zip_check import ZipError, check_zip
from ops.cases import labelled
from ops.trail import trail_of
from schemas.ids import content_hash
from schemas.operation import Operation
from tests.support.recorded import Recorded

Files = dict[str, bytes]


@cache
def exported() -> bytes:
    run = Recorded()
    case = next(case for case in labelled("food-delivery") if case["id"].startswith("food-01"))
    run.file(case, text=case["complaint"]["text"] + " Guests & family waited.")
    mine = run.events("disputes")[0].dispute_id
    run.operate(
        Operation(
            at=run.now, operation_id="read-1", subject=mine, action="customer_text_read", actor="asha"
        )
    )  # fmt: skip
    view = run.view("clickhouse")
    entry = entry_of(view, mine)
    assert entry is not None
    assert entry.pack is not None
    pack = sealed_pack(run.packs, entry.pack)
    assert pack is not None
    made_at = run.now + timedelta(seconds=5)
    return export(Case(mine, "clickhouse", view, trail_of(view, entry), []), pack, "asha", made_at)


def files() -> Files:
    with zipfile.ZipFile(io.BytesIO(exported())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def check(folder: Path, body: bytes) -> list[str]:
    file = folder / "dispute.zip"
    file.write_bytes(body)
    return [fault.what for fault in check_zip(file).faults]


def packed(held: Files, *, manifest_again: bool = False) -> bytes:
    """The files as a zip; with the manifest made anew, as whoever changed them would."""
    if manifest_again:
        manifest = orjson.loads(held[MANIFEST])
        manifest["files"] = {
            name: {"sha256": content_hash(body).removeprefix("sha256:"), "bytes": len(body)}
            for name, body in held.items()
            if name != MANIFEST
        }
        held = {**held, MANIFEST: orjson.dumps(manifest)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in held.items():
            archive.writestr(name, body)
    return out.getvalue()


def test_an_export_is_whole_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "dispute.zip"
    file.write_bytes(exported())
    checked = check_zip(file)
    assert (checked.faults, checked.disputes, checked.chains) == ([], 1, 2)
    assert checked.events == 10


def test_it_has_everything_an_auditor_asks_for() -> None:
    held = files()
    topics = {name.split("-")[1] for name in held if name.startswith("events/")}
    assert {"disputes", "dockets", "grievances", "rulings", "verdicts", "proposals", "decisions", "payments", "operations"} <= topics  # fmt: skip
    assert {"evidence.json", "chain.json", "people.json", "index.html", "README.txt", "pack/pack.toml", "pack/prompts/extraction.md"} <= set(held)  # fmt: skip
    assert any(name.startswith("replies/") for name in held)
    assert orjson.loads(held["people.json"])["operations"][0]["actor"] == "asha"
    page = held["index.html"].decode()
    for shown in ("₹689.00", "MISSING_ITEM", "auto_resolve_within_cap", "SIMULATED", "asha"):
        assert shown in page
    assert "Guests &amp; family" in page, "the customer's words are escaped"


def test_the_same_dispute_gives_the_same_bytes() -> None:
    assert packed(files()) == packed(files())
    exported.cache_clear()
    first = exported()
    exported.cache_clear()
    assert exported() == first


def changed(prefix: str, old: bytes, new: bytes) -> Callable[[Files], None]:
    def change(held: Files) -> None:
        name = next(n for n in sorted(held) if n.startswith(prefix) and old in held[n])
        held[name] = held[name].replace(old, new)

    return change


def dropped(part: str) -> Callable[[Files], None]:
    def change(held: Files) -> None:
        del held[next(name for name in sorted(held) if part in name)]

    return change


def index_without(topic: str) -> Callable[[Files], None]:
    def change(held: Files) -> None:
        rows = orjson.loads(held["events.json"])
        gone = next(row for row in rows if row["topic"] == topic)
        del held[gone["file"]]
        held["events.json"] = orjson.dumps([row for row in rows if row is not gone])

    return change


TOUCHED: dict[str, tuple[Callable[[Files], None], str]] = {
    "an event": (changed("events/", b"UPHELD", b"REJECTED"), "event_altered"),
    "an amount": (changed("events/", b'"amount_minor":68900', b'"amount_minor":1'), "event_altered"),
    "an event dropped": (dropped("-payments-"), "event_unreadable"),
    "an event dropped, and from the index": (index_without("payments"), "event_missing"),
    "a ruling dropped, and from the index": (index_without("rulings"), "vouched_missing"),
    "the evidence": (changed("evidence.json", b"INR", b"USD"), "evidence_differs"),
    "a reply": (changed("replies/", b"{", b"[") , "reply_differs"),
    "the pack": (changed("pack/pack.toml", b"auto", b"Auto"), "pack_differs"),
    "a prompt": (changed("pack/prompts/judge-plain", b"a", b"b"), "prompt_missing"),
    "a link": (changed("chain.json", b"sha256:", b"sha256:0"), "link_altered"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOUCHED)
def test_a_change_shows_with_the_old_manifest_and_with_a_new_one(tmp_path: Path, name: str) -> None:
    change, expected = TOUCHED[name]
    held = files()
    change(held)
    assert check(tmp_path, packed(held)), "the manifest does not fit any more"
    assert expected in check(tmp_path, packed(held, manifest_again=True))


def test_a_changed_page_shows_by_the_manifest(tmp_path: Path) -> None:
    held = files()
    held["index.html"] += b" "
    assert check(tmp_path, packed(held)) == ["file_altered"]
    held = files()
    held["more.html"] = b"x"
    assert check(tmp_path, packed(held)) == ["file_extra"]


def test_a_head_kept_elsewhere_shows_a_zip_made_anew(tmp_path: Path) -> None:
    file = tmp_path / "dispute.zip"
    file.write_bytes(exported())
    chain = orjson.loads(files()["chain.json"])
    mine = orjson.loads(files()[MANIFEST])["dispute_id"]
    last = [link for link in chain if link["dispute_id"] == mine][-1]
    assert check_zip(file, {mine: (last["sequence"], last["chain"])}).faults == []
    assert [f.what for f in check_zip(file, {mine: (last["sequence"], "sha256:x")}).faults] == ["head_differs"]  # fmt: skip


@pytest.mark.parametrize(
    "body", [b"", b"not a zip", packed({"a": b"b"}), packed({MANIFEST: b"{"}), packed({MANIFEST: b"[]"}), packed({MANIFEST: b'{"format": "x"}'})]
)  # fmt: skip
def test_what_is_no_export_is_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(ZipError):
        check(tmp_path, body)

"""`dead-letters`: what could not be read or written, and putting it back."""

import base64
from datetime import UTC, datetime
from typing import Annotated

import typer

from ops.commands.reply import As, Json, answer, commands, read_input, refuse, say, visible

app = commands()

Id = Annotated[str, typer.Argument(metavar="ID", help="As `dead-letters list` gives it.")]


@app.callback()
def dead_letters() -> None:
    """List, open and replay records that could not be read, or outputs that could not be written.

    A dead letter keeps the bytes, encrypted under the installation key, the place they came from and the error.
    """


@app.command("list")
def list_letters(
    topic: Annotated[str, typer.Option(help="Only those that came from this topic.")] = "",
    open_only: Annotated[
        bool, typer.Option("--open", help="Only those that were not replayed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Every dead letter: id, place, error. No customer's words.

    Examples:

      refund-bench dead-letters list --open
      refund-bench dead-letters list --topic complaints --json | jq '.items[].error'
    """
    from ops.dead_letter_desk import letters
    from ops.reachable import need_kafka

    need_kafka()
    items = [
        held.as_json()
        for held in letters()
        if (not topic or held.letter.topic == topic) and not (open_only and held.letter.replayed_at)
    ]

    def tell() -> None:
        for item in items:
            say(f"{item['id']}  {item['at']}\n    {visible(item['error'])}")
        say(f"{len(items)} dead letters")

    answer(as_json, {"count": len(items), "items": items}, tell)


@app.command()
def show(identifier: Id, as_user: As = "", as_json: Json = False) -> None:
    """One dead letter, decrypted. It may hold a customer's words: run it where they may be seen. That you read
    it is recorded first; where that fails nothing is shown.

    Needs REFUND_BENCH_INSTALLATION_KEY. Bytes that are not UTF-8 are given in base64.

    Examples:

      refund-bench dead-letters show intake:complaints-3-17
      refund-bench dead-letters show intake:complaints-3-17 --json | jq -r .value > repaired.json
    """
    from ops.dead_letter_desk import find, opened
    from ops.operations import actor, record_reading
    from ops.reachable import need_kafka
    from topologies.settings import Settings

    key = Settings.from_environment().installation_key
    by = actor(as_user)
    need_kafka()
    held = find(identifier)
    value = opened(held, key)
    record_reading(identifier, by, "dead-letters show", datetime.now(UTC))
    try:
        text: str | None = value.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    source = held.source_key
    found = {
        **held.as_json(),
        "key": source.decode("utf-8", "replace") if source is not None else None,
        "bytes": len(value),
        "cut": held.is_cut,
        "value": text,
        "value_base64": base64.b64encode(value).decode() if text is None else None,
    }

    def tell() -> None:
        said = "no key" if found["key"] is None else f"key {visible(str(found['key']))}"
        say(
            f"{found['id']}\n  {visible(held.letter.error)}\n  {said}, {len(value)} bytes, {found['at']}"
        )
        say(visible(text) if text is not None else str(found["value_base64"]))

    answer(as_json, found, tell)


@app.command()
def replay(
    identifier: Id,
    file: Annotated[str, typer.Option(help="The repaired bytes; - for stdin.")] = "",
    as_json: Json = False,
) -> None:
    """Put a dead letter back where it came from, repaired or, after a repair of ours, as it was.

    Repaired bytes are checked first, and go under the key they name. What was replayed, when and by whom is
    noted on the dead letter. Replaying twice is safe: a stage knows its events by their ids. A record of a customer
    who was erased since it came is not put back.

    Examples:

      refund-bench dead-letters show intake:complaints-3-17 --json | jq -r .value > repaired.json
      $EDITOR repaired.json
      refund-bench dead-letters replay intake:complaints-3-17 --file repaired.json
    """
    from ops import dead_letter_desk as desk
    from ops.erasure.finding import erased_since, subjects_of
    from ops.reachable import need_kafka
    from topologies.settings import Settings

    settings = Settings.from_environment()
    need_kafka()
    held = desk.find(identifier)
    now = datetime.now(UTC)
    if file:
        value = read_input(file).strip()
        desk.check_repaired(held.letter.topic, value, settings.packs(), now)
    elif held.is_cut:
        refuse(
            "only the first part of the record was kept", "give the whole, repaired, with --file"
        )
    else:
        value = desk.opened(held, settings.installation_key)
    about = subjects_of(value, settings.installation_key)
    erased = erased_since(about, held.letter.at)
    if erased is not None:
        refuse(
            f"the customer was erased at {erased:%Y-%m-%d %H:%M} UTC, after this record came; put back, it would "
            "bring their words back",
            "leave it: Kafka lets go of it within 30 days",
        )
    key = desk.replay(held, value, bool(file), now)
    found = {
        "ok": True,
        "id": identifier,
        "topic": held.letter.topic,
        "key": key,
        "repaired": bool(file),
        "replayed_at": now.isoformat(),
    }
    answer(
        as_json, found, lambda: say(f"{identifier} is back in {held.letter.topic} under key {key}")
    )

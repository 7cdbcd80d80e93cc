"""`clickhouse`: bring ClickHouse's schema up or back, compare it, and give an analyst the views."""

from typing import Annotated, Any

import typer

from ops.commands.reply import FALSE, TRUE, Json, answer, commands, note, refuse, say

app = commands()


@app.callback()
def clickhouse() -> None:
    """Run and check the migrations of ClickHouse's schema; print the grants of an analyst.

    Connection: REFUND_BENCH_CLICKHOUSE, _USER and _PASSWORD.
    """


@app.command()
def migrate(
    to: Annotated[
        int | None, typer.Option(min=0, help="Up or back to this migration; by default the newest.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Drop what going back drops.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the schema to this release, or with --to to an older migration.

    Going back drops the tables that later migrations made, with their rows, so it wants --yes. A database that
    a newer release has migrated is refused; nothing is changed then.

    Examples:

      refund-bench clickhouse migrate
      refund-bench clickhouse migrate --to 7 --yes
    """
    from sinks import migrate as migrations

    newest = len(migrations.migrations())
    if to is not None and to > newest:
        refuse(f"--to {to}: this release knows {newest} migrations", f"0 to {newest}")
    client = _owner()
    try:
        applied = [state.version for state in migrations.status(client) if state.applied]
        if to is not None and any(version > to for version in applied) and not yes:
            refuse(f"going back to {to} drops tables with their rows", "give --yes if you mean it")
        ran = migrations.migrate(client, to)
    finally:
        client.close()
    goal = newest if to is None else to

    def tell() -> None:
        say(f"ran {', '.join(map(str, ran))}" if ran else "nothing to run")
        say(f"the schema is at {goal} of {newest}")

    answer(as_json, {"ok": True, "ran": ran, "version": goal, "newest": newest}, tell)


@app.command()
def status(as_json: Json = False) -> None:
    """Say which migrations were run, and where tables or views were altered by hand; exit code 1 where the
    schema is not exactly this release's.

    Examples:

      refund-bench clickhouse status
    """
    from sinks import migrate as migrations
    from sinks.drift import differences

    client = _owner()
    try:
        states = migrations.status(client)
        by_hand = differences(client, [state.version for state in states if state.applied])
    finally:
        client.close()
    sound = all(s.applied and s.known and not s.altered for s in states) and not by_hand
    found: dict[str, Any] = {
        "ok": sound,
        "migrations": [
            {
                "version": state.version,
                "name": state.name,
                "applied": state.applied,
                "known": state.known,
                "altered": state.altered,
                "changed_at": state.changed_at.isoformat() if state.changed_at else None,
            }
            for state in states
        ],
        "altered_by_hand": by_hand,
    }

    def tell() -> None:
        for state in states:
            words = "applied" if state.applied else "not run"
            words += "" if state.known else ", by a newer release"
            words += ", changed after it was run" if state.altered else ""
            say(f"{state.version:04d} {state.name:20} {words}")
        for line in by_hand:
            say(f"altered by hand: {line}")
        if any(not state.applied for state in states):
            note("run `refund-bench clickhouse migrate`")

    answer(as_json, found, tell, TRUE if sound else FALSE)


@app.command()
def grants(
    user: Annotated[str, typer.Option(help="The analyst's user.")] = "analyst",
    apply: Annotated[
        bool, typer.Option("--apply", help="Run them instead of printing them.")
    ] = False,
) -> None:
    """Print the SQL that makes an analyst's user, who reads the views and nothing else.

    The password is the one in REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD; only its SHA-256 is printed. Run it on a
    ClickHouse server, as a user who may create users. The local endpoint of `refund-bench up` has its users already.

    Examples:

      REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD=… refund-bench clickhouse grants --user maria
      refund-bench clickhouse grants --apply
    """
    import os

    from sinks.connection import address_from
    from sinks.grants import statements

    password = os.environ.get("REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD")
    if not password:
        refuse("REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD is not set", "set the analyst's password")
    try:
        sql = statements(user, password, address_from().database)
    except ValueError as error:
        refuse(str(error))
    if not apply:
        for statement in sql:
            say(f"{statement};")
        return
    client = _owner()
    try:
        for statement in sql:
            client.command(statement)
    finally:
        client.close()
    note(f"{user} may read {len(sql) - 2} views")


@app.command()
def retention(
    apply: Annotated[
        bool, typer.Option("--apply", help="Give the tables the days of REFUND_BENCH_RETENTION.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say how long rows, texts and the archive are kept, by the file in REFUND_BENCH_RETENTION or by default; and
    which tables' rows have other days. Exit code 1 where some have.

    Rows expire by a table's TTL. Texts have none: `archive run` empties them, once the archive has been read back.

    Examples:

      refund-bench clickhouse retention
      refund-bench clickhouse retention --apply
    """
    from sinks import retention as keeping

    kept = keeping.retention_from()
    client = _owner()
    try:
        changed = keeping.apply(client, kept) if apply else []
        there = keeping.row_days(client)
    finally:
        client.close()
    differs = {t: there.get(t) for t in keeping.TABLES if there.get(t) != kept.rows[t]}

    def tell() -> None:
        for section, days in (("rows", kept.rows), ("texts", kept.texts), ("events", kept.events)):
            for name, number in days.items():
                wrong = (
                    f"; the table has {differs[name]}"
                    if section == "rows" and name in differs
                    else ""
                )
                say(f"{section}.{name:32} {number:5} days{wrong}")
        say(f"archive{'':31} {kept.archive:5} days")
        if differs:
            note("run `refund-bench clickhouse retention --apply`")

    answer(
        as_json,
        {
            "ok": not differs,
            "rows": dict(kept.rows),
            "texts": dict(kept.texts),
            "events": dict(kept.events),
            "archive": kept.archive,
            "changed": changed,
            "differs": differs,
        },
        tell,
        FALSE if differs else TRUE,
    )


def _owner() -> Any:
    from sinks.connection import address_from, connect

    try:
        address = address_from()
    except ValueError as error:
        refuse(str(error))
    return connect(address)

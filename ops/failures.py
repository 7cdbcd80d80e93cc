"""Exceptions become exit codes here and nowhere else."""

import os
from typing import Any

from ops.commands.reply import BAD_INPUT, BUG, DEPENDENCY_DOWN, Failure, note, write_json

BAD_INPUTS = frozenset(
    {
        "topologies.SettingsError", "topologies.InputSetChanged", "streams.PackError", "streams.UnknownPackError",
        "streams.Misconfigured", "streams.CaseError", "sinks.BadQuestion", "sinks.SchemaError", "sinks.RetentionError",
    }
)  # fmt: skip
DEPENDENCIES = frozenset(
    {
        "ops.DependencyMissing", "ops.StartFailed", "sinks.ClickHouseAway", "streams.GatewayUnavailable",
        "builtins.ConnectionError", "builtins.TimeoutError", "ops.Unfinished", "ops.ArchiveError",
    }
)  # fmt: skip


def report(error: Exception, as_json: bool, verbose: bool = False) -> int:
    """Say what went wrong, once, and give the exit code."""
    failure = as_failure(error)
    if failure.code == BUG or verbose:
        import orjson

        from ops.logs import failure as told

        note(orjson.dumps(told(error), option=orjson.OPT_INDENT_2).decode())
    if failure.problem:
        note(f"refund-bench: {failure}")
    if as_json:
        write_json(
            {
                "ok": False,
                "error": failure.problem,
                "remedy": failure.remedy,
                "exit_code": failure.code,
                **failure.details,
            }
        )
    return failure.code


def as_failure(error: Exception) -> Failure:
    """What an exception means to whoever ran the command. Looks at names, so that nothing is imported for it."""
    if isinstance(error, Failure):
        return error
    names = {f"{kind.__module__.split('.')[0]}.{kind.__name__}" for kind in type(error).__mro__}
    if "typer.NoArgsIsHelpError" in names:
        note(str(error))
        return Failure("", code=BAD_INPUT)
    if "typer.ClickException" in names:
        context = getattr(error, "ctx", None)
        usage = f"see `{context.command_path} --help`" if context else "see `refund-bench --help`"
        return Failure(error.format_message().rstrip("."), usage)  # type: ignore[attr-defined]
    if "typer.Abort" in names:
        return Failure("stopped", code=BAD_INPUT)
    if names & BAD_INPUTS:
        return Failure(str(error))
    if "cimpl.KafkaException" in names:
        return _kafka(error)
    if "clickhouse_connect.Error" in names:
        return Failure(
            f"ClickHouse cannot answer: {error}",
            "check REFUND_BENCH_CLICKHOUSE, or start `refund-bench up`",
            DEPENDENCY_DOWN,
        )
    if names & DEPENDENCIES:
        return Failure(str(error), code=DEPENDENCY_DOWN)
    return Failure(
        f"a fault in refund-bench itself ({type(error).__name__})",
        "the place is above; please report it",
        BUG,
    )


def _kafka(error: Exception) -> Failure:
    """Kafka's error; a topic that is not there is a matter of configuration, the rest means it is down."""
    cause: Any = error.args[0] if error.args else error
    words = cause.str() if hasattr(cause, "str") else str(error)
    if hasattr(cause, "name") and cause.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
        return Failure(f"Kafka has no such topic: {words}", "run `refund-bench topics create`")
    broker = os.environ.get("REFUND_BENCH_BROKER") or "127.0.0.1:9092 (the default)"
    return Failure(
        f"Kafka at {broker}: {words}",
        "start `refund-bench up`, or set REFUND_BENCH_BROKER",
        DEPENDENCY_DOWN,
    )

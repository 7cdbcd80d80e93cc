"""`refund-bench`: the root of the command line.

Commands load when they are asked for, so that help and `price` answer at once. Exceptions become
exit codes here and nowhere else.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from ops.commands.reply import BAD_INPUT, BUG, DEPENDENCY_DOWN, Failure, note, write_json


@dataclass(frozen=True)
class Entry:
    """A command by the module that holds it as `app`; `local` where it uses a stack that runs already."""

    help: str
    panel: str
    local: bool = True


TRY, FILE, LOOK, RUN, PROVE = (
    "Try it", "File and check", "Look into it", "Run it", "Prove it",
)  # fmt: skip
COMMANDS: dict[str, Entry] = {
    "demo": Entry("Start everything, file labelled disputes, check how each ends.", TRY, False),
    "up": Entry("Run the whole of Refund Bench on this machine until Ctrl-C.", TRY, False),
    "price": Entry("Dry run of the money: one case with given rulings, no broker.", TRY),
    "validate": Entry("Check a file of complaints and evidence, no broker.", FILE),
    "submit": Entry("File a case, a complaint, or JSON lines of either.", FILE),
    "status": Entry("Where a dispute stands.", LOOK),
    "explain": Entry("Why a dispute ended as it did: the whole trail as a tree.", LOOK),
    "query": Entry("Ask ClickHouse one of the analysts' questions.", LOOK),
    "dead-letters": Entry("List, open and replay what could not be read.", LOOK),
    "run": Entry("Run one app in the foreground.", RUN),
    "topics": Entry("Create the Kafka topics; compare them with the contract.", RUN),
    "pack": Entry("Check a policy pack.", RUN),
    "bench": Entry("Measure one part, beside its peers.", PROVE, False),
    "chaos": Entry("Kill parts at random and check that nothing is lost or paid twice.", PROVE, False),
}  # fmt: skip


def _module(name: str) -> str:
    return f"ops.commands.{name.replace('-', '_')}"


class Commands(TyperGroup):
    """Knows its commands by name and help; loads one when it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in COMMANDS if importlib.util.find_spec(_module(name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """For the help: name and help text only."""
        entry = COMMANDS.get(cmd_name)
        if entry is None or importlib.util.find_spec(_module(cmd_name)) is None:
            return None
        return TyperCommand(cmd_name, help=entry.help, rich_help_panel=entry.panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """For the run: the real one."""
        self.commands = dict.fromkeys(self.list_commands(ctx))  # type: ignore[assignment]  # for "did you mean"
        name, _, rest = super().resolve_command(ctx, args)
        assert name is not None
        if COMMANDS[name].local:
            _use_local_stack()
        command = get_command(importlib.import_module(_module(name)).app)
        command.name = name
        return name, command, rest

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run, and turn what went wrong into an exit code and one message."""
        arguments = list(sys.argv[1:] if args is None else args)
        options["standalone_mode"] = False
        try:
            code = super().main(arguments, *rest, **options)
        except Exception as error:
            code = report(error, "--json" in arguments, "--verbose" in arguments)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(
    verbose: bool = typer.Option(
        False, "--verbose", help="Plain log lines on stderr, from INFO up."
    ),
) -> None:
    """Refund Bench splits a complaint into checkable grievances, has independent judges rule on each,
    pays what was upheld exactly once, and hands the rest to a person.

    Start with [bold]refund-bench demo[/]; then [bold]refund-bench up[/] in one terminal and the rest in another.
    Every command that reports takes [bold]--json[/]. Exit codes: 0 true, 1 false, 2 bad input or
    configuration, 3 something it needs is down.
    """  # fmt: skip
    from ops.logs import only_ours, set_up_logging

    set_up_logging(verbose or None, None if verbose else "WARNING")
    if not verbose:
        only_ours()


def _use_local_stack() -> None:
    """Take the addresses of `refund-bench up` where none are set."""
    from ops.local.environment import load_local_environment

    load_local_environment()


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


BAD_INPUTS = frozenset(
    {
        "topologies.SettingsError", "topologies.InputSetChanged", "streams.PackError", "streams.UnknownPackError",
        "streams.Misconfigured", "streams.CaseError", "sinks.BadQuestion", "sinks.SchemaError",
    }
)  # fmt: skip
DEPENDENCIES = frozenset(
    {
        "ops.DependencyMissing", "ops.StartFailed", "sinks.ClickHouseAway", "streams.GatewayUnavailable",
        "builtins.ConnectionError", "builtins.TimeoutError", "ops.Unfinished",
    }
)  # fmt: skip


def _kafka(error: Exception) -> Failure:
    """Kafka's error; a topic that is not there is a matter of configuration, the rest means it is down."""
    import os

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


def main() -> None:
    """The console script."""
    app()


if __name__ == "__main__":
    main()

"""`refund-bench`: the root of the command line.

Commands load when they are asked for, so that help and `price` answer at once. What goes wrong in any
of them ends here, and `ops.failures` says what it means.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from ops.failures import report


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
    "review": Entry("What waits for a person, and deciding it.", LOOK),
    "query": Entry("Ask ClickHouse one of the analysts' questions.", LOOK),
    "audit": Entry("Verify the trail, recount what was decided, export one dispute.", LOOK),
    "reconcile": Entry("Does the money add up: decisions, gateway, ledger, ClickHouse.", LOOK),
    "report": Entry("Draw the main questions for a period into one printable HTML file.", LOOK),
    "dead-letters": Entry("List, open and replay what could not be read.", LOOK),
    "run": Entry("Run one app in the foreground.", RUN),
    "stub": Entry("A provider on this machine that the real SDKs talk to, answered by offline-rules.", RUN, False),
    "payouts": Entry("The kill switch: pause, resume, and say whether payments are paused.", RUN),
    "topics": Entry("Create the Kafka topics; compare them with the contract.", RUN),
    "clickhouse": Entry("Bring the schema up or back; compare it; grant an analyst the views.", RUN),
    "archive": Entry("Archive every event as bytes; let ClickHouse go of what the archive has.", RUN),
    "privacy": Entry("Erase a customer: their words and records, out of every store.", RUN),
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
        _reflow(command)
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

    Start with [bold]refund-bench demo[/].
    Then [bold]refund-bench up[/] in one terminal, and the others in a second.

    Every command that reports takes [bold]--json[/]: one object on stdout.
    Exit codes: 0 true, 1 false, 2 bad input or configuration, 3 something is down.
    """  # fmt: skip
    from ops.logs import only_ours, set_up_logging

    set_up_logging(verbose or None, None if verbose else "WARNING")
    if not verbose:
        only_ours()


def _reflow(command: Any) -> None:
    """Let a terminal of any width break the help's paragraphs; indented lines (examples) stay lines."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)
    for one in getattr(command, "commands", {}).values():
        _reflow(one)


def _use_local_stack() -> None:
    """Take the addresses of `refund-bench up` where none are set."""
    from ops.local.environment import load_local_environment

    load_local_environment()


def main() -> None:
    """The console script."""
    app()


if __name__ == "__main__":
    main()

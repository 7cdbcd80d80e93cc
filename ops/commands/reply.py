"""How a command answers: one JSON object on stdout with --json, else words; and what makes it fail."""

import sys
from collections.abc import Callable
from typing import Annotated, Any, NoReturn

import typer

TRUE, FALSE, BAD_INPUT, DEPENDENCY_DOWN, BUG = 0, 1, 2, 3, 70
"""Exit codes: what was asked for is true, is false; bad input or configuration; something we need is
down; and a fault of ours (EX_SOFTWARE), which is none of the four."""

Json = Annotated[
    bool, typer.Option("--json", help="One JSON object on stdout, everything else on stderr.")
]

As = Annotated[str, typer.Option("--as", help="Who you are; by default the user of this machine.")]
"""For commands whose use is recorded."""


def commands() -> typer.Typer:
    """An empty group, with the settings every group shares."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


class Failure(Exception):
    """A command cannot do what it was asked. `code` is the exit code, `details` more keys of the JSON."""

    def __init__(
        self, problem: str, remedy: str = "", code: int = BAD_INPUT, **details: Any
    ) -> None:
        super().__init__(f"{problem}; {remedy}" if remedy else problem)
        self.problem = problem
        self.remedy = remedy
        self.code = code
        self.details = details


def answer(
    as_json: bool, found: dict[str, Any], tell: Callable[[], None], code: int = TRUE
) -> None:
    """Give the answer, and exit with `code`.

    `tell` writes the same for a person, on stdout.
    """
    if as_json:
        write_json(found)
    else:
        tell()
    if code:
        raise typer.Exit(code)


def write_json(found: dict[str, Any]) -> None:
    """The object on stdout: indented for a terminal, one line for a program."""
    import orjson

    options = orjson.OPT_APPEND_NEWLINE | (orjson.OPT_INDENT_2 if sys.stdout.isatty() else 0)
    sys.stdout.write(orjson.dumps(found, option=options, default=str).decode())
    sys.stdout.flush()


def say(text: str = "") -> None:
    """A line for people. An id or a field's name may hold what a terminal would obey: it is shown instead."""
    text = visible(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def console() -> Any:
    """For trees and tables on stdout; a pipe gets wide lines."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200, emoji=False)


def note(text: str) -> None:
    """Progress or a remark, on stderr."""
    sys.stderr.write(visible(text) + "\n")


def read_input(path: str) -> bytes:
    """A file's bytes, or stdin's for `-`.

    Raises:
        Failure: there is no such file, or it cannot be read.
    """
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        refuse(f"{path}: {error.strerror}", "name a file, or - for standard input")


def refuse(problem: str, remedy: str = "", **details: Any) -> NoReturn:
    """End as bad input."""
    raise Failure(problem, remedy, BAD_INPUT, **details)


def visible(text: str) -> str:
    """Text safe to print: control and direction-changing characters are shown, not obeyed."""
    return "".join(_shown(c) for c in text)


def _shown(c: str) -> str:
    if c in "\n\t":
        return c
    code = ord(c)
    hidden = code < 32 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000
    if hidden or 0x200B <= code <= 0x200F or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return f"\\u{code:04x}"
    return "\\ufeff" if code == 0xFEFF else c

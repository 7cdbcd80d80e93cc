"""Calls the command line in this process."""

from dataclasses import dataclass
from typing import Any

import orjson
from typer.testing import CliRunner

from ops.cli import app


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; fails where there is anything else."""
        found = orjson.loads(self.out)
        assert isinstance(found, dict)
        assert self.out.count("\n") == 1, "one object, on one line"
        return found


class Cli:
    def __call__(self, *arguments: str, stdin: bytes = b"") -> Answer:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        return Answer(result.exit_code, result.stdout, result.stderr)

"""What a stage's processes wrote down about their calls, their commits and their partitions.

Every process appends whole lines to one file as things happen, so the file's order is the order of
the machine, and a line survives the process that wrote it.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class JournalWriter:
    """One process's pen; from any of its threads."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, what: str, **facts: Any) -> None:
        """`what` is begin, end, commit, assigned, revoked or lost."""
        line = {"what": what, "pid": os.getpid(), "at": round(time.time(), 6), **facts}
        os.write(self._file, json.dumps(line).encode() + b"\n")


@dataclass(slots=True, eq=False)
class Call:
    """One call of the handler. Times are seconds since 1970."""

    key: str
    partition: int
    pid: int
    begin: float
    end: float | None = None
    committed: bool = False
    """Its process learnt that its result is committed."""
    passed_over: int = 0
    """Commits that began after its end, went through, and did not hold its result."""
    taken: str | None = None
    """How its partition left its process while it was unfinished: revoked or lost."""


@dataclass(slots=True)
class Journal:
    """Reads what was added since the last time; every figure is of what was read."""

    path: Path
    calls: list[Call] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)
    """Keys for which a call has ended."""
    moves: list[dict[str, Any]] = field(default_factory=list)
    """Partitions that came and went, as noted."""
    _at: int = 0
    _unfinished: dict[int, dict[str, Call]] = field(default_factory=lambda: defaultdict(dict))

    def read(self) -> "Journal":
        """Catch up with the file."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self._at)
                whole, newline, _ = file.read().rpartition(b"\n")
            self._at += len(whole) + len(newline)
            for line in whole.splitlines():
                self._take(json.loads(line))
        return self

    def _take(self, line: dict[str, Any]) -> None:
        what, unfinished = line["what"], self._unfinished[line["pid"]]
        if what == "begin":
            call = Call(line["key"], line["partition"], line["pid"], line["at"])
            unfinished[call.key] = call
            self.calls.append(call)
        elif what == "end":
            self.finished.add(line["key"])
            if line["key"] in unfinished:
                unfinished[line["key"]].end = line["at"]
        elif what == "commit":
            _committed(unfinished, line["keys"], line["began"])
        else:
            self.moves.append(line)
            if what != "assigned":
                for call in unfinished.values():
                    if call.partition in line["partitions"]:
                        call.taken = what

    def moved(self, what: str) -> int:
        """Partitions that were assigned, revoked or lost, all processes together."""
        return sum(len(move["partitions"]) for move in self.moves if move["what"] == what)


def _committed(unfinished: dict[str, Call], keys: Iterable[str], began: float) -> None:
    for key in keys:
        if key in unfinished:
            unfinished.pop(key).committed = True
    for call in unfinished.values():
        call.passed_over += call.end is not None and call.end < began

"""Log files that their writers hold open for appending, kept from growing without end.

The writers are other processes, so the file cannot be renamed under them: its end is copied to
`<name>.log.1` and the file emptied. A line written in between can be lost.
"""

import os
from pathlib import Path

LIMIT_BYTES = 10_000_000


def bound(log: Path, limit: int = LIMIT_BYTES) -> None:
    try:
        size = log.stat().st_size
    except FileNotFoundError:
        return
    if size <= limit:
        return
    with open(log, "rb") as file:
        file.seek(size - limit)
        log.with_name(log.name + ".1").write_bytes(file.read(limit))
    os.truncate(log, 0)


def tail(log: Path, lines: int = 15) -> str:
    try:
        with open(log, "rb") as file:
            file.seek(max(0, log.stat().st_size - 20_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return "(nothing)"

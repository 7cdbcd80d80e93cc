"""Where a running local stack can be reached, for commands in a second terminal.

`refund-bench up` writes its addresses and its installation key to `refund-bench/local.json` in the
user's state folder and removes the file when it ends.
"""

import json
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

PREFIX = "REFUND_BENCH_"
BROKER = "REFUND_BENCH_BROKER"


def local_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file: `$XDG_STATE_HOME` or `~/.local/state`, then `refund-bench/local.json`."""
    state = environment.get("XDG_STATE_HOME", "")
    # The XDG specification says to ignore a relative path.
    root = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return root / "refund-bench" / "local.json"


def write_local_environment(values: Mapping[str, str], pid: int | None = None) -> Path:
    """Tell other terminals of the stack that process `pid` (this one) runs; readable by its user only."""
    file = local_file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    ours = {name: value for name, value in values.items() if name.startswith(PREFIX)}
    draft = file.with_suffix(f".{os.getpid()}.tmp")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump({"pid": pid or os.getpid(), "environment": ours}, out, indent=2)
    draft.replace(file)
    return file


def clear_local_environment(pid: int | None = None) -> None:
    """Take the file away, if it is still this process's."""
    found = _read(local_file())
    if found and found[0] == (pid or os.getpid()):
        local_file().unlink(missing_ok=True)


def load_local_environment(
    environment: MutableMapping[str, str] = os.environ,
) -> dict[str, str]:
    """Fill in what is not set from the running local stack; what was filled in.

    Nothing is taken where the environment names another broker: half of one installation and half
    of another would compute wrong ids. Nothing is taken from a stack that is no longer running.
    """
    found = _read(local_file(environment))
    if found is None or not _is_alive(found[0]):
        return {}
    values = found[1]
    if (environment.get(BROKER) or values.get(BROKER)) != values.get(BROKER):
        return {}
    filled = {name: value for name, value in values.items() if not environment.get(name)}
    environment.update(filled)
    return filled


def _read(file: Path) -> tuple[int, dict[str, str]] | None:
    """The process and its environment; None where there is no file, or none that makes sense."""
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        values = {str(k): str(v) for k, v in held["environment"].items() if k.startswith(PREFIX)}
        return int(held["pid"]), values
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

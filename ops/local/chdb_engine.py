"""The ClickHouse engine in this process: one handle per HTTP session, a fresh one otherwise.

A fresh handle costs under a millisecond and takes with it whatever SET, USE or CREATE TEMPORARY
TABLE changed, exactly as a request without a session does on a server.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import chdb

from ops.local import analyst_guard
from ops.local.clickhouse_users import Role, write_access
from ops.local.inline_insert import InlineInsert, split_insert, touches_files

Settings = Mapping[str, str]


class EngineError(Exception):
    """What ClickHouse would have answered, with its exception code."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        found = re.search(r"Code: (\d+)\.", message)
        self.code = code or (int(found[1]) if found else 1002)  # 1002: UNKNOWN_EXCEPTION


@dataclass(frozen=True)
class Answer:
    body: bytes
    format: str
    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0


@dataclass
class Handle:
    connection: Any
    shared: bool = False
    """A session's, so that what one request set must be taken back before the next."""
    busy: threading.Lock = field(default_factory=threading.Lock)
    keep_s: float = 60.0
    used_at: float = 0.0
    applied: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)


class Engine:
    """Thread-safe. The path belongs to this process while it is open."""

    def __init__(self, path: str) -> None:
        self._source = f"{path}?config-file={write_access(Path(path))}"
        self._root = _connect(self._source)  # the engine lives while any handle is open
        self._sessions: dict[tuple[Role, str], Handle] = {}
        self._lock = threading.Lock()
        about = self._root.query("SELECT version(), timezone()", "TabSeparated").bytes()
        self.version, self.time_zone = about.decode().split()

    def run(
        self,
        sql: bytes,
        default_format: str,
        *,
        parameters: Settings,
        settings: Settings,
        database: str | None = None,
        session: str | None = None,
        keep_s: float = 60.0,
        role: Role = "owner",
    ) -> Answer:
        """Raises EngineError."""
        try:
            if role == "analyst":
                sql = analyst_guard.one_statement(sql)
                # They may only read already, and cannot say so again.
                settings = {name: v for name, v in settings.items() if name != "readonly"}
                if (database or "").lower() in analyst_guard.DATABASES:
                    raise analyst_guard.NotForAnalysts(f"{database} is not for analysts")
            elif touches_files(sql):
                raise EngineError("files of the server are out of reach over HTTP", 1)
            # A session could not take `readonly` back.
            kept = None if "readonly" in settings else session
            with self._handle(kept, keep_s, role) as handle:
                if database:
                    name = database.replace("\\", "\\\\").replace("`", "\\`")
                    handle.connection.query(f"USE `{name}`")
                _apply(handle, {} if _is_set(sql) else settings)
                if role == "analyst":
                    tree = handle.connection.query(
                        b"EXPLAIN AST " + sql, "TSVRaw", params=dict(parameters)
                    )
                    analyst_guard.check(tree.bytes().decode())
                return _execute(handle.connection, sql, default_format, parameters)
        except analyst_guard.NotForAnalysts as refused:
            raise EngineError(
                f"Code: 497. DB::Exception: {refused}. (ACCESS_DENIED)", 497
            ) from refused
        except (RuntimeError, chdb.ChdbError) as error:
            raise EngineError(str(error)) from error

    def close_idle_sessions(self) -> None:
        with self._lock:
            now = time.monotonic()
            for key, handle in list(self._sessions.items()):
                if now - handle.used_at > handle.keep_s and handle.busy.acquire(blocking=False):
                    del self._sessions[key]
                    handle.connection.close()

    def close(self) -> None:
        with self._lock:
            for handle in self._sessions.values():
                handle.connection.close()
            self._sessions.clear()
            self._root.close()

    def _open(self, role: Role, *, shared: bool = False) -> Handle:
        handle = Handle(_connect(self._source), shared)
        if role == "analyst":
            # In this order: neither can be taken back by a statement that passes the guard.
            handle.connection.query("SET ROLE analyst")
            handle.connection.query("SET readonly = 2")
        return handle

    @contextmanager
    def _handle(self, session: str | None, keep_s: float, role: Role) -> Iterator[Handle]:
        if not session:
            handle = self._open(role)
            try:
                yield handle
            finally:
                handle.connection.close()
            return
        with self._lock:
            handle = self._sessions.get((role, session)) or self._open(role, shared=True)
            self._sessions[role, session] = handle
            if not handle.busy.acquire(blocking=False):
                raise EngineError(
                    f"Code: 373. DB::Exception: Session {session} is locked by a concurrent "
                    "client. (SESSION_IS_LOCKED)"
                )
        try:
            yield handle
        finally:
            handle.keep_s, handle.used_at = keep_s, time.monotonic()
            handle.busy.release()


def _connect(source: str) -> Any:
    return chdb.connect(source)  # type: ignore[no-untyped-call]


def _execute(connection: Any, sql: bytes, default_format: str, parameters: Settings) -> Answer:
    # Parameters can only be bound by query(), which takes inline data to its first blank line.
    insert = None if parameters else split_insert(sql)
    if insert is not None:
        return _insert(connection, insert, default_format)
    result = connection.query(sql, default_format, params=dict(parameters))
    return Answer(
        result.bytes(),
        _format_of(sql) or default_format,
        read_rows=result.rows_read(),
        read_bytes=result.bytes_read(),
    )


def _insert(connection: Any, insert: InlineInsert, default_format: str) -> Answer:
    """Through a file, since chDB's `send_insert` reports success for rows that fail when they are
    written (a violated constraint): the sender would take lost data for stored."""
    if not insert.data.strip():
        return Answer(b"", default_format)
    with NamedTemporaryFile(prefix="refund-bench-insert-") as file:
        file.write(insert.data)
        file.flush()
        done = connection.query(
            f"{insert.statement} FROM INFILE '{file.name}' FORMAT {insert.format}"
        )
    size = len(insert.data)
    return Answer(b"", default_format, written_rows=done.rows_read(), written_bytes=size)


def _apply(handle: Handle, settings: Settings) -> None:
    """Make `settings` hold for the next statement: undo what an earlier one asked for."""
    for name in [name for name in handle.applied if name not in settings]:
        handle.connection.query(f"SET {name} = {_quoted(handle.before.pop(name))}")
        del handle.applied[name]
    for name, value in settings.items():
        if handle.applied.get(name) == value:
            continue
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise EngineError(
                f"Code: 115. DB::Exception: Unknown setting '{name}'. (UNKNOWN_SETTING)"
            )
        if handle.shared and name not in handle.before:
            held = handle.connection.query(f"SELECT toString(getSetting('{name}'))", "TSVRaw")
            handle.before[name] = held.bytes().decode()[:-1]
        handle.connection.query(f"SET {name} = {_quoted(value)}")
        handle.applied[name] = value


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _is_set(sql: bytes) -> bool:
    return re.match(rb"\s*SET\s", sql, re.IGNORECASE) is not None


def _format_of(sql: bytes) -> str | None:
    """The format a query asks for itself, by a FORMAT clause at its end."""
    end = re.search(rb"\bFORMAT\s+(\w+)\s*(?:SETTINGS\s[^()]*)?;?\s*$", sql, re.IGNORECASE)
    return end[1].decode() if end else None

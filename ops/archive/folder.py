"""Where the archive is: a folder, or an object store by its URL."""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import orjson
from fsspec.implementations.local import LocalFileSystem

VARIABLE = "REFUND_BENCH_ARCHIVE"
LOCK = "lock.json"
STALE = timedelta(hours=6)


class ArchiveError(Exception):
    """The archive cannot be used, or lacks what it should have; says what to do."""


class Archive:
    """Named files under one root. What `write` has returned for is on disk, or with the store."""

    def __init__(self, url: str) -> None:
        """Raises ArchiveError: no such kind of place, or its package is not installed."""
        try:
            self._fs, root = fsspec.core.url_to_fs(url, auto_mkdir=True) if "://" not in url else fsspec.core.url_to_fs(url)  # fmt: skip
        except ImportError as error:
            raise ArchiveError(f"the archive {url}: {error}; install that package beside refund-bench") from None  # fmt: skip
        except (ValueError, OSError) as error:
            raise ArchiveError(f"the archive {url}: {error}; name a folder or a URL") from None
        self.url = url
        self._root = root.rstrip("/")

    def write(self, name: str, body: bytes) -> None:
        """Put a file there, whole or not at all; over one of that name.

        Raises:
            ArchiveError: it cannot be written.
        """
        path = self._path(name)
        try:
            if isinstance(self._fs, LocalFileSystem):
                _write_local(Path(path), body)
            else:
                self._fs.pipe_file(path, body)
        except OSError as error:
            raise ArchiveError(f"{self.url}/{name} cannot be written: {error}") from None

    def read(self, name: str) -> bytes | None:
        """A file's bytes; None where there is no such file.

        Raises:
            ArchiveError: the place does not answer.
        """
        try:
            return bytes(self._fs.cat_file(self._path(name)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ArchiveError(f"{self.url}/{name} cannot be read: {error}") from None

    def open(self, name: str) -> Any:
        """A file to read parts of.

        Raises:
            ArchiveError: there is none, or the place does not answer.
        """
        try:
            return self._fs.open(self._path(name), "rb")
        except OSError as error:
            raise ArchiveError(f"{self.url}/{name} cannot be read: {error}") from None

    def delete(self, name: str) -> None:
        """Take a file away; none is fine.

        Raises:
            ArchiveError: it cannot be.
        """
        try:
            self._fs.rm_file(self._path(name))
        except FileNotFoundError:
            return
        except OSError as error:
            raise ArchiveError(f"{self.url}/{name} cannot be deleted: {error}") from None

    def names(self, folder: str = "") -> list[str]:
        """What lies in a folder, by its own name; folders too.

        Raises:
            ArchiveError: the place does not answer.
        """
        try:
            self._fs.invalidate_cache()
            found = self._fs.ls(self._path(folder), detail=False)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ArchiveError(f"{self.url}/{folder} cannot be listed: {error}") from None
        return sorted(str(path).rstrip("/").rsplit("/", 1)[-1] for path in found)

    @contextmanager
    def alone(self, by: str) -> Iterator[None]:
        """Keep every other run out: two at once could each write a manifest without the other's files.

        Raises:
            ArchiveError: another run is under way.
        """
        mine = {"by": by, "host": socket.gethostname(), "pid": os.getpid(), "at": datetime.now(UTC).isoformat()}  # fmt: skip
        held = self.read(LOCK)
        if held is not None and _is_held(held):
            raise ArchiveError(f"another run holds {self.url}/{LOCK}: {held.decode('utf-8', 'replace')}; wait for it, or delete the file where it is dead")  # fmt: skip
        self.write(LOCK, orjson.dumps(mine))
        if self.read(LOCK) != orjson.dumps(mine):
            raise ArchiveError(f"another run began at the same moment in {self.url}; run it again")
        try:
            yield
        finally:
            self.delete(LOCK)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")


def _is_held(lock: bytes) -> bool:
    """Not where its process died, or it is older than any run takes."""
    try:
        told = orjson.loads(lock)
        if told["host"] == socket.gethostname():
            os.kill(int(told["pid"]), 0)
        return datetime.fromisoformat(told["at"]) > datetime.now(UTC) - STALE
    except ProcessLookupError:
        return False
    except (ValueError, KeyError, TypeError, OSError):
        return True


def _write_local(path: Path, body: bytes) -> None:
    """Through a file beside it, and to the disk: the other copy is about to go."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(body)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def archive_from(environment: Mapping[str, str] = os.environ, given: str = "") -> Archive:
    """The archive given, else the one that REFUND_BENCH_ARCHIVE names.

    Raises:
        ArchiveError: none is named, or it cannot be.
    """
    url = given or environment.get(VARIABLE, "")
    if not url:
        raise ArchiveError(f"no archive is named; set {VARIABLE} to a folder or a URL such as s3://bucket/archive")  # fmt: skip
    return Archive(url)

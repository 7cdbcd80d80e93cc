"""Letters as JSON lines in a file, for a job of yours that sends them."""

import asyncio
import fcntl
import os
from pathlib import Path

from schemas.letter import Letter
from schemas.receipt import Channel
from streams.delivery.port import NotDelivered


class FileDelivery:
    """One line per letter, on the disk when `send` returns. A repeat is a second line of one letter_id.

    The file holds customers' words and nobody here deletes it: readable by its user only.
    """

    channel: Channel = "file"

    def __init__(self, path: Path) -> None:
        self.path = path

    async def send(self, letter: Letter) -> str:
        try:
            await asyncio.to_thread(self._append, letter.to_bytes())
        except OSError as error:
            raise NotDelivered(type(error).__name__) from error
        return f"file:{letter.letter_id}"

    def _append(self, line: bytes) -> None:
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # against our other threads and processes alike
            end = os.fstat(file.fileno()).st_size
            # A line that was cut, by a full disk say, must not spoil the one after it.
            cut = end > 0 and os.pread(file.fileno(), 1, end - 1) != b"\n"
            rest = memoryview(b"\n" * cut + line + b"\n")
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(self.path.parent)


def _sync_folder(folder: Path) -> None:
    """A new file's name is on the disk only when its folder is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

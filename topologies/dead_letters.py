"""How a record that could not be read or written is kept: its bytes encrypted, its place, the error."""

import base64
import re
from datetime import datetime

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from schemas.dead_letter import DeadLetter

KEPT_BYTES = 1_200_000
"""Encrypted and in base64 this much still fits a message; a longer record is cut and says so."""


KEPT_KEY_BYTES = 1_000
"""No key of ours is longer; a stranger's may be as long as a message."""


def record_key(key: bytes | None, topic: str) -> bytes:
    """The key a dead letter travels under: the source record's, or its topic's name where it has none."""
    return (key or b"")[:KEPT_KEY_BYTES] or topic.encode()


class DeadLetterBox:
    """Seals and opens dead letters under a key derived from the installation key (HKDF-SHA256)."""

    def __init__(self, installation_key: bytes) -> None:
        derived = HKDF(SHA256(), 32, salt=None, info=b"refund-bench dead letters").derive(
            installation_key
        )
        self._fernet = Fernet(base64.urlsafe_b64encode(derived))

    def seal(
        self,
        *,
        stage: str,
        topic: str,
        partition: int,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        error: str,
        now: datetime,
    ) -> DeadLetter:
        """The dead letter of one record. `error` must not quote the record: it is not encrypted."""
        value = value or b""
        if len(value) > KEPT_BYTES:
            error = f"{error} (first {KEPT_BYTES} of {len(value)} bytes kept)"
        return DeadLetter(
            at=now,
            dead_letter_id=f"{stage}:{topic}-{partition}-{offset}",
            stage=stage,
            topic=topic,
            partition=partition,
            offset=offset,
            key=base64.b64encode(key[:KEPT_KEY_BYTES]).decode() if key is not None else None,
            value=self._fernet.encrypt(value[:KEPT_BYTES]).decode(),
            error=error[:2_000],
        )

    def open(self, letter: DeadLetter) -> bytes:
        """The source bytes.

        Raises:
            cryptography.fernet.InvalidToken: sealed under another installation key.
        """
        return self._fernet.decrypt(letter.value.encode())


def _named(part: int | str) -> str:
    """A step of a path. A key that is no field's name of ours may hold anything, the customer's words too."""
    return str(part) if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", str(part)) else "?"


def describe(error: BaseException) -> str:
    """An error in words that name fields and never quote values."""
    problems = getattr(error, "errors", None)
    if callable(problems):
        # pydantic's own text quotes the input, which may be the customer's words.
        found = [
            f"{'.'.join(map(_named, item['loc'])) or 'record'}: {item['msg']}"
            for item in problems()
        ]
        return "; ".join(found[:10])
    if (unquoted := getattr(error, "unquoted", None)) is not None:
        return f"{type(error).__name__}: {unquoted}"
    if isinstance(error, (ValueError, KeyError, TypeError)):
        return f"{type(error).__name__}: {error}"
    return type(error).__name__

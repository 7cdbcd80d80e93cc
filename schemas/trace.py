"""Trace headers: what follows a complaint through every topic (W3C Trace Context)."""

import secrets
from collections.abc import Iterable

TRACEPARENT = "traceparent"
NAMES = frozenset({TRACEPARENT, "tracestate"})
LONGEST = 512
"""Bytes of one header. Nothing else is carried on: headers count against a record's size, and a
stranger's large header must not make our own output too large to write."""


def trace_of(headers: Iterable[tuple[str, bytes | str | None]] | None) -> dict[str, bytes]:
    """The trace headers among a record's headers."""
    found: dict[str, bytes] = {}
    for name, value in headers or ():
        raw = value.encode() if isinstance(value, str) else value
        if name in NAMES and raw and len(raw) <= LONGEST:
            found[name] = raw
    return found


def new_trace() -> dict[str, bytes]:
    """The headers that begin a trace, sampled."""
    return {TRACEPARENT: f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01".encode()}

"""Prompt caching as the providers account for it.

An entry is the exact prefix up to a breakpoint, for one model. It can be read only once the reply that
writes it begins, so equal calls in parallel all miss. A read keeps it alive. A prefix shorter than the
model's minimum is not cached, and no error says so.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from ops.stub.wire import Offered, Piece, Tokens, tokens

LOOK_BACK = 20
"""Pieces before a breakpoint at which Anthropic looks for an older entry."""
SWEEP_AT = 100_000


@dataclass(frozen=True)
class Prefix:
    """The prompt up to a breakpoint."""

    digest: bytes
    tokens: int
    keep_s: float


@dataclass(frozen=True)
class Found:
    """What a call reads, and what its reply will write."""

    charged: Tokens
    writes: tuple[Prefix, ...] = ()


class PromptCache:
    """Entries by digest, with the moment each ends. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._ends: dict[bytes, tuple[float, float]] = {}

    def look_up(self, model: Offered, pieces: Sequence[Piece], now: float) -> Found:
        """What of the prompt is there already, and which prefixes are to be written with the reply."""
        total = tokens(sum(len(piece.text) for piece in pieces))
        prefixes = _prefixes(model, pieces)
        marked = [number for number, piece in enumerate(pieces) if piece.keep_s is not None]
        seen = {back for at in marked for back in range(max(0, at - LOOK_BACK), at + 1)}
        if model.dialect == "openai":
            seen = set(marked)
        read = 0
        for number in sorted(seen, reverse=True):
            prefix = prefixes[number]
            end, keep_s = self._ends.get(prefix.digest, (0.0, 0.0))
            if end > now:
                self._ends[prefix.digest] = (now + keep_s, keep_s)
                read = prefix.tokens
                break
        writes = [
            prefixes[number]
            for number in marked
            if prefixes[number].tokens >= max(model.cache_from, read + 1)
        ]
        written: dict[float, int] = {}
        reached = read
        for prefix in writes:
            written[prefix.keep_s] = written.get(prefix.keep_s, 0) + prefix.tokens - reached
            reached = prefix.tokens
        return Found(Tokens(total - reached, cache_read=read, cache_write=written), tuple(writes))

    def write(self, found: Found, now: float) -> None:
        """The reply begins: what it cached can be read."""
        for prefix in found.writes:
            self._ends[prefix.digest] = (now + prefix.keep_s, prefix.keep_s)
        if len(self._ends) > SWEEP_AT:
            self._ends = {digest: ends for digest, ends in self._ends.items() if ends[0] > now}


def _prefixes(model: Offered, pieces: Sequence[Piece]) -> list[Prefix]:
    """The prompt up to the end of each piece."""
    digest = hashlib.blake2b(model.name.encode(), digest_size=16)
    characters = 0
    found: list[Prefix] = []
    for piece in pieces:
        raw = piece.text.encode()
        digest.update(len(raw).to_bytes(8, "big") + raw)
        characters += len(piece.text)
        found.append(Prefix(digest.copy().digest(), tokens(characters), piece.keep_s or 0.0))
    return found

"""A partition's progress as one commit's offset and metadata.

The offset is the lowest unfinished one. The metadata says which offsets above it are finished
already: `rb1:` and base64 of a CRC-32 and a bitset, bit i for offset + i. The CRC covers the
offset too, so metadata that was written for another offset is foreign.

A restart that finds metadata it cannot trust treats it as none: those messages are done again
rather than lost.
"""

import base64
import binascii
import logging
import zlib
from dataclasses import dataclass
from typing import Final

LOG = logging.getLogger("refund_bench.async_stage")

PREFIX: Final = "rb1:"
MAX_METADATA_CHARACTERS: Final = 4_096  # the broker's `offset.metadata.max.bytes`
MAX_SPAN: Final = 16_384


@dataclass(frozen=True, slots=True)
class Progress:
    """Everything below `position` is finished; so is position + i for each bit i of `bits`."""

    position: int
    bits: bytes = b""

    def finished(self, offset: int) -> bool:
        """Whether this offset needs no more work."""
        if offset < self.position:
            return True
        byte, bit = divmod(offset - self.position, 8)
        return byte < len(self.bits) and bool(self.bits[byte] >> bit & 1)

    def finished_above(self) -> list[int]:
        """The finished offsets at or above the position, ascending."""
        return [
            self.position + 8 * index + bit
            for index, byte in enumerate(self.bits)
            if byte
            for bit in range(8)
            if byte >> bit & 1
        ]


def encode(progress: Progress) -> str:
    """The metadata for one commit; empty when nothing above the position is finished."""
    bits = progress.bits.rstrip(b"\0")
    if not bits:
        return ""
    return PREFIX + base64.b64encode(_checksum(progress.position, bits) + bits).decode()


def decode(position: int, metadata: str | None) -> Progress:
    """What a commit said; metadata that is foreign, cut or corrupt counts as none."""
    if not metadata:
        return Progress(position)
    fault = "foreign"
    if metadata.startswith(PREFIX):
        fault = "corrupt"
        try:
            raw = base64.b64decode(metadata[len(PREFIX) :], validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) > 4 and raw[:4] == _checksum(position, raw[4:]):
            return Progress(position, raw[4:])
    LOG.warning(
        "commit metadata is %s and counts as none: finished messages will be done again",
        fault,
        extra={"position": position, "characters": len(metadata)},
    )
    return Progress(position)


def _checksum(position: int, bits: bytes) -> bytes:
    return zlib.crc32(bits, zlib.crc32(position.to_bytes(8, "big"))).to_bytes(4, "big")

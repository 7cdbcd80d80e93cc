"""Who we are in our consumer group, as one commit must say it.

Kafka accepts a transactional offset commit with generation −1 and no member id from anybody: a
process that was frozen while its partitions moved would overwrite its successor's offsets. So
the identity is a snapshot, taken when an assignment is made, checked, and never refreshed from a
consumer that may meanwhile have been put out of the group.
"""

import struct
from dataclasses import dataclass
from typing import Final

_MAGIC: Final = b"CGMDv2:"


@dataclass(frozen=True, slots=True)
class Membership:
    """A valid identity; `metadata` is what `send_offsets_to_transaction` takes."""

    generation: int
    member: str
    metadata: bytes

    def continues(self, earlier: "Membership") -> bool:
        """Whether this is the same member, not an older view of it."""
        return self.member == earlier.member and self.generation >= earlier.generation


def read(metadata: object) -> Membership | None:
    """The identity in `consumer_group_metadata()`; None when it is not one to commit with."""
    if not isinstance(metadata, bytes) or not metadata.startswith(_MAGIC):
        return None
    body = metadata[len(_MAGIC) :]
    if len(body) < 4:
        return None
    (generation,) = struct.unpack("=i", body[:4])
    fields = body[4:].split(b"\0")
    member = fields[1].decode() if len(fields) > 1 else ""
    if generation < 0 or not member:
        return None
    return Membership(generation, member, metadata)

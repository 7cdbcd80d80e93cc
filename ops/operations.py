"""Records on the `operations` topic what people and apps do to the installation itself."""

import getpass
import os
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ops.commands.reply import DEPENDENCY_DOWN, Failure, refuse
from schemas.base import Id
from schemas.ids import content_hash
from schemas.operation import Operation, OperationAction
from schemas.topics import OPERATIONS
from streams.policies.loader import LoadedPack
from streams.prompts import hash_of

PACKS, ROLES = "packs", "roles"
MOST_PROMPTS = 16


def actor(given: str) -> str:
    """Who does it: the name given, else the user of this machine.

    Raises:
        Failure: a name that cannot be recorded.
    """
    name = given or _user()
    try:
        return TypeAdapter(Id).validate_python(name)
    except ValidationError:
        refuse("--as: is not a name of 1 to 200 characters without spaces", "give your user name")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may know its user by number only
        return f"uid-{os.getuid()}"


def record(*operations: Operation) -> None:
    """Record the operations; returns when the broker has them.

    Raises:
        NotTaken, KafkaException: it has not.
    """
    from ops.submitting import Sender

    sender = Sender()
    for operation in operations:
        sender.send(OPERATIONS.name, operation.subject, operation.to_bytes())
    sender.finish()


def act(
    action: OperationAction, subject: str, by: str, now: datetime, details: dict[str, str]
) -> Operation:
    """One act of a person, which nobody else did before or does again."""
    return Operation(
        at=now,
        operation_id=f"{action}:{uuid.uuid4().hex}",
        subject=subject,
        action=action,
        actor=by,
        details=details,
    )


def record_reading(subject: str, by: str, command: str, now: datetime, **details: str) -> None:
    """Record that `by` is about to read a customer's words. Call it before any is shown.

    Raises:
        Failure: it cannot be recorded, so nothing may be shown.
    """
    told = {"command": command, **details}
    try:
        record(act("customer_text_read", subject, by, now, told))
    except Exception as error:
        if isinstance(error, Failure):
            raise
        raise Failure(
            f"that {by} reads a customer's words cannot be recorded, so nothing is shown: {error}",
            "every reading is recorded on Kafka's topic operations; run it again when Kafka takes it",
            DEPENDENCY_DOWN,
        ) from None


def packs_loaded(packs: Iterable[LoadedPack], by: str, now: datetime) -> list[Operation]:
    """That these packs are in use, each with its prompts. The id follows from the seal, so a pack that is
    loaded again was loaded before."""
    return [
        Operation(
            at=now,
            operation_id=f"pack_loaded:{loaded.hash}",
            subject=PACKS,
            action="pack_loaded",
            actor=by,
            role="app",
            details={
                "policy": loaded.pack.policy,
                "pack_version": str(loaded.pack.version),
                "pack_hash": loaded.hash,
                **{
                    f"prompt:{name}": hash_of(text)
                    for name, text in sorted(loaded.prompts.items())[:MOST_PROMPTS]
                },
            },
        )
        for loaded in packs
    ]


def roles_changed(roles_file: bytes, by: str, now: datetime) -> Operation:
    """That the roles file has this content. The id follows from it, so an unchanged file is no change."""
    digest = content_hash(roles_file)
    details: dict[str, Any] = {"roles_hash": digest, "bytes": str(len(roles_file))}
    return Operation(
        at=now,
        operation_id=f"roles_changed:{digest}",
        subject=ROLES,
        action="roles_changed",
        actor=by,
        details=details,
    )

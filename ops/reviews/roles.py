"""The roles file: who may decide disputes, in which roles, under which policies.

    [users.asha]
    roles = ["officer"]
    policies = ["food-delivery"]

Without `policies` the user decides under every policy. What a role may do, and up to which amount, is in
the pack of the dispute.
"""

import os
import tomllib
from dataclasses import dataclass
from itertools import combinations

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from ops.commands.reply import read_input, refuse
from schemas.base import Id
from schemas.ids import same_person
from schemas.pack import PolicyPack, RoleLimit

SETTING = "REFUND_BENCH_ROLES"
EXAMPLE = 'a TOML file such as: [users.asha] roles = ["officer"] policies = ["food-delivery"]'


class User(BaseModel):
    """What one person may be. A misspelt key is refused: it must not widen what somebody may do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: tuple[Id, ...]
    policies: tuple[Id, ...] | None = None
    """None: every policy."""

    @field_validator("roles", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    users: dict[Id, User]

    @model_validator(mode="after")
    def _each_person_once(self) -> "_File":
        for one, other in combinations(self.users, 2):
            if same_person(one, other):
                raise ValueError(
                    f"users.{one} and users.{other} are one name, so one person; keep one"
                )
        return self


@dataclass(frozen=True)
class Roles:
    """The file, read."""

    path: str
    content: bytes
    users: dict[str, User]

    def role(self, user: str, pack: PolicyPack, wanted: str = "") -> str:
        """The role in which the user decides under the pack: the one wanted, else of those the pack knows
        the one with the widest authority.

        Raises:
            Failure: an unknown user, a policy or a role that is not theirs, or one the pack does not know.
        """
        found = self.users.get(user)
        if found is None:
            refuse(f"--as: {user!r} is not a user of {self.path}", f"add [users.{user}] to it")
        if found.policies is not None and pack.policy not in found.policies:
            refuse(
                f"users.{user}.policies: does not name {pack.policy}",
                f"ask somebody who decides there, or add it in {self.path}",
            )
        if wanted and wanted not in found.roles:
            refuse(
                f"--role: {wanted!r} is not a role of {user}", f"theirs: {', '.join(found.roles)}"
            )
        known = [
            role for role in pack.roles if role.role in found.roles and wanted in ("", role.role)
        ]
        if not known:
            there = ", ".join(role.role for role in pack.roles) or "none"
            refuse(
                f"users.{user}.roles: none that {pack.policy} v{pack.version} knows",
                f"its roles: {there}",
            )
        return max(known, key=_authority).role


def _authority(role: RoleLimit) -> float:
    return float("inf") if role.limit_minor is None else role.limit_minor


def load_roles() -> Roles:
    """The roles file that REFUND_BENCH_ROLES names.

    Raises:
        Failure: it is not set, cannot be read, or is not a roles file; names the field.
    """
    path = os.environ.get("REFUND_BENCH_ROLES", "")
    if not path:
        refuse(f"{SETTING} is not set", f"set it to {EXAMPLE}")
    content = read_input(path)
    try:
        users = _File.model_validate(tomllib.loads(content.decode("utf-8"))).users
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "file"
        refuse(f"{path}: {field}: {fault['msg']}", f"write {EXAMPLE}")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        refuse(f"{path}: is not TOML: {error}", f"write {EXAMPLE}")
    return Roles(path, content, users)

"""Who may do what at the local ClickHouse endpoint: owners everything, analysts the views.

The engine in this process knows one user, but its roles are real: a handle that takes the role
`analyst` is refused tables, files and the network by the engine itself.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Role = Literal["owner", "analyst"]


class WrongUsers(ValueError):
    """The users' file cannot be used; says what it should hold."""


@dataclass(frozen=True)
class User:
    name: str
    role: Role
    password_hash: bytes
    """SHA-256 of the password."""


class Users:
    """Without a file everybody is the owner, as on a fresh ClickHouse: for tests on the loopback."""

    def __init__(self, users: list[User] | None = None) -> None:
        self._users = {user.name: user for user in users} if users is not None else None

    @classmethod
    def from_file(cls, path: Path) -> "Users":
        """From JSON: `{"NAME": {"role": "owner" or "analyst", "password": "…"}}`.

        Raises:
            WrongUsers: not such a file, or nobody in it is an owner.
        """
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            users = [
                User(str(name), one["role"], _hash(str(one["password"])))
                for name, one in held.items()
            ]
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WrongUsers(
                f"{path}: {type(error).__name__}; it holds "
                '{"NAME": {"role": "owner" or "analyst", "password": "…"}}'
            ) from error
        roles = {user.role for user in users}
        if not roles <= {"owner", "analyst"} or "owner" not in roles:
            raise WrongUsers(f"{path}: every role is owner or analyst, and one at least is owner")
        return cls(users)

    def role_of(self, name: str, password: str) -> Role | None:
        """The role of whoever gave this name and password; None where they are not right."""
        if self._users is None:
            return "owner"
        user = self._users.get(name)
        known = user.password_hash if user else _hash("")
        right = hmac.compare_digest(known, _hash(password))
        return user.role if user and right else None


def credentials(headers: Mapping[str, str], given: Mapping[str, str]) -> tuple[str, str]:
    """Name and password from the Basic header, ClickHouse's own headers or the URL, as a server takes them."""
    kind, _, value = headers.get("Authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            name, _, password = base64.b64decode(value).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return "", ""
        return name or "default", password
    if "X-ClickHouse-User" in headers:
        return headers["X-ClickHouse-User"], headers.get("X-ClickHouse-Key", "")
    return given.get("user", "default"), given.get("password", "")


def write_users(path: Path, passwords: Mapping[str, tuple[Role, str]]) -> Path:
    """Write a users' file that only this operating system's user can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    held = {name: {"role": role, "password": word} for name, (role, word) in passwords.items()}
    path.write_text(json.dumps(held, indent=2), encoding="utf-8")
    return path


def _hash(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()


def write_access(folder: Path, database: str = "default") -> Path:
    """Write the engine's roles into `folder`; the configuration file to open it with.

    The engine's user holds no right by itself, only the two roles, so that a handle that gives up
    one of them gives up its rights.
    """
    users = folder / "refund-bench-users.xml"
    constants = "".join(f"<{name}><const/></{name}>" for name in FIXED_SETTINGS)
    held = _USERS.replace("DATABASE", database).replace("CONSTANTS", constants)
    users.write_text(held, encoding="utf-8")
    config = folder / "refund-bench-config.xml"
    config.write_text(
        f"<clickhouse><users_config>{users}</users_config></clickhouse>\n", encoding="utf-8"
    )
    return config


FIXED_SETTINGS = (
    "additional_result_filter", "additional_table_filters", "ai_function_embedding_default_credentials",
    "ai_function_text_default_credentials", "ast_fuzzer_runs", "cluster_for_parallel_replicas",
    "default_view_definer", "dialect", "filter", "format_schema", "format_schema_source",
    "format_template_resultset", "format_template_row", "http_response_headers", "implicit_table_at_top_level",
    "input_format_record_errors_file_path", "metrics_perf_events_list", "order", "output_format_schema",
    "parallel_replicas_custom_key", "polyglot_dialect", "promql_database", "promql_table",
    "rename_files_after_processing", "s3_base", "s3queue_default_zookeeper_path", "select", "sort",
    "stream_like_engine_insert_queue", "trace_profile_events_list", "url_base",
)  # fmt: skip
"""Settings that hold an expression, a table or a path: with them a statement that only reads the views reads
files of the server, so nobody may change one, however it is spelled."""

_USERS = """<clickhouse>
  <profiles><default><constraints>CONSTANTS</constraints></default></profiles>
  <quotas><default></default></quotas>
  <roles>
    <owner><grants><query>GRANT ALL ON *.*</query></grants></owner>
    <analyst><grants><query>GRANT SELECT ON DATABASE.v_*</query></grants></analyst>
  </roles>
  <users>
    <default>
      <password></password>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants><query>GRANT owner</query><query>GRANT analyst</query></grants>
    </default>
  </users>
</clickhouse>
"""

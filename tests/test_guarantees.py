"""Every promise names the test that proves it, and the test is there."""

import re
from functools import cache
from pathlib import Path

import pytest

from ops.cli import COMMANDS

ROOT = Path(__file__).parents[1]
REGISTER = (ROOT / "tests" / "GUARANTEES.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!promise|-)(.+?) \| (.+) \|$", REGISTER, re.MULTILINE)
PROMISES = re.findall(r"^- .+$", README.split("\n## Promises\n")[1].split("\n## ")[0], re.MULTILINE)


def anchor(title: str) -> str:
    """A heading's anchor, as it is linked to."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def sections(text: str) -> set[str]:
    return {anchor(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@cache
def defined(name: str) -> set[str]:
    """Functions and classes of a file, and names it gives to others' tests."""
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.findall(r"^ *(?:async )?def (\w+)|^class (\w+)|^(\w+) = ", text, re.MULTILINE)
    return {function or klass or given for function, klass, given in found}


@pytest.mark.parametrize(("promise", "proof"), ROWS, ids=[promise[:60] for promise, _ in ROWS])
def test_every_row_names_a_test_that_exists(promise: str, proof: str) -> None:
    named = re.findall(r"`(tests/[^`]+)`", proof)
    commands = re.findall(r"`refund-bench ([a-z-]+)[^`]*`", proof)
    assert named or commands, f"{promise}: names neither a test nor a command"
    assert set(commands) <= set(COMMANDS)
    for node in named:
        file, *parts = node.split("::")
        assert (ROOT / file).exists(), node
        if parts:
            assert parts[0] in defined(file), node
            assert parts[0].startswith(("test_", "Test")), f"{node} is no test"


def test_the_register_is_not_empty() -> None:
    assert len(ROWS) > 60
    assert len(PROMISES) >= 5


@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise_of_the_readme_links_to_a_section_with_rows(promise: str) -> None:
    linked = re.findall(r"\(tests/GUARANTEES\.md#([\w-]+)\)", promise)
    assert linked, "links to no section of the register"
    assert set(linked) <= sections(REGISTER)
    for section in re.split(r"^## ", REGISTER, flags=re.MULTILINE)[1:]:
        if anchor(section.splitlines()[0]) in linked:
            assert "| `" in section


def test_every_link_of_the_readme_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", README):
        assert (ROOT / target).exists(), target


def test_every_setting_of_the_code_is_in_the_readmes_table_and_no_other() -> None:
    used: set[str] = set()
    for package in ("schemas", "streams", "topologies", "sinks", "ops"):
        for file in (ROOT / package).rglob("*.py"):
            used |= set(re.findall(r"\bREFUND_BENCH_[A-Z]+(?:_[A-Z]+)*", file.read_text("utf-8")))
    used = {name for name in used if not name.startswith("REFUND_BENCH_KAFKA")}
    table = README.split("\n## Configuration\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    written: set[str] = set()
    for row in rows:
        names = re.findall(r"`([A-Z_]+)\*?`", row)
        written |= {n if n.startswith("REFUND") else names[0] + n for n in names}
    written = {name for name in written if not name.startswith("REFUND_BENCH_KAFKA")}
    assert written == used

"""README's section on money: what each command there prints is what the section says it prints."""

import re
from pathlib import Path

import pytest

from tests.unit.cli.calling import Cli

README = Path("README.md").read_text("utf-8")
SECTION = README.partition("\n## Money\n")[2].partition("\n## ")[0]
EXAMPLES = re.findall(
    r"^\$ grep (\S+) (\S+) \| \.venv/bin/refund-bench price -\n(.*?)(?=^\$ |^```)", SECTION, re.M | re.S
)  # fmt: skip


def test_every_console_example_of_the_section_is_tried() -> None:
    assert len(EXAMPLES) == len(re.findall(r"^\$ ", SECTION, re.M)) >= 10


@pytest.mark.parametrize(("pattern", "file", "printed"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_the_command_prints_what_the_section_says(
    cli: Cli, pattern: str, file: str, printed: str
) -> None:
    (case,) = [line for line in Path(file).read_text("utf-8").splitlines() if pattern in line]
    answer = cli("price", "-", stdin=case.encode())
    assert (answer.code, answer.out) == (0, printed)

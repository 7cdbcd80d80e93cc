"""What `audit` refuses, before anything is read."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import Cli


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("verify", "--since", "yesterday"), "--since"),
        (("verify", "--since", "2026-11-30", "--until", "2026-11-30"), "--until"),
        (("verify", "--heads", "nowhere.json"), "nowhere.json"),
        (("verify", "--zip", "nowhere.zip"), "nowhere.zip"),
        (("recount", "--from", "memory"), "--from"),
        (("recount", "--until", "x"), "--until"),
        (("heads", "--out", "heads", "--day", "30.11.2026"), "--day"),
        (("heads", "--out", "heads", "--day", "2999-01-01"), "has not begun"),
        (("export", "d-1", "--out", "a.zip", "--from", "memory"), "--from"),
        (("export", "d-1", "--out", "a.zip", "--as", "two words"), "--as"),
    ],
)
def test_bad_input_is_refused_by_its_name(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = cli("audit", *arguments, "--json")
    assert answer.code == 2
    assert said in answer.json["error"]
    assert list(tmp_path.iterdir()) == []


def test_an_export_is_never_written_over_a_file(cli: Cli, tmp_path: Path) -> None:
    there = tmp_path / "a.zip"
    there.write_bytes(b"kept")
    answer = cli("audit", "export", "d-1", "--out", str(there), "--json")
    assert (answer.code, there.read_bytes()) == (2, b"kept")


def test_with_no_store_it_says_which_are_down(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE", "http://127.0.0.1:1")
    for arguments in (("verify", "d-1"), ("recount",), ("verify", "--since", "2026-11-30")):
        answer = cli("audit", *arguments, "--json")
        assert answer.code == 3
        assert "Kafka" in answer.json["error"]
        assert "ClickHouse" in answer.json["error"]

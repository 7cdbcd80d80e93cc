"""What `archive` and `privacy` refuse, before anything is read."""

import json
import socket
from pathlib import Path

import pytest

from ops.archive.folder import Archive, ArchiveError
from tests.unit.cli.calling import Cli


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("archive", "run", "--until", "yesterday"), "--until"),
        (("archive", "run"), "REFUND_BENCH_ARCHIVE"),
        (("archive", "run", "--to", "s3://bucket/refunds"), "s3fs"),
        (("archive", "run", "--to", "nothing://bucket"), "nothing"),
        (("archive", "verify"), "REFUND_BENCH_ARCHIVE"),
        (("privacy", "erase", "--customer", "two words"), "--customer"),
        (("privacy", "erase", "--customer", "c", "--reason", "because I say so"), "--reason"),
        (("privacy", "erase", "--customer", "c", "--as", "two words"), "--as"),
    ],
)
def test_bad_input_is_refused_by_its_name(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.delenv("REFUND_BENCH_ARCHIVE", raising=False)
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    answer = cli(*arguments, "--json")
    assert answer.code == 2
    assert said in answer.json["error"] + answer.json["remedy"]


def test_without_kafka_nothing_is_archived_or_erased_since_it_could_not_be_recorded(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    monkeypatch.setenv("REFUND_BENCH_INSTALLATION_KEY", "a key for these tests")
    for arguments in (("archive", "run", "--to", str(tmp_path)), ("privacy", "erase", "--customer", "c")):  # fmt: skip
        answer = cli(*arguments, "--json")
        assert answer.code == 3
        assert "Kafka" in answer.json["error"]
    assert list(tmp_path.iterdir()) == []


def test_two_runs_at_once_are_kept_apart_and_a_dead_one_is_no_hindrance(tmp_path: Path) -> None:
    archive = Archive(str(tmp_path))
    with (
        archive.alone("asha"),
        pytest.raises(ArchiveError, match="another run"),
        archive.alone("bola"),
    ):
        pass
    assert archive.names() == []
    dead = {"host": socket.gethostname(), "pid": 99_999_999, "at": "2026-01-01T00:00:00+00:00"}
    archive.write("lock.json", json.dumps(dead).encode())
    with archive.alone("chidi"):
        assert archive.names() == ["lock.json"]

"""`query`, `report` and `clickhouse` against the endpoint, as an analyst with a password would use them."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet  # type: ignore[import-untyped]
import pytest

from ops.local.clickhouse_users import write_users
from sinks import migrate, query
from sinks.clickhouse_sink import ClickHouseSink, stop_at_refused
from sinks.connection import Address, connect
from sinks.drift import differences
from sinks.migrate import SchemaError
from sinks.writer import Writer
from tests.integration.test_analyst_queries import what_happened
from tests.integration.test_sink import consume
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.unit.cli.calling import Cli
from tests.unit.sinks.sample_events import WORDS

OWNER, ANALYST = ("refund_bench", "owner's"), ("analyst", "pass")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    folder = tmp_path_factory.mktemp("commands")
    users = {OWNER[0]: ("owner", OWNER[1]), ANALYST[0]: ("analyst", ANALYST[1])}
    with clickhouse_process(folder, write_users(folder / "users.json", users)) as running:  # type: ignore[arg-type]
        address = Address("127.0.0.1", running.port, user=OWNER[0], password=OWNER[1])
        writer = Writer(lambda: connect(address), migrate.migrate)
        consume(ClickHouseSink(writer, stop_at_refused), what_happened())
        writer.close()
        yield running


@pytest.fixture
def cli(server: ClickHouseProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    for name, value in {
        "": server.url, "_USER": OWNER[0], "_PASSWORD": OWNER[1],
        "_ANALYST": ANALYST[0], "_ANALYST_PASSWORD": ANALYST[1],
    }.items():  # fmt: skip
        monkeypatch.setenv(f"REFUND_BENCH_CLICKHOUSE{name}", value)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return Cli()


PERIOD = ("--since", "2026-11-01", "--until", "2026-12-02", "--time-zone", "Asia/Kolkata")


def test_the_split_rate_by_category_is_one_command(cli: Cli) -> None:
    answer = cli("query", "split_rate", *PERIOD, "--json")
    assert answer.code == 0
    found = answer.json
    assert (found["name"], found["time_zone"], found["notes"]) == ("split_rate", "Asia/Kolkata", [])
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
    assert {row["category"]: row["split_rate"] for row in rows}["QUALITY"] == 1
    table = cli("query", "split_rate", *PERIOD)
    assert "QUALITY" in table.out
    assert "Asia/Kolkata" in table.out


def test_csv_and_parquet_hold_the_same_rows(cli: Cli, tmp_path: Path) -> None:
    rows = cli("query", "payouts", *PERIOD, "--json").json["rows"]
    text = cli("query", "payouts", *PERIOD, "--format", "csv").out
    header, *body = csv.reader(io.StringIO(text))
    assert len(body) == len(rows)
    file = tmp_path / "payouts.parquet"
    assert cli("query", "payouts", *PERIOD, "--format", "parquet", "--out", str(file)).code == 0
    table = pyarrow.parquet.read_table(file)
    assert table.column_names == header
    assert table.column("amount_minor").to_pylist() == [row[header.index("amount_minor")] for row in rows]  # fmt: skip


def test_ten_years_are_cut_and_the_answer_says_so(cli: Cli) -> None:
    answer = cli("query", "counts", "--since", "2016-01-01", "--until", "2026-12-02", "--json")
    assert answer.code == 0
    assert "400 days" in answer.json["notes"][0]
    assert answer.json["since"].startswith("2025-10-28")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (("split_rates",), "did you mean 'split_rate'"),
        (("counts", "--since", "2026-13-01"), "not a day or a moment"),
        (("counts", "--since", "1' OR 1=1 --"), "not a day or a moment"),
        (("counts", "--since", "2026-12-02", "--until", "2026-12-01"), "before it begins"),
        (("counts", "--time-zone", "UTC') UNION ALL SELECT text FROM disputes --"), "no time zone"),
        (("counts", "--clock", "filed' OR '1'='1"), "'filed' or 'settled'"),
        (("../migrate",), "there is no query"),
        (("counts", "--format", "xml"), "table, json, csv, parquet"),
        (("counts", "--format", "parquet"), "--out"),
        (("counts", "--format", "csv", "--out", "/no/such/folder/x.csv"), "--out"),
    ],
)
def test_a_bad_question_is_refused_with_the_remedy(cli: Cli, call: tuple[str, ...], words: str) -> None:  # fmt: skip
    answer = cli("query", *call)
    assert answer.code == 2
    assert words in answer.err


def test_a_wrong_password_is_said_and_not_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD", "not-it-at-all")
    answer = cli("query", "counts", "--json")
    assert answer.code == 3
    assert "ClickHouse" in answer.json["error"]
    assert "not-it-at-all" not in answer.out + answer.err


def test_the_report_is_one_file_that_loads_nothing_and_says_simulated(
    cli: Cli, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    answer = cli("report", "--out", str(out), *PERIOD, "--json")
    assert answer.code == 0, answer.err
    page = out.read_text(encoding="utf-8")
    assert answer.json["bytes"] == len(page.encode())
    assert "SIMULATED" in page
    assert page.count("<svg") >= 9
    assert not re.search(r"<(script|link|img|iframe)\b|@import|url\(\s*['\"]?(?!#)", page)
    assert not re.search(r"(?:src|href)\s*=\s*['\"](?!#)", page)
    assert WORDS not in page
    assert "Paid by day and category, INR" in page


def test_a_report_of_an_empty_period_says_so(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "empty.html"
    assert cli("report", "--out", str(out), "--since", "2020-01-01", "--until", "2020-02-01").code == 0  # fmt: skip
    page = out.read_text(encoding="utf-8")
    assert "Nothing in this period" in page
    assert "SIMULATED" not in page


def test_status_is_true_and_grants_name_every_view_and_no_password(cli: Cli) -> None:
    status = cli("clickhouse", "status", "--json")
    assert (status.code, status.json["altered_by_hand"]) == (0, [])
    assert cli("clickhouse", "migrate", "--json").json["ran"] == []
    sql = cli("clickhouse", "grants", "--user", "maria").out
    assert "CREATE USER IF NOT EXISTS maria" in sql
    assert "readonly = 2" in sql
    assert "GRANT SELECT ON default.v_disputes TO maria;" in sql
    assert ANALYST[1] not in sql
    assert cli("clickhouse", "grants", "--user", "x; DROP USER y").code == 2
    back = cli("clickhouse", "migrate", "--to", "3")
    assert (back.code, "--yes" in back.err) == (2, True)
    assert cli("clickhouse", "migrate", "--to", "9999").code == 2


def test_what_was_altered_by_hand_is_named_by_status_and_by_query(
    cli: Cli, server: ClickHouseProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.client(user=OWNER[0], password=OWNER[1]) as owner:
        owner.command("CREATE DATABASE altered")
    address = Address(
        "127.0.0.1", server.port, database="altered", user=OWNER[0], password=OWNER[1]
    )
    with connect(address) as client:
        migrate.migrate(client)
        versions = range(1, len(migrate.migrations()) + 1)
        assert differences(client, versions) == []
        client.command("ALTER TABLE letters DROP COLUMN kind")
        client.command("ALTER TABLE payments ADD COLUMN mine UInt8")
        client.command("ALTER TABLE reviews MODIFY COLUMN reviewer LowCardinality(String)")
        client.command("DROP VIEW v_decisions")
        said = differences(client, versions)
        assert said == [
            "view v_decisions is missing",
            "letters.kind is missing",
            "payments.mine was added",
            "reviews.reviewer is LowCardinality(String), not String",
        ]
        with pytest.raises(SchemaError, match="altered by hand"):
            query.run("escalation_rate", client, None, None)
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE", f"{server.url}/altered")
    monkeypatch.delenv("REFUND_BENCH_CLICKHOUSE_ANALYST")
    answer = cli("clickhouse", "status", "--json")
    assert (answer.code, answer.json["altered_by_hand"]) == (1, said)
    asked = cli("query", "escalation_rate")
    assert (asked.code, "clickhouse status" in asked.err) == (2, True)
    assert cli("clickhouse", "migrate", "--to", "0", "--yes").code == 0

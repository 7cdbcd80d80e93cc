"""clickhouse-connect over HTTP finds a ClickHouse server in the chDB endpoint."""

import io
import json
import signal
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import HTTPError

import clickhouse_connect
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError, ProgrammingError

from tests.support.clickhouse import ClickHouseProcess, clickhouse_process

TABLE = (
    "CREATE TABLE {} (id UInt64, text String, version UInt32, at DateTime64(3, 'UTC'))"
    " ENGINE = ReplacingMergeTree(version) ORDER BY id"
)
COLUMNS = ["id", "text", "version", "at"]
AT = datetime(2026, 3, 1, 20, 15, tzinfo=UTC)


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    with clickhouse_process(tmp_path_factory.mktemp("clickhouse")) as running:
        yield running


@pytest.fixture
def client(process: ClickHouseProcess) -> Iterator[Client]:
    """An empty table `t` in a database of this test's own."""
    with process.client() as admin:
        admin.command("DROP DATABASE IF EXISTS test")
        admin.command("CREATE DATABASE test")
        with process.client("test") as mine:
            mine.command(TABLE.format("t"))
            yield mine


def row(number: int, text: str = "words", version: int = 1) -> list[object]:
    return [number, text, version, AT]


def post(process: ClickHouseProcess, body: bytes = b"", **params: str) -> tuple[int, bytes]:
    url = f"{process.url}/?{urllib.parse.urlencode(params)}"
    request = urllib.request.Request(url, data=body, method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.status, answer.read()


def test_a_replaced_row_shows_once_and_newest_under_final(client: Client) -> None:
    client.insert("t", [row(1, "old"), row(2)], column_names=COLUMNS)
    client.insert("t", [row(1, "new", version=2)], column_names=COLUMNS)
    found = client.query("SELECT id, text, at FROM t FINAL ORDER BY id", tz_mode="aware")
    assert found.result_rows == [(1, "new", AT), (2, "words", AT)]


@pytest.mark.parametrize("compress", [True, False, "lz4", "zstd", "gzip"])
def test_twenty_thousand_rows_arrive_in_every_compression(
    process: ClickHouseProcess, client: Client, compress: bool | str
) -> None:
    rows = [row(number, f"row {number} " * 20) for number in range(20_000)]
    with clickhouse_connect.get_client(
        host="127.0.0.1", port=process.port, database="test", compress=compress
    ) as mine:
        summary = mine.insert("t", rows, column_names=COLUMNS)
        assert summary.written_rows == 20_000
        counted = mine.query("SELECT count(), uniqExact(id), sum(length(text)) FROM t")
    lengths = sum(len(str(one[1])) for one in rows)
    assert counted.result_rows == [(20_000, 20_000, lengths)]


@pytest.mark.parametrize(
    "text",
    [
        "first\n\nafter a blank line\n",
        "बिरयानी नहीं आई 😡 ₹640 é\u200b\u202e",
        'it\'s \\ "quoted" `so` -- and /* so */ VALUES (1) FORMAT CSV;',
        "tab\tNUL\0end",
        "",
    ],
)
def test_text_comes_back_as_it_went_in_by_every_way_in(client: Client, text: str) -> None:
    client.insert("t", [row(1, text)], column_names=COLUMNS)
    as_json = json.dumps({"id": 2, "text": text, "version": 1})
    client.raw_insert("t", insert_block=as_json, fmt="JSONEachRow")
    client.raw_insert(
        "t",
        insert_block=(part for part in [as_json[:9].encode(), as_json[9:].encode()]),
        fmt="JSONEachRow",
    )
    client.command("INSERT INTO t (id, text) VALUES (3, {text:String})", parameters={"text": text})
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    client.command(f"INSERT INTO t (id, text) VALUES (4, '{escaped}')")
    client.command(f"INSERT INTO t (id, text) SELECT 5, '{escaped}'")
    found = client.query("SELECT id, text FROM t FINAL ORDER BY id").result_rows
    assert found == [(number, text) for number in (1, 2, 3, 4, 5)]
    same = client.query(
        "SELECT count() FROM t FINAL WHERE text = {x:String}", parameters={"x": text}
    )
    assert same.result_rows == [(5,)]


def test_bound_parameters_of_every_kind(client: Client) -> None:
    found = client.query(
        "SELECT {n:UInt64}, {s:String}, {d:DateTime64(3, 'UTC')}, {a:Array(String)}, {o:Nullable(Int8)}",
        parameters={"n": 7, "s": "a'b", "d": AT, "a": ["x", "y'z"], "o": None},
        tz_mode="aware",
    )
    assert found.result_rows == [(7, "a'b", AT, ["x", "y'z"], None)]


def test_very_long_parameters_travel_as_a_form(process: ClickHouseProcess) -> None:
    with clickhouse_connect.get_client(
        host="127.0.0.1", port=process.port, form_encode_query_params=True
    ) as mine:
        long = "x" * 100_000
        found = mine.query("SELECT length({s:String})", parameters={"s": long})
    assert found.result_rows == [(100_000,)]


def test_bad_sql_is_an_error_with_its_code_and_the_connection_lives_on(client: Client) -> None:
    for sql, code in [("SELEC 1", 62), ("SELECT * FROM nowhere", 60), ("SELECT toUInt8('x')", 6)]:
        with pytest.raises(DatabaseError) as failed:
            client.query(sql)
        assert failed.value.code == code
    assert client.query("SELECT 1").result_rows == [(1,)]


def test_a_bad_insert_is_an_error_and_writes_nothing(client: Client) -> None:
    with pytest.raises(DatabaseError) as failed:
        client.raw_insert("t", insert_block="not json\n", fmt="JSONEachRow")
    assert failed.value.code in (26, 27, 117)
    with pytest.raises(DatabaseError):
        client.command("INSERT INTO nowhere VALUES (1)")
    assert client.query("SELECT count() FROM t").result_rows == [(0,)]


def test_the_raw_answer_to_an_error_is_a_status_and_an_exception_code(
    process: ClickHouseProcess,
) -> None:
    with pytest.raises(HTTPError) as failed:
        post(process, b"SELECT * FROM nowhere", query_id="mine")
    assert failed.value.code == 404
    assert failed.value.headers["X-ClickHouse-Exception-Code"] == "60"
    assert failed.value.headers["X-ClickHouse-Query-Id"] == "mine"
    assert failed.value.read().startswith(b"Code: 60. DB::Exception")


def test_settings_hold_for_their_request_only(client: Client) -> None:
    asked = "SELECT getSetting('max_block_size')"
    usual = client.query(asked).result_rows
    assert client.query(asked, settings={"max_block_size": 77}).result_rows == [(77,)]
    assert client.query(asked).result_rows == usual
    with pytest.raises((ProgrammingError, DatabaseError)):
        client.query("SELECT 1", settings={"no_such_setting": 1})
    with pytest.raises(DatabaseError):
        client.command("DROP TABLE t", settings={"readonly": 1})
    client.command("DROP TABLE t")


def test_a_session_keeps_what_it_set_and_nobody_else_sees_it(
    process: ClickHouseProcess, client: Client
) -> None:
    client.command("SET max_block_size = 99")
    client.command("CREATE TEMPORARY TABLE mine (a UInt8)")
    assert client.query("SELECT getSetting('max_block_size')").result_rows == [(99,)]
    assert client.query("SELECT count() FROM mine").result_rows == [(0,)]
    with process.client("test") as other:
        assert other.query("SELECT getSetting('max_block_size')").result_rows != [(99,)]
        with pytest.raises(DatabaseError):
            other.query("SELECT * FROM mine")
    post(process, b"SET max_block_size = 11")
    assert post(process, b"SELECT getSetting('max_block_size')")[1] != b"11\n"


def test_two_at_once_in_one_session_are_refused_not_mixed(process: ClickHouseProcess) -> None:
    def slow(_: int) -> int:
        try:
            post(process, b"SELECT sleep(1)", session_id="one")
        except HTTPError as error:
            return int(error.headers["X-ClickHouse-Exception-Code"])
        return 0

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(slow, range(2))) == [0, 373]


def test_ten_readers_and_a_writer_at_once(process: ClickHouseProcess, client: Client) -> None:
    client.insert("t", [row(number) for number in range(1000)], column_names=COLUMNS)

    def read(_: int) -> set[int]:
        with process.client("test") as mine:
            counts = [
                mine.query("SELECT count() FROM t FINAL").result_rows[0][0] for _ in range(20)
            ]
        return set(counts)

    with ThreadPoolExecutor(10) as pool:
        reading = pool.map(read, range(10))
        for version in range(2, 12):
            again = [row(number, "again", version) for number in range(1000)]
            client.insert("t", again, column_names=COLUMNS)
        assert set().union(*reading) == {1000}


def test_formats_people_ask_for(process: ClickHouseProcess, client: Client) -> None:
    client.insert("t", [row(1, "a,b"), row(2)], column_names=COLUMNS)
    sql = "SELECT id, text FROM t ORDER BY id"
    assert client.raw_query(sql, fmt="CSV") == b'1,"a,b"\n2,"words"\n'
    assert client.raw_query(sql, fmt="TabSeparated") == b"1\ta,b\n2\twords\n"
    answer = json.loads(client.raw_query(sql, fmt="JSON"))
    assert answer["data"] == [{"id": 1, "text": "a,b"}, {"id": 2, "text": "words"}]
    table = pyarrow.parquet.read_table(io.BytesIO(client.raw_query(sql, fmt="Parquet")))
    assert table.column("id").to_pylist() == [1, 2]
    assert client.query_df(sql)["text"].tolist() == ["a,b", "words"]
    assert (
        post(process, b"SELECT 1 AS a FORMAT JSONEachRow", default_format="CSV")[1] == b'{"a":1}\n'
    )
    assert list(client.query(f"{sql} LIMIT 0").column_names) == ["id", "text"]


def test_answers_can_be_streamed_by_row_by_block_and_raw(client: Client) -> None:
    sql = "SELECT number, toString(number) FROM numbers(200000)"
    with client.query_rows_stream(sql) as rows:
        assert sum(row[0] for row in rows) == 199_999 * 100_000
    with client.query_row_block_stream(sql, settings={"max_block_size": 10_000}) as blocks:
        sizes = [len(block) for block in blocks]
    assert sum(sizes) == 200_000
    assert len(sizes) > 1
    with client.raw_stream(f"{sql} LIMIT 3", fmt="CSV") as stream:
        assert b"".join(stream) == b'0,"0"\n1,"1"\n2,"2"\n'


def test_parquet_goes_in_too(client: Client) -> None:
    block = client.raw_query("SELECT number AS id, 'p' AS text FROM numbers(10)", fmt="Parquet")
    client.raw_insert("t", column_names=["id", "text"], insert_block=block, fmt="Parquet")
    assert client.query("SELECT count() FROM t").result_rows == [(10,)]


def test_ping_and_an_empty_request_answer(process: ClickHouseProcess, client: Client) -> None:
    assert client.ping()
    with urllib.request.urlopen(f"{process.url}/", timeout=5) as answer:
        assert answer.read() == b"Ok.\n"


def test_acknowledged_rows_survive_kill_9(tmp_path: Path) -> None:
    with clickhouse_process(tmp_path) as process:
        with process.client() as client:
            client.command(TABLE.format("t"))
            acknowledged = 0
            for batch in range(10):
                rows = [row(batch * 100 + number) for number in range(100)]
                acknowledged += client.insert("t", rows, column_names=COLUMNS).written_rows
            process.kill()
        process.start()
        with process.client() as client:
            assert client.query("SELECT count() FROM t FINAL").result_rows == [(acknowledged,)]


def test_it_starts_within_three_seconds_and_stops_when_told(tmp_path: Path) -> None:
    started = time.monotonic()
    with clickhouse_process(tmp_path) as process:
        assert time.monotonic() - started < 3
        with process.client() as client:
            client.command(TABLE.format("t"))
        assert process.stop(signal.SIGTERM) == 0

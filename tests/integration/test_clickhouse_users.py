"""The endpoint's users: the owner does everything, an analyst reads the views and nothing else."""

import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import DatabaseError

from ops.local.clickhouse_users import FIXED_SETTINGS, Users, WrongUsers, write_users
from sinks import migrate, query
from sinks.clickhouse_sink import ClickHouseSink, stop_at_refused
from sinks.connection import Address, connect
from sinks.writer import Writer
from tests.integration.test_sink import consume, kafka_of
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.unit.sinks.sample_events import WORDS

OWNER, ANALYST = ("refund_bench", "owner's s3cret:"), ("analyst", "pass")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    """A server with two users and ten disputes."""
    folder = tmp_path_factory.mktemp("users")
    users = write_users(
        folder / "users.json",
        {OWNER[0]: ("owner", OWNER[1]), ANALYST[0]: ("analyst", ANALYST[1])},
    )
    with clickhouse_process(folder, users) as running:
        writer = Writer(lambda: as_user(running, *OWNER), migrate.migrate)
        consume(ClickHouseSink(writer, stop_at_refused), kafka_of(10))
        writer.close()
        yield running


def as_user(server: ClickHouseProcess, user: str, password: str) -> Client:
    return connect(Address("127.0.0.1", server.port, user=user, password=password))


@pytest.fixture
def analyst(server: ClickHouseProcess) -> Iterator[Client]:
    with as_user(server, *ANALYST) as client:
        yield client


@pytest.mark.parametrize(
    ("user", "password"),
    [("analyst", "wrong"), ("analyst", ""), ("refund_bench", "pass"), ("default", ""), ("nobody", "x")],
)  # fmt: skip
def test_a_wrong_password_or_an_unknown_user_is_refused(
    server: ClickHouseProcess, user: str, password: str
) -> None:
    with pytest.raises(DatabaseError) as refused:
        as_user(server, user, password)
    assert refused.value.code == 516


def test_credentials_come_by_header_or_url_as_a_server_takes_them(
    server: ClickHouseProcess,
) -> None:
    ask = f"{server.url}/?query=SELECT+1"
    headers = {"X-ClickHouse-User": ANALYST[0], "X-ClickHouse-Key": ANALYST[1]}
    with urllib.request.urlopen(urllib.request.Request(ask, headers=headers), timeout=5) as answer:
        assert answer.read() == b"1\n"
    with urllib.request.urlopen(f"{ask}&user=analyst&password=pass", timeout=5) as answer:
        assert answer.read() == b"1\n"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(ask, timeout=5)
    assert refused.value.code == 403


def test_an_analyst_reads_every_view_and_asks_every_canned_query(analyst: Client) -> None:
    views = [row[0] for row in analyst.query("SHOW TABLES").result_rows]
    assert "v_disputes" in views
    assert all(view.startswith("v_") for view in views)
    for view in views:
        assert WORDS not in str(analyst.query(f"SELECT * FROM {view}").result_rows)
    for name in query.names():
        query.run(name, analyst, None, None)


REFUSED = [
    "SELECT text FROM disputes",
    "SELECT * FROM default.judge_rulings",
    "SELECT (SELECT any(raw_reply) FROM judge_rulings)",
    "SELECT 'x' IN (SELECT text FROM disputes)",
    "SELECT 'x' IN disputes",
    "SELECT * FROM merge('default', '.*')",
    "SELECT * FROM merge('system', 'processes')",
    "SELECT joinGet('disputes', 'text', 1)",
    "SELECT * FROM view(SELECT * FROM disputes)",
    "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))",
    "SELECT * FROM loop(disputes)",
    "SELECT * FROM mergeTreeIndex(default, disputes)",
    "SELECT * FROM file('/etc/passwd', LineAsString)",
    "SELECT file('/etc/passwd')",
    "SELECT `file`/**/('/etc/passwd')",
    "SELECT arrayMap(file, ['/etc/passwd'])",
    "SELECT arrayMap(x -> file(x), ['/etc/passwd'])",
    "SELECT * APPLY(file) FROM (SELECT '/etc/passwd')",
    "WITH file AS f SELECT f('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)",
    "SELECT * FROM s3('http://127.0.0.1:9/bucket/key', 'CSV', 'a Int8')",
    "SELECT * FROM remote('127.0.0.1', 'default', 'disputes')",
    "SELECT * FROM python('x')",
    "SELECT * FROM executable('x', TSV, 'a Int8')",
    "SELECT 1 INTO OUTFILE '/tmp/refund-bench-leak'",
    "SELECT 1 INTO/**/OUTFILE '/tmp/refund-bench-leak' FORMAT CSV",
    "SELECT * FROM system.processes",
    "SELECT * FROM system.users",
    "SELECT * FROM system.server_settings",
    "SELECT 1 IN system.named_collections",
    "SELECT getServerSetting('path')",
    "SELECT aiGenerate('x', 'y')",
    "SET ROLE owner",
    "SET readonly = 0",
    "SELECT 1; SET ROLE owner",
    "SELECT 1 SETTINGS readonly = 0",
    "USE system",
    "EXPLAIN SELECT * FROM v_disputes",
    "SHOW CREATE TABLE disputes",
    "INSERT INTO disputes (dispute_id) VALUES ('x')",
    "INSERT INTO FUNCTION file('/tmp/refund-bench-leak') SELECT 1",
    "CREATE TABLE mine (a UInt8) ENGINE = Memory",
    "CREATE TEMPORARY TABLE mine (a UInt8)",
    "ALTER TABLE disputes DELETE WHERE 1",
    "TRUNCATE TABLE disputes",
    "DROP VIEW v_disputes",
    "GRANT owner TO analyst",
    "BACKUP TABLE disputes TO File('/tmp/refund-bench-leak')",
    "KILL QUERY WHERE 1",
    "SYSTEM FLUSH LOGS",
]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_an_analyst_reaches_no_table_no_file_no_network_and_writes_nothing(
    server: ClickHouseProcess, sql: str
) -> None:
    for session in ("", "&session_id=mine"):
        url = f"{server.url}/?user={ANALYST[0]}&password={ANALYST[1]}{session}"
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url, data=sql.encode(), timeout=10)
        code = int(refused.value.headers["X-ClickHouse-Exception-Code"])
        assert code in (60, 62, 164, 497), (sql, code, refused.value.read())
    assert not Path("/tmp/refund-bench-leak").exists()


def test_an_analysts_parameters_are_values_not_sql(analyst: Client) -> None:
    with pytest.raises(DatabaseError):
        analyst.query("SELECT * FROM {t:Identifier}", parameters={"t": "disputes"})
    with pytest.raises(DatabaseError):
        analyst.query("SELECT * FROM {t:Identifier}", parameters={"t": "system.processes"})
    bound = analyst.query("SELECT {x:String}", parameters={"x": "'; SET ROLE owner; --"})
    assert bound.result_rows == [("'; SET ROLE owner; --",)]


def test_an_analysts_settings_are_taken_and_readonly_is_not(
    server: ClickHouseProcess, analyst: Client
) -> None:
    asked = "SELECT getSetting('max_block_size'), getSetting('readonly')"
    assert analyst.query(asked, settings={"max_block_size": 77}).result_rows == [(77, 2)]
    url = f"{server.url}/?user=analyst&password=pass&readonly=0"
    with urllib.request.urlopen(url, data=asked.encode(), timeout=5) as answer:
        assert answer.read().split()[1] == b"2"


def code_of(
    server: ClickHouseProcess, user: tuple[str, str], sql: str, settings: dict[str, str]
) -> int:
    """The engine's code for a refused statement, 0 for an answer."""
    given = urllib.parse.urlencode({"user": user[0], "password": user[1], **settings})
    try:
        urllib.request.urlopen(f"{server.url}/?{given}", data=sql.encode(), timeout=10).close()
    except urllib.error.HTTPError as refused:
        return int(refused.headers["X-ClickHouse-Exception-Code"])
    return 0


@pytest.mark.parametrize("user", [OWNER, ANALYST])
@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("additional_result_filter", "length(file('/etc/passwd')) > 1", "CSV"),
        (
            "additional_table_filters",
            "{'v_disputes': 'length(file(\\'/etc/passwd\\')) > 1'}",
            "CSV",
        ),
        ("format_template_row", "/etc/passwd", "Template"),
        ("format_template_resultset", "/etc/passwd", "Template"),
        ("output_format_schema", "/tmp/refund-bench-leak", "Protobuf"),
        ("implicit_table_at_top_level", "system.processes", "CSV"),
        ("dialect", "kusto", "CSV"),
    ],
)
def test_no_setting_reads_a_file_or_another_table_by_whatever_way_it_comes(
    server: ClickHouseProcess, user: tuple[str, str], name: str, value: str, form: str
) -> None:
    ask = f"SELECT dispute_id FROM v_disputes FORMAT {form}"
    quoted = value if value.startswith("{") else "'" + value.replace("'", "\\'") + "'"
    inside = f"SELECT * FROM (SELECT 1 SETTINGS {name} = {quoted})"
    assert code_of(server, user, f"{ask} SETTINGS {name} = {quoted}", {}) == 452
    if user == ANALYST:
        # The engine takes such settings without looking; the guard does not.
        assert code_of(server, user, inside, {}) == 497
        assert code_of(server, user, f"{inside[15:-1]} UNION ALL SELECT 2", {}) == 497
        assert code_of(server, user, f"WITH x AS {inside[14:]} SELECT * FROM x", {}) == 497
    assert code_of(server, user, ask, {name: value}) == 452
    assert code_of(server, user, ask, {name: value, "session_id": "settings"}) == 452
    assert (
        code_of(server, user, ask.removesuffix(f" FORMAT {form}"), {"session_id": "settings"}) == 0
    )
    assert not Path("/tmp/refund-bench-leak").exists()


HARMLESS = frozenset(
    [
        "bool_false_representation",
        "bool_true_representation",
        "chdb_client_name",
        "column_names_for_schema_inference",
        "compatibility",
        "compression",
        "count_distinct_implementation",
        "database",
        "default_format",
        "distributed_cache_client_id",
        "distributed_cache_file_cache_name",
        "distributed_plan_force_exchange_kind",
        "errors_output_format",
        "exclude_materialize_skip_indexes_on_insert",
        "filesystem_cache_name",
        "force_data_skipping_indices",
        "force_optimize_projection_name",
        "format",
        "format_csv_null_representation",
        "format_custom_field_delimiter",
        "format_custom_result_after_delimiter",
        "format_custom_result_before_delimiter",
        "format_custom_row_after_delimiter",
        "format_custom_row_before_delimiter",
        "format_custom_row_between_delimiter",
        "format_json_object_each_row_column_for_object_name",
        "format_regexp",
        "format_schema_message_name",
        "format_template_resultset_format",
        "format_template_row_format",
        "format_template_rows_between_delimiter",
        "format_tsv_null_representation",
        "framing_output_format",
        "function_implementation",
        "iceberg_metadata_compression_method",
        "ignore_data_skipping_indices",
        "input_format",
        "input_format_mysql_dump_table_name",
        "input_format_orc_reader_time_zone_name",
        "insert_deduplication_token",
        "local_filesystem_read_method",
        "log_comment",
        "network_compression_method",
        "output_format",
        "output_format_avro_codec",
        "output_format_avro_confluent_subject",
        "output_format_avro_string_column_pattern",
        "output_format_image_terminal_mode",
        "output_format_orc_writer_time_zone_name",
        "output_format_pretty_grid_charset",
        "output_format_sql_insert_table_name",
        "preferred_optimize_projection_name",
        "query_cache_tag",
        "remote_filesystem_read_method",
        "s3_upload_checksum_algorithm",
        "schema_inference_hints",
        "send_logs_source_regexp",
        "temporary_files_codec",
        "workload",
    ]
)
"""Settings of this engine that are texts, and neither an expression nor a table nor a path that is opened."""


def test_every_setting_that_is_a_text_is_fixed_or_known_to_be_harmless(analyst: Client) -> None:
    """A newer engine may bring another that reads a file."""
    asked = "SELECT name FROM system.settings WHERE type IN ('String', 'Map')"
    texts = {str(row[0]) for row in analyst.query(asked).result_rows}
    assert texts - HARMLESS - set(FIXED_SETTINGS) == set()


def test_the_owner_reads_the_words_but_no_file_over_http(server: ClickHouseProcess) -> None:
    with as_user(server, *OWNER) as owner:
        assert WORDS in str(owner.query("SELECT text FROM disputes").result_rows)
        for sql in (
            "SELECT 1 INTO OUTFILE '/tmp/refund-bench-leak'",
            "INSERT INTO disputes FROM INFILE '/etc/passwd' FORMAT CSV",
        ):
            with pytest.raises(DatabaseError, match="out of reach"):
                owner.command(sql)
        assert owner.command("SELECT 'words INTO OUTFILE are only words'")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"a": {"role": "king", "password": "x"}}', '{"a": {"role": "analyst", "password": "x"}}', '{"a": 1}']
)  # fmt: skip
def test_a_users_file_that_cannot_be_used_is_refused_with_what_it_should_hold(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "users.json"
    path.write_text(text)
    with pytest.raises(WrongUsers, match="owner"):
        Users.from_file(path)


def test_a_users_file_is_for_its_user_only(tmp_path: Path) -> None:
    path = write_users(tmp_path / "users.json", {"a": ("owner", "x")})
    assert path.stat().st_mode & 0o777 == 0o600
    assert Users.from_file(path).role_of("a", "x") == "owner"

"""Migrations on the real engine: up, down, up on data; a newer, an older and an altered schema."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from sinks import migrate
from sinks.batch import TableRows
from sinks.clickhouse_sink import ClickHouseSink, stop_at_refused
from sinks.writer import ClickHouseAway, Writer
from tests.integration.test_sink import PROJECTION, Log, consume, counts, expected, kafka_of, opener
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.support.tables import by_table


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    with clickhouse_process(tmp_path_factory.mktemp("schema")) as running:
        yield running


@pytest.fixture
def client(server: ClickHouseProcess) -> Iterator[Client]:
    with server.client() as admin:
        admin.command("DROP DATABASE IF EXISTS schema_test")
        admin.command("CREATE DATABASE schema_test")
    with opener(server, "schema_test")() as mine:
        yield mine


NEWEST = len(migrate.migrations())


def test_up_down_and_up_again_on_data(server: ClickHouseProcess, client: Client) -> None:
    assert [state.applied for state in migrate.status(client)] == [False] * NEWEST
    assert migrate.migrate(client) == list(range(1, NEWEST + 1))
    assert migrate.migrate(client) == []
    fill = ClickHouseSink(Writer(opener(server, "schema_test"), migrate.check), stop_at_refused)
    consume(fill, kafka_of(2))
    assert migrate.migrate(client, to=5) == list(range(NEWEST, 5, -1))
    assert [state.applied for state in migrate.status(client)] == [True] * 5 + [False] * (
        NEWEST - 5
    )
    assert migrate.migrate(client) == list(range(6, NEWEST + 1))
    assert counts(client) == {**expected(2), "complaints": 0, "events": 0, "operations": 0}, (
        "data of 0008 and 0010 went with them"
    )
    assert migrate.migrate(client, to=0) == list(range(NEWEST, 0, -1))
    left = client.query("SELECT name FROM system.tables WHERE database = 'schema_test'")
    assert left.result_rows == [("schema_migrations",)]
    assert migrate.migrate(client) == list(range(1, NEWEST + 1))
    migrate.check(client)


def test_a_migration_cut_off_half_way_is_repeated(client: Client) -> None:
    client.command(migrate.migrations()[0].up[0])
    assert migrate.migrate(client) == list(range(1, NEWEST + 1))


def test_a_missing_migration_is_waited_for_with_a_word_on_what_to_run(
    server: ClickHouseProcess, client: Client
) -> None:
    migrate.migrate(client, to=3)
    with pytest.raises(migrate.SchemaBehind, match="clickhouse migrate"):
        migrate.check(client)
    record = kafka_of(1)[:1]
    sink = ClickHouseSink(Writer(opener(server, "schema_test"), migrate.check), stop_at_refused)
    writer = Writer(opener(server, "schema_test"), migrate.check)
    with pytest.raises(ClickHouseAway, match="have not been run"):
        writer.write(_rows(record))
    migrate.migrate(client)
    assert consume(sink, record) == 0


def test_a_newer_schema_is_refused_with_a_word_on_what_to_install(
    server: ClickHouseProcess, client: Client
) -> None:
    migrate.migrate(client)
    client.insert(
        "schema_migrations",
        [[NEWEST + 1, "from_tomorrow", "hash", True]],
        column_names=["version", "name", "hash", "applied"],
    )
    for start in (migrate.check, migrate.migrate):
        with pytest.raises(migrate.SchemaError, match="newer than this release"):
            Writer(opener(server, "schema_test"), start).write(_rows(kafka_of(1)[:1]))


def test_a_migration_altered_after_it_ran_is_refused(client: Client) -> None:
    migrate.migrate(client)
    client.insert(
        "schema_migrations",
        [[2, "judging", "another hash", True]],
        column_names=["version", "name", "hash", "applied"],
    )
    with pytest.raises(migrate.SchemaError, match="0002_judging changed after being run"):
        migrate.migrate(client)


@pytest.mark.parametrize(
    ("name", "text"), [("one.sql", "-- up\n-- down\n"), ("0001_one.sql", "-- up\nSELECT 1;\n")]
)
def test_a_file_that_is_no_migration_is_refused(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=r"0001_like_this|needs one part"):
        migrate.read(path)


def _rows(log: Log) -> dict[str, TableRows]:
    return by_table(
        row for place, _, value in log for row in PROJECTION[place.topic].read(value, place)
    )

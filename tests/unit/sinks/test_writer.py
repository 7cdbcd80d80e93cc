"""The writer without a server: one insert per table, a growing pause, a new connection after a failure."""

from types import SimpleNamespace
from typing import Any

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError, ProgrammingError

from sinks.migrate import SchemaBehind, SchemaError
from sinks.rows.row import Row
from sinks.writer import LONGEST_PAUSE_S, ClickHouseAway, Writer
from tests.support.tables import by_table

ROWS = by_table([Row("a", {"x": 1}), Row("b", {"y": 1}), Row("a", {"x": 2})])


class FakeClient:
    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.inserts: list[tuple[str, list[tuple[object, ...]]]] = []
        self.described: list[str] = []
        self.settings: dict[str, Any] = {}
        self.closed = False

    def create_insert_context(self, table: str, columns: list[str], **how: Any) -> Any:
        if how["column_types"] is None:
            self.described.append(table)
        self.settings = how["settings"]
        return SimpleNamespace(table=table, column_types=["Int64"], insert_exception=None)

    def insert(self, context: Any, data: list[tuple[object, ...]]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.inserts.append((context.table, data))

    def close(self) -> None:
        self.closed = True


def writer(*clients: FakeClient) -> Writer:
    supply = iter(clients)
    return Writer(lambda: next(supply))  # type: ignore[arg-type,return-value]


def test_one_insert_per_table_and_a_table_is_described_once() -> None:
    client = FakeClient()
    mine = writer(client)
    assert mine.write(ROWS) == []
    assert mine.write(ROWS) == []
    assert sorted(client.inserts) == sorted([("a", [(1, 2)]), ("b", [(1,)])] * 2)
    assert sorted(client.described) == ["a", "b"]
    assert client.settings["async_insert"] == 0
    assert client.settings["insert_deduplicate"] == 0


def test_nothing_to_write_opens_no_connection() -> None:
    assert writer().write({}) == []


@pytest.mark.parametrize("problem", [OperationalError("gone"), DatabaseError("full", code=252)])
def test_a_failure_is_a_pause_and_the_next_write_a_new_connection(problem: Exception) -> None:
    broken, sound = FakeClient(problem), FakeClient()
    mine = writer(broken, sound)
    with pytest.raises(ClickHouseAway) as away:
        mine.write(ROWS)
    assert 0 < away.value.retry_after <= LONGEST_PAUSE_S
    assert broken.closed
    assert mine.write(ROWS) == []
    assert {table for table, _ in sound.inserts} == {"a", "b"}


def test_the_pause_grows_and_stays_below_its_limit() -> None:
    def away() -> Any:
        raise ConnectionRefusedError

    mine = Writer(away)
    pauses = []
    for _ in range(30):
        with pytest.raises(ClickHouseAway) as failure:
            mine.write(ROWS)
        pauses.append(failure.value.retry_after)
    assert pauses[0] <= 0.5
    assert LONGEST_PAUSE_S / 2 <= pauses[-1] <= LONGEST_PAUSE_S


def test_a_schema_that_is_behind_is_waited_for_and_one_ahead_is_not() -> None:
    def behind(_: Any) -> None:
        raise SchemaBehind("run it")

    def ahead(_: Any) -> None:
        raise SchemaError("install it")

    client = FakeClient()
    with pytest.raises(ClickHouseAway, match="run it"):
        Writer(lambda: client, behind).write(ROWS)  # type: ignore[arg-type,return-value]
    assert client.closed
    with pytest.raises(SchemaError, match="install it"):
        Writer(lambda: FakeClient(), ahead).write(ROWS)  # type: ignore[arg-type,return-value]


def test_an_error_nobody_expected_is_waited_out_and_logged_as_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(ClickHouseAway, match="RuntimeError"):
        writer(FakeClient(RuntimeError("a bug"))).write(ROWS)
    with pytest.raises(ClickHouseAway):
        writer(FakeClient(OperationalError("gone"))).write(ROWS)
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]


@pytest.mark.parametrize(
    "problem", [DatabaseError("no such", code=16), ProgrammingError("Unrecognized column 'kind'")]
)
def test_a_table_altered_by_hand_is_called_that_with_what_to_run(problem: Exception) -> None:
    with pytest.raises(ClickHouseAway, match=r"altered by hand, `refund-bench clickhouse status`"):
        writer(FakeClient(problem)).write(ROWS)


def test_opened_beforehand_a_start_says_what_is_wrong_before_any_row() -> None:
    def ahead(_: Any) -> None:
        raise SchemaError("newer than this release")

    def away() -> Any:
        raise ConnectionRefusedError

    with pytest.raises(SchemaError, match="newer than this release"):
        Writer(lambda: FakeClient(), ahead).open()  # type: ignore[arg-type,return-value]
    with pytest.raises(ClickHouseAway, match="ConnectionRefusedError"):
        Writer(away).open()
    client = FakeClient()
    mine = writer(client)
    mine.open()
    assert mine.write(ROWS) == []
    assert len(client.inserts) == 2


def cut_off(cause: Exception) -> OperationalError:
    problem = OperationalError("Error executing HTTP request")
    problem.__cause__ = cause
    return problem


def test_an_insert_that_was_cut_is_sent_once_more_and_one_that_was_refused_is_not() -> None:
    client = FakeClient(cut_off(ConnectionResetError()))
    assert writer(client).write(ROWS) == []
    assert sorted(client.inserts) == [("a", [(1, 2)]), ("b", [(1,)])]
    gone = FakeClient(*[cut_off(ConnectionRefusedError())] * 2)
    with pytest.raises(ClickHouseAway):
        writer(gone).write(ROWS)
    assert (gone.failures, gone.inserts) == ([], [])


def test_what_is_cut_again_and_again_is_a_pause() -> None:
    client = FakeClient(*[cut_off(ConnectionResetError())] * 4)
    with pytest.raises(ClickHouseAway):
        writer(client).write(ROWS)
    assert (client.failures, client.inserts) == ([], [])

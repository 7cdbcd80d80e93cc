"""Takes the words and the evidence of some disputes out of ClickHouse's tables; waits until they are out."""

from collections.abc import Collection, Sequence

from clickhouse_connect.driver.client import Client

from ops.archive.writing import SYNC
from sinks.erased import BLANK, TEXT_TOPICS

BATCH = 1_000
ROUNDS = 10


class StillThere(ConnectionError):
    """The sink kept storing words that were under way; erasing again ends it."""


def note_erased(client: Client, disputes: Collection[str]) -> None:
    """Put them on the list that the sink asks at each flush, so that it stores no words of them from now on.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    client.insert(
        "erased_disputes",
        [[dispute] for dispute in sorted(disputes)],
        column_names=["dispute_id"],
        settings={"async_insert": 0},
    )


def erase(client: Client, disputes: Collection[str]) -> int:
    """Erase until no word of these disputes is left; the number of rows that held some.

    Raises:
        StillThere: after several rounds there are still some.
        clickhouse_connect.driver.exceptions.Error: ClickHouse went away; erase again.
    """
    ids, rows = sorted(disputes), 0
    for _ in range(ROUNDS):
        left = sum(
            _round(client, ids[start : start + BATCH]) for start in range(0, len(ids), BATCH)
        )
        if not left:
            return rows
        rows += left
    raise StillThere("ClickHouse's sink still stores what was under way; erase again in a minute")


def _round(client: Client, ids: Sequence[str]) -> int:
    asked = {"ids": list(ids), "topics": sorted(TEXT_TOPICS)}
    rows = 0
    for table, blank in BLANK.items():
        words = " OR ".join(f"notEmpty({column})" for column in blank)
        where = f"dispute_id IN {{ids:Array(String)}} AND ({words})"
        found = _count(client, table, where, asked)
        if found:
            values = ", ".join(f"{c} = {'[]' if value == [] else chr(39) * 2}" for c, value in blank.items())  # fmt: skip
            client.command(f"ALTER TABLE {table} UPDATE {values} WHERE {where} {SYNC}", asked)
        rows += found
    return rows + _events(client, asked)


def _events(client: Client, asked: dict[str, list[str]]) -> int:
    """A row marked `erased` wins over the one with the bytes; that one is emptied too, wherever it lies."""
    mine = "subject IN {ids:Array(String)} AND topic IN {topics:Array(String)} AND erased = 0"
    unmarked = _count(client, "events FINAL", mine, asked)
    if unmarked:
        client.command(
            "INSERT INTO events SELECT * REPLACE (1 AS erased, '' AS value) "
            f"FROM (SELECT * FROM events FINAL WHERE {mine}) "  # inside, `erased` is not yet 1
            "SETTINGS async_insert = 0, max_partitions_per_insert_block = 0",
            asked,
        )
    full = f"{mine} AND value != ''"
    found = _count(client, "events", full, asked)
    if found:
        client.command(f"ALTER TABLE events UPDATE value = '' WHERE {full} {SYNC}", asked)
    return max(unmarked, found)


def _count(client: Client, table: str, where: str, asked: dict[str, list[str]]) -> int:
    [[rows]] = client.query(f"SELECT count() FROM {table} WHERE {where}", asked).result_rows
    return int(rows)

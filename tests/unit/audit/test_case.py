"""A dispute is told by Kafka while it has the words, and by ClickHouse afterwards."""

from functools import cache

import pytest

from ops.audit import case as cases
from ops.audit.case import Case, find_case
from ops.audit.refold import entry_of
from ops.audit.stored import View
from ops.cases import labelled
from ops.trail import trail_of
from tests.support.recorded import Recorded


@cache
def told(source: str, *, words: bool = True) -> Case:
    run = Recorded()
    run.file(labelled("food-delivery")[0])
    mine = run.events("disputes")[0].dispute_id
    view = run.view(source)
    entry = entry_of(view, mine)
    assert entry is not None
    kept = view if words else View(source, links=view.links)
    return Case(mine, source, kept, trail_of(kept, entry), [])


def stores(monkeypatch: pytest.MonkeyPatch, kafka: Case | None, clickhouse: Case | None) -> None:
    def away(_: str) -> Case | None:
        if clickhouse is None:
            raise OSError("away")
        return clickhouse

    monkeypatch.setattr(cases, "_in_kafka", lambda _: kafka)
    monkeypatch.setattr(cases, "_in_clickhouse", away)


def test_kafka_tells_while_it_has_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    stores(monkeypatch, told("kafka"), told("clickhouse"))
    assert find_case("d") is told("kafka")
    assert find_case("d", "clickhouse") is told("clickhouse")


def test_clickhouse_tells_what_kafka_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    stores(monkeypatch, told("kafka", words=False), told("clickhouse"))
    assert find_case("d") is told("clickhouse")
    assert find_case("d", "kafka") is told("kafka", words=False)
    stores(monkeypatch, None, told("clickhouse"))
    assert find_case("d") is told("clickhouse")


def test_without_clickhouse_kafka_tells_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    stores(monkeypatch, told("kafka", words=False), None)
    assert find_case("d") is told("kafka", words=False)
    with pytest.raises(OSError, match="away"):
        find_case("d", "clickhouse")


def test_the_entry_folded_from_the_events_is_the_ledgers_own() -> None:
    run = Recorded()
    run.file(labelled("food-delivery")[0])
    mine = run.events("disputes")[0].dispute_id
    assert entry_of(run.view(), mine) == run.events("ledger")[-1]

"""The whole stack with models behind the real SDK: the LLM stub, first as it should be, then misbehaving in every way."""

import json
import sqlite3
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from ops.cases import labelled
from ops.demo import chosen
from ops.filing import file_cases
from ops.local.stack import LocalStack
from ops.outcome import outcome
from ops.stub.counts import counts
from ops.watch import Trail, Watcher
from schemas.ledger import FINAL

KEY = b"stub stack test installation key"
TIMEOUT_S = "2"
"""Of one call; a stub that hangs is not worth more."""

pytestmark = [pytest.mark.kafka, pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    with LocalStack(
        tmp_path_factory.mktemp("stub-stack"),
        "anthropic",
        environment={
            "REFUND_BENCH_INSTALLATION_KEY": KEY.decode(),
            "REFUND_BENCH_LLM_TIMEOUT_S": TIMEOUT_S,
        },
        stub_flags=(),
    ) as running:
        yield running


@pytest.fixture(scope="module")
def watcher(stack: LocalStack) -> Iterator[Watcher]:
    watching = Watcher(stack.bootstrap)
    yield watching
    watching.close()


def run(cases: list[dict[str, Any]], stack: LocalStack, watcher: Watcher) -> dict[str, Trail]:
    filed = file_cases(cases, KEY, stack.bootstrap)
    assert watcher.wait(filed.values(), 240) == []
    return {case_id: watcher.trails[dispute] for case_id, dispute in filed.items()}


def switch(stack: LocalStack, **faults: Any) -> None:
    for method, path, body in (("POST", "/_faults", faults), ("DELETE", "/_journal", None)):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(stack.stub_url + path, data=data, method=method)
        urllib.request.urlopen(request, timeout=10).close()


def test_the_demo_ends_as_labelled_and_the_stub_counts_the_calls_we_report(
    stack: LocalStack, watcher: Watcher
) -> None:
    switch(stack)
    cases = chosen(None)
    trails = run(cases, stack, watcher)
    found = [outcome(case, _id(trails[case["id"]]), trails[case["id"]]) for case in cases]
    assert [one["mismatches"] for one in found if one["mismatches"]] == []
    assert all(one["simulated"] for one in found if one["llm_calls"])
    counted = counts(stack.stub_url)
    assert counted["statuses"] == {"200": counted["calls"]}
    assert counted["calls"] == counted["matters"] == sum(one["llm_calls"] for one in found)


def test_a_tenth_of_all_calls_misbehaving_pays_nothing_that_should_not_be_paid(
    stack: LocalStack, watcher: Watcher
) -> None:
    switch(stack, everything=0.1, seed=4, retry_after_s=1)
    cases = [renamed(case) for case in labelled() if case["policy"] == "food-delivery"]
    trails = run(cases, stack, watcher)
    counted = counts(stack.stub_url)
    assert sum(counted["faults"].values()) > 0.05 * counted["calls"]
    assert counted["early"] == 0, "nobody came back sooner than a Retry-After allowed"
    for case in cases:
        entry = trails[case["id"]].entry
        assert entry is not None
        assert entry.status in FINAL
        # A failed line leaves the total: what was over the cap for a person can come to be under it.
        most = max(case["expect"]["amount_minor"], case["expect"]["proposed_minor"])
        assert (entry.paid_minor or 0) <= most, case["id"]
    with sqlite3.connect(f"file:{stack.gateway_file}?mode=ro", uri=True) as db:
        keys = [key for (key,) in db.execute("SELECT key FROM refunds")]
    assert len(keys) == len(set(keys))


def _id(trail: Trail) -> str:
    assert trail.entry is not None
    return trail.entry.dispute_id


def renamed(case: dict[str, Any]) -> dict[str, Any]:
    """The case about another order and customer, so that it opens a dispute of its own."""
    told = json.loads(json.dumps(case))
    for part in (told["complaint"], told["evidence"]):
        for name in ("order_id", "customer_id"):
            if part.get(name):
                part[name] = f"{part[name]}-again"
    return told

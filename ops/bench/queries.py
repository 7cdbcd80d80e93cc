"""Every canned query over a million rulings, timed beside a full-table count in the same run.

The server's CPU stands beside the time on the clock: on two free cores the time lies between half of it and
all of it, on a busy machine above it.
"""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from ops.bench import analyst_data
from ops.bench.clickhouse_process import clickhouse
from sinks import migrate, query
from sinks.connection import connect

DISPUTES = 80_000
PROMISED_S = 1.0
TIMES = 5
BASELINE = "SELECT count() FROM judge_rulings WHERE NOT ignore(dispute_id)"
"""Reads one column of every ruling; a bare count() reads nothing but the parts' headers."""
ROWS = 10_000
"""As many as `refund-bench query` shows."""


def run(disputes: int = DISPUTES, times: int = TIMES) -> dict[str, Any]:
    """Fill an empty database and time each query, as it comes and on both clocks; the best of `times`."""
    with clickhouse() as server:
        client = connect(server.address, timeout_s=600)
        migrate.migrate(client)
        began = time.perf_counter()
        rows = analyst_data.fill(client, disputes)
        filled_s = time.perf_counter() - began
        until = datetime.fromisoformat(analyst_data.UNTIL).replace(tzinfo=UTC)
        load = os.getloadavg()[0]
        count_s, _ = _best(times, lambda: client.query(BASELINE))
        found: dict[str, Any] = {}
        for name in query.names():
            timed, used = {}, {}
            for clock in ("filed", "settled"):
                asked = query.question(
                    name, until - timedelta(days=30), until + timedelta(days=1), clock=clock  # type: ignore[arg-type]
                )  # fmt: skip
                before = server.cpu_s()
                timed[clock], answer = _best(times, lambda: query.ask(asked, client, ROWS))  # noqa: B023
                used[clock] = (server.cpu_s() - before) / times
            slower = max(timed.values())
            found[name] = {
                "s": round(slower, 3),
                "server_cpu_s": round(max(used.values()), 3),
                "times_count": round(slower / count_s, 1),
                "rows": len(answer["rows"]),
            }
        disk = client.query(
            "SELECT sum(bytes_on_disk), sum(data_uncompressed_bytes) FROM system.parts "
            "WHERE active AND database = currentDatabase() AND table != 'events'"
        ).result_rows[0]
        client.close()
    slowest = max(found, key=lambda name: found[name]["s"])
    return {
        "ok": found[slowest]["s"] < PROMISED_S,
        "broker": "none",
        "seed": 0,
        "disputes": disputes,
        "rulings": rows["judge_rulings"],
        "events": rows["events"],
        "promised_s": PROMISED_S,
        "slowest": slowest,
        "slowest_s": found[slowest]["s"],
        "count_s": round(count_s, 3),
        "load_1m": round(load, 1),
        "cores": os.cpu_count(),
        "queries": found,
        "filled_s": round(filled_s, 1),
        "bytes_on_disk_per_dispute_without_events": int(disk[0]) // disputes,
        "bytes_unpacked_per_dispute_without_events": int(disk[1]) // disputes,
        "best_of": times,
    }


def _best(times: int, ask: Callable[[], Any]) -> tuple[float, Any]:
    taken, answer = [], None
    for _ in range(times):
        began = time.perf_counter()
        answer = ask()
        taken.append(time.perf_counter() - began)
    return min(taken), answer

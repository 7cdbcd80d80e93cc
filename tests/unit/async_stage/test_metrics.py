"""Each metric the issue asks for exists, with a meaning and a unit."""

from topologies.async_stage.metrics import TABLE, BusyMeter, StageMetrics


def test_every_metric_of_the_table_has_a_figure() -> None:
    metrics = StageMetrics(slots=5)
    snapshot = metrics.snapshot()
    assert list(snapshot) == [metric.name for metric in TABLE]
    for metric in TABLE:
        assert metric.meaning
        assert metric.unit
        assert isinstance(snapshot[metric.name], dict if metric.label else int | float)


def test_what_was_promised_is_measured() -> None:
    promised = {
        "slots_busy_ratio",
        "in_flight",
        "waiting_on_retry",
        "oldest_in_flight_s",
        "span",
        "commit_p50_s",
        "results_per_commit",
        "retries",
        "breaker_state",
        "late_results_dropped",
    }
    assert promised <= {metric.name for metric in TABLE}


def test_commits_are_summed_up() -> None:
    metrics = StageMetrics(slots=5)
    for seconds in (0.01, 0.02, 0.03):
        metrics.committed(seconds, results=4, outputs=5)
    assert metrics.commits == 3
    assert metrics.results == 12
    assert metrics.outputs == 15
    assert metrics.commit_p50_s == 0.02
    assert metrics.commit_p99_s == 0.03
    assert metrics.results_per_commit == 4


def test_the_busy_ratio_is_a_mean_over_time() -> None:
    meter = BusyMeter(slots=10, now=0.0)
    meter.set(10, now=1.0)
    meter.set(5, now=3.0)
    assert meter.take(now=5.0) == (10 * 2 + 5 * 2) / (10 * 5)
    assert meter.take(now=6.0) == 0.5

"""Every transition of the breaker."""

from topologies.async_stage.circuit_breaker import BreakerState, CircuitBreaker


def breaker() -> CircuitBreaker:
    return CircuitBreaker(failures_to_open=3, probe_every_s=1.0)


def test_closed_lets_everything_start() -> None:
    assert all(breaker().may_start(now) for now in (0.0, 0.0, 5.0))


def test_failures_in_a_row_open_it() -> None:
    it = breaker()
    assert [it.failed(1.0, down=False) for _ in range(3)] == [False, False, True]
    assert it.state is BreakerState.OPEN
    assert not it.may_start(1.5)


def test_a_success_between_breaks_the_row() -> None:
    it = breaker()
    it.failed(1.0, down=False)
    it.failed(1.0, down=False)
    it.succeeded(started_at=0.5, now=1.1)
    assert not it.failed(1.2, down=False)
    assert it.state is BreakerState.CLOSED


def test_a_provider_that_is_down_opens_it_at_once() -> None:
    it = breaker()
    assert it.failed(1.0, down=True)
    assert it.state is BreakerState.OPEN


def test_open_lets_one_probe_through_per_interval() -> None:
    it = breaker()
    it.failed(10.0, down=True)
    assert not it.may_start(10.9)
    assert it.may_start(11.0)
    assert it.state is BreakerState.HALF_OPEN
    assert not it.may_start(11.0)
    assert it.may_start(12.0), "a probe that hangs does not keep the next one back"


def test_a_probe_that_fails_leaves_it_open() -> None:
    it = breaker()
    it.failed(10.0, down=True)
    it.may_start(11.0)
    assert not it.failed(11.2, down=False)
    assert it.state is BreakerState.OPEN
    assert it.next_probe_at == 12.0


def test_a_probe_that_succeeds_closes_it() -> None:
    it = breaker()
    it.failed(10.0, down=True)
    it.may_start(11.0)
    assert it.succeeded(started_at=11.0, now=11.5)
    assert it.state is BreakerState.CLOSED
    assert it.next_probe_at is None


def test_a_call_from_before_the_opening_proves_nothing() -> None:
    it = breaker()
    it.failed(10.0, down=True)
    assert not it.succeeded(started_at=9.0, now=10.1)
    assert it.state is BreakerState.OPEN


def test_the_active_clock_stands_still_while_open() -> None:
    it = breaker()
    assert it.active(10.0) == 10.0
    it.failed(10.0, down=True)
    assert it.active(40.0) == 10.0
    it.may_start(40.0)
    it.succeeded(started_at=40.0, now=41.0)
    assert it.active(41.0) == 10.0
    assert it.active(45.0) == 14.0

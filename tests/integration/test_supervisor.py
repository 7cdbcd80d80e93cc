"""The supervisor with real processes: what dies comes back, and nothing outlives it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ops.local import supervised
from ops.local.bounded_log import bound
from ops.local.errors import StartFailed
from ops.local.ports import accepts, free_port
from ops.local.supervised import backoff_s
from ops.local.supervisor import Process, Status, Supervisor
from tests.support.processes import is_alive
from tests.support.wait import until

SLEEPER = "import time; print('here', flush=True); time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPER
WITH_CHILD = (
    "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)']); print('child', child.pid, flush=True); time.sleep(600)"
)

Run = Callable[..., Supervisor]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Make and start a supervisor that is stopped after the test."""
    made: list[Supervisor] = []

    def start(*processes: Process) -> Supervisor:
        made.append(Supervisor(processes, tmp_path))
        return made[-1].start()

    yield start
    for supervisor in made:
        supervisor.stop()


def python(name: str, code: str, **changes: object) -> Process:
    return Process(name, [sys.executable, "-c", code], **changes)  # type: ignore[arg-type]


def one(supervisor: Supervisor, name: str) -> Status:
    return next(status for status in supervisor.status() if status.name == name)


def pid_of(supervisor: Supervisor, name: str) -> int:
    pid = one(supervisor, name).pid
    assert pid is not None
    return pid


def read(tmp_path: Path, name: str) -> str:
    return (tmp_path / "logs" / f"{name}.log").read_text()


def child_pid(tmp_path: Path, name: str) -> int:
    line = until(lambda: [x for x in read(tmp_path, name).splitlines() if x.startswith("child ")])
    return int(line[-1].split()[1])


def test_a_started_process_is_running_and_its_output_is_in_its_log(
    run: Run, tmp_path: Path
) -> None:
    noisy = "import os, sys; print(os.environ['WHO'], file=sys.stderr); " + SLEEPER
    supervisor = run(python("app", noisy, env={"WHO": "it is me"}, address="http://here"))
    status = one(supervisor, "app")
    assert (status.state, status.restarts, status.address) == ("running", 0, "http://here")
    assert status.since <= time.time()
    until(lambda: "it is me" in read(tmp_path, "app") and "here" in read(tmp_path, "app"))


def test_a_killed_process_is_back_after_a_second_with_another_pid(run: Run) -> None:
    supervisor = run(python("app", SLEEPER), python("other", SLEEPER))
    first, other = pid_of(supervisor, "app"), pid_of(supervisor, "other")
    killed_at = time.monotonic()
    os.kill(first, signal.SIGKILL)
    until(lambda: one(supervisor, "app").state == "restarting")
    assert one(supervisor, "app").last_exit == "SIGKILL"
    assert one(supervisor, "app").pid is None
    until(lambda: one(supervisor, "app").state == "running")
    assert 1.0 <= time.monotonic() - killed_at < 4
    assert one(supervisor, "app").restarts == 1
    assert pid_of(supervisor, "app") != first
    assert pid_of(supervisor, "other") == other


def test_waits_between_restarts_double_up_to_thirty_seconds() -> None:
    assert [backoff_s(deaths) for deaths in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
    assert backoff_s(10_000) == 30


def test_deaths_are_forgotten_once_it_has_stayed_up(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "STEADY_S", 0.7)
    supervisor = run(python("app", SLEEPER))
    for restarts in (1, 2):
        killed_at = time.monotonic()
        os.kill(pid_of(supervisor, "app"), signal.SIGKILL)
        until(lambda n=restarts: one(supervisor, "app").restarts == n)  # type: ignore[misc]
        assert time.monotonic() - killed_at < 1.8, "a second death in a row would wait 2 s"
        steady_at = time.monotonic() + 1.0
        until(lambda t=steady_at: time.monotonic() > t)  # type: ignore[misc]


def test_what_a_dead_process_had_started_does_not_run_beside_its_successor(
    run: Run, tmp_path: Path
) -> None:
    supervisor = run(python("app", WITH_CHILD))
    orphan = child_pid(tmp_path, "app")
    os.kill(pid_of(supervisor, "app"), signal.SIGKILL)
    until(lambda: not is_alive(orphan))


def test_start_waits_for_ready_and_those_that_come_after_wait_too(run: Run, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    slow = f"import time, pathlib; time.sleep(0.7); pathlib.Path({str(flag)!r}).touch(); " + SLEEPER
    check = f"import pathlib; print('flag', pathlib.Path({str(flag)!r}).exists(), flush=True); "
    supervisor = run(
        python("app", check + SLEEPER, after=["base"]),
        python("base", slow, ready=flag.exists),
    )
    assert [status.state for status in supervisor.status()] == ["running", "running"]
    until(lambda: "flag True" in read(tmp_path, "app"))


def test_a_ready_check_that_raises_is_a_no(run: Run) -> None:
    answers = iter(["raise", "no", "yes"])

    def ready() -> bool:
        answer = next(answers)
        if answer == "raise":
            raise OSError("not yet")
        return answer == "yes"

    assert one(run(python("app", SLEEPER, ready=ready)), "app").state == "running"


def test_a_critical_process_that_keeps_dying_fails_the_start_with_the_end_of_its_log(
    run: Run,
) -> None:
    started = time.monotonic()
    with pytest.raises(StartFailed, match=r"(?s)broken ended with exit 1.*no such luck"):
        run(python("fine", SLEEPER), python("broken", "raise SystemExit('no such luck')"))
    assert time.monotonic() - started < 10


def test_a_wrong_configuration_fails_the_start_at_once(run: Run) -> None:
    started = time.monotonic()
    with pytest.raises(StartFailed, match="exit 2"):
        run(python("wrong", "import sys; sys.exit(2)"))
    assert time.monotonic() - started < 3


def test_trouble_with_one_process_does_not_leave_the_others_unwatched(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "logs" / "cursed.log").mkdir(parents=True)  # its log cannot be opened
    supervisor = run(python("app", SLEEPER), python("cursed", SLEEPER, critical=False))
    first = pid_of(supervisor, "app")
    os.kill(first, signal.SIGKILL)
    until(lambda: one(supervisor, "app").pid not in (None, first))


def test_a_program_that_is_not_there_is_named(run: Run) -> None:
    with pytest.raises(StartFailed, match="cannot run /no/such/program"):
        run(Process("absent", ["/no/such/program"]))


def test_a_process_that_is_never_ready_fails_the_start(run: Run) -> None:
    with pytest.raises(StartFailed, match="not ready within 1 s"):
        run(python("slow", SLEEPER, ready=lambda: False, ready_within_s=1))


def test_start_does_not_wait_for_what_is_not_critical(run: Run) -> None:
    supervisor = run(python("app", SLEEPER), python("extra", "raise SystemExit(1)", critical=False))
    until(lambda: one(supervisor, "extra").restarts >= 1)
    assert one(supervisor, "app").state == "running"


def test_stop_leaves_nothing_even_of_the_deaf_and_the_frozen(run: Run, tmp_path: Path) -> None:
    supervisor = run(
        python("deaf", DEAF),
        python("frozen", SLEEPER),
        python("parent", WITH_CHILD),
        python("polite", SLEEPER),
    )
    pids = [pid_of(supervisor, name) for name in ("deaf", "frozen", "parent", "polite")]
    pids.append(child_pid(tmp_path, "parent"))
    os.kill(pid_of(supervisor, "frozen"), signal.SIGSTOP)
    started = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - started < 10
    assert [pid for pid in pids if is_alive(pid)] == []
    assert {status.state for status in supervisor.status()} == {"stopped"}
    assert one(supervisor, "polite").last_exit == "SIGTERM"
    supervisor.stop()


def test_those_that_came_after_are_stopped_first(run: Run, tmp_path: Path) -> None:
    order = tmp_path / "order"
    said = (
        "import signal, sys, time\n"
        "def bye(*_):\n"
        f"    open({str(order)!r}, 'a').write(sys.argv[1] + ' ')\n"
        "    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, bye)\n"
        "print('set', flush=True)\n"
        "time.sleep(600)\n"
    )
    chain = [("broker", []), ("app", ["broker"]), ("console", ["app"])]
    supervisor = run(
        *[Process(n, [sys.executable, "-c", said, n], after=after) for n, after in chain]
    )
    until(lambda: all("set" in read(tmp_path, name) for name, _ in chain))
    supervisor.stop()
    assert order.read_text().split() == ["console", "app", "broker"]


def test_a_port_is_free_again_after_stop(run: Run) -> None:
    port = free_port()
    server = (
        "import socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, "
        f"socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', {port})); s.listen(); " + SLEEPER
    )
    supervisor = run(python("server", server, ready=lambda: accepts(port)))
    supervisor.stop()
    with socket.socket() as mine:
        mine.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        mine.bind(("127.0.0.1", port))


def test_kill_9_of_the_supervisor_leaves_no_process(tmp_path: Path) -> None:
    script = f"""
import sys, time
from pathlib import Path
from ops.local.supervisor import Process, Supervisor
apps = [Process(f"app{{n}}", [sys.executable, "-c", {DEAF!r}]) for n in range(4)]
supervisor = Supervisor(apps, Path({str(tmp_path)!r})).start()
print(*[status.pid for status in supervisor.status()], flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 4
    assert all(is_alive(pid) and os.getsid(pid) == pid for pid in pids)
    parent.kill()
    parent.wait()
    until(lambda: not [pid for pid in pids if is_alive(pid)])


def test_a_log_is_bounded_and_its_end_kept(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    with open(log, "ab", buffering=0) as writer:
        writer.write(b"x" * 3000 + b"the end\n")
        bound(log, limit=1000)
        writer.write(b"and on\n")
    assert log.read_bytes() == b"and on\n"
    kept = (tmp_path / "app.log.1").read_bytes()
    assert len(kept) == 1000
    assert kept.endswith(b"the end\n")


@pytest.mark.parametrize(
    "processes",
    [
        [Process("a", ["x"]), Process("a", ["x"])],
        [Process("a", ["x"], after=["b"])],
        [Process("a", ["x"], after=["b"]), Process("b", ["x"], after=["a"])],
    ],
    ids=["twice", "unknown", "circle"],
)
def test_an_impossible_order_is_refused(processes: list[Process], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"same name|not there|circle"):
        Supervisor(processes, tmp_path)

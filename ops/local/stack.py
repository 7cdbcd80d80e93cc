"""The whole of Refund Bench on one machine: Apache Kafka, the ClickHouse engine, the gateway, every app."""

import os
import secrets
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.error import URLError
from urllib.request import urlopen

from ops.local.clickhouse_users import write_users
from ops.local.kafka import LocalKafka
from ops.local.ports import free_port
from ops.local.supervised import LONGEST_BACKOFF_S
from ops.local.supervisor import Process, Status, Supervisor
from ops.stub.pointing import pointing_at
from sinks.connection import address_from, connect
from sinks.migrate import migrate
from streams.llm.registry import check_models
from topologies.models import models
from topologies.settings import Settings
from topologies.topic_admin import create_topics

APPS = ("intake", "tally", "settlement", "allowance", "ledger", "timer", "network", "sink")
"""One process each; `network` holds extraction, every judge, payout, letters and delivery."""


STUB_READS = ("REFUND_BENCH_PACKS", "REFUND_BENCH_MODELS", "REFUND_BENCH_OFFLINE_DISAGREEMENT")
OWNER, ANALYST = "refund_bench", "analyst"
"""Users of the local ClickHouse: the sink's, and the one that `query` asks as."""
STOP_APPS_WITHIN_S = 6.0
STOP_SERVICES_WITHIN_S = 4.0
STOP_STUB_WITHIN_S = 2.0


class LocalStack:
    """Started in the order things need each other, stopped in the reverse, nothing left behind.

    `provider` is what seats of provider `default` are; `broker` None starts our own Kafka;
    `gateway_flags` go to the gateway at each of its starts, `--faults` among them. With `stub_flags`,
    which may be none, the LLM stub is started and every provider's address points at it.
    `longest_backoff_s` bounds the wait before a process that died is started again.
    """

    def __init__(
        self,
        folder: Path,
        provider: str,
        broker: str | None = None,
        apps: tuple[str, ...] = APPS,
        environment: Mapping[str, str] | None = None,
        gateway_flags: tuple[str, ...] = (),
        stub_flags: tuple[str, ...] | None = None,
        longest_backoff_s: float = LONGEST_BACKOFF_S,
    ) -> None:
        self.folder = folder.absolute()
        self.kafka = LocalKafka(self.folder / "kafka") if broker is None else None
        self._gateway_port, self._clickhouse_port = free_port(), free_port()
        self._stub_flags = stub_flags
        self._stub_port = free_port()
        self._apps = apps
        self._broker = broker
        self._gateway_flags = gateway_flags
        self._longest_backoff_s = longest_backoff_s
        self.environment = {
            "REFUND_BENCH_PROVIDER": provider,
            "REFUND_BENCH_GATEWAY": f"http://127.0.0.1:{self._gateway_port}",
            "REFUND_BENCH_GATEWAY_KIND": "embedded",
            "REFUND_BENCH_DELIVERY": f"file:{self.folder / 'outbox.jsonl'}",
            "REFUND_BENCH_CLICKHOUSE": f"http://127.0.0.1:{self._clickhouse_port}",
            "REFUND_BENCH_CLICKHOUSE_USER": OWNER,
            "REFUND_BENCH_CLICKHOUSE_PASSWORD": self._secret("clickhouse-owner.key"),
            "REFUND_BENCH_CLICKHOUSE_ANALYST": ANALYST,
            "REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD": self._secret("clickhouse-analyst.key"),
            "REFUND_BENCH_STATE_DIR": str(self.folder / "state"),
            "REFUND_BENCH_REPLICATION": "1",
            "REFUND_BENCH_ROLES": str(Path(__file__).with_name("roles.toml")),
            "REFUND_BENCH_INSTALLATION_KEY": self._secret("installation.key"),
            **(pointing_at(self.stub_url) if stub_flags is not None else {}),
            **(environment or {}),
        }
        self._supervisors: list[tuple[Supervisor, float]] = []

    @property
    def bootstrap(self) -> str:
        return self.kafka.bootstrap if self.kafka else str(self._broker)

    @property
    def gateway_file(self) -> Path:
        """The gateway's own SQLite file, which is the truth about money moved."""
        return self.folder / "gateway.sqlite"

    @property
    def stub_url(self) -> str:
        """Where the LLM stub answers, if it was asked for."""
        return f"http://127.0.0.1:{self._stub_port}"

    def start(self, on_step: Callable[[str], None] = lambda step: None) -> Self:
        """Return when every app has been started and the topics are there.

        Raises:
            ops.local.errors.DependencyMissing: Java or Maven is not there; says the ways out.
            streams.llm.port.Misconfigured: a model's key or name is wrong.
            StartFailed: something did not come up; says where its log is.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            if self._stub_flags is not None:
                on_step("the LLM stub")
                self._run([self._stub(self._stub_flags)], STOP_STUB_WITHIN_S)
            self._check_models(on_step)
            on_step("Apache Kafka, the ClickHouse engine and the payment gateway")
            self._run(self._services(), STOP_SERVICES_WITHIN_S)
            self.environment["REFUND_BENCH_BROKER"] = self.bootstrap
            on_step("topics and tables")
            create_topics(self.bootstrap, 1 if self.kafka else None)
            migrate(connect(address_from(self.environment)))
            on_step(f"{len(self._apps)} apps")
            self.start_apps()
        except BaseException:
            self.stop()
            raise
        return self

    def start_apps(self) -> None:
        """The apps alone, after `stop_apps`."""
        self._run([self._app(name) for name in self._apps], STOP_APPS_WITHIN_S)

    def stop_apps(self) -> None:
        """The apps alone; broker, gateway and ClickHouse go on."""
        supervisor, within_s = self._supervisors.pop()
        supervisor.stop(within_s)

    def stop(self) -> None:
        """Apps first, so that what they hold is committed while the broker is there."""
        while self._supervisors:
            supervisor, within_s = self._supervisors.pop()
            supervisor.stop(within_s)

    def status(self) -> list[Status]:
        return [status for supervisor, _ in self._supervisors for status in supervisor.status()]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self, processes: list[Process], stop_within_s: float) -> None:
        supervisor = Supervisor(processes, self.folder)
        self._supervisors.append((supervisor, stop_within_s))
        supervisor.start()

    def _check_models(self, on_step: Callable[[str], None]) -> None:
        """Before anything is started: a wrong key should not look like a process that keeps dying."""
        environment = {**os.environ, **self.environment}
        asked = models(Settings.from_environment(environment), environment)
        for doubt in check_models(asked):
            on_step(f"although {doubt}")

    def _services(self) -> list[Process]:
        kafka = self.kafka
        broker = [Process("kafka", kafka.prepare(), ready=kafka.is_ready)] if kafka else []
        return [
            *broker,
            Process(
                "gateway",
                [
                    sys.executable,
                    "-m",
                    "ops.local.gateway",
                    "--port",
                    str(self._gateway_port),
                    "--db",
                    str(self.gateway_file),
                    *self._gateway_flags,
                ],
                ready=lambda: _answers(f"{self.environment['REFUND_BENCH_GATEWAY']}/health"),
                address=self.environment["REFUND_BENCH_GATEWAY"],
                longest_backoff_s=self._longest_backoff_s,
            ),
            Process(
                "clickhouse",
                [
                    sys.executable,
                    "-m",
                    "ops.local.clickhouse",
                    "--port",
                    str(self._clickhouse_port),
                    "--path",
                    str(self.folder / "clickhouse"),
                    "--users",
                    str(self._clickhouse_users()),
                ],
                ready=lambda: _answers(f"{self.environment['REFUND_BENCH_CLICKHOUSE']}/ping"),
                address=self.environment["REFUND_BENCH_CLICKHOUSE"],
            ),
        ]

    def _stub(self, flags: tuple[str, ...]) -> Process:
        port = str(self._stub_port)
        return Process(
            "stub",
            [sys.executable, "-m", "ops.cli", "stub", "--port", port, *flags],
            env={name: value for name, value in self.environment.items() if name in STUB_READS},
            ready=lambda: _answers(f"{self.stub_url}/health"),
            address=self.stub_url,
        )

    def _app(self, name: str) -> Process:
        return Process(
            name,
            [sys.executable, "-m", "ops.cli", "run", name],
            env=self.environment,
            longest_backoff_s=self._longest_backoff_s,
        )

    def _clickhouse_users(self) -> Path:
        held = self.environment
        return write_users(
            self.folder / "clickhouse-users.json",
            {
                OWNER: ("owner", held["REFUND_BENCH_CLICKHOUSE_PASSWORD"]),
                ANALYST: ("analyst", held["REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD"]),
            },
        )

    def _secret(self, name: str) -> str:
        """One per folder, made on the first start: dispute ids, for one, must not change with a restart."""
        file = self.folder / name
        if not file.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(secrets.token_hex(32))
        return file.read_text()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=1) as reply:
            return bool(reply.status == 200)
    except (URLError, OSError):
        return False

"""Apache Kafka itself on this machine: one KRaft node on loopback, in a folder of its own."""

import signal
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from ops.local.errors import StartFailed
from ops.local.java import find_java
from ops.local.kafka_jars import kafka_jars
from ops.local.kafka_settings import LOGGING, server_properties
from ops.local.ports import free_port, port_is_free
from ops.local.tether import Child, kill_group, spawn
from topologies import clients

JVM = ["-Xms192m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
READY_WITHIN_S = 60.0  # it takes about 3 s; a machine that runs everything else too gets its time
STOP_WITHIN_S = 6.0


class LocalKafka:
    """Port and data survive `stop`, `kill` and `restart`, so clients only see the broker go away.

    `settings` are broker settings that add to or replace ours.
    """

    def __init__(
        self, data_dir: Path, port: int | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self.data_dir = data_dir.absolute()
        self.port = port or free_port()
        self._port_is_ours_to_choose = port is None
        self._settings = settings or {}
        self._process: Child | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.data_dir / "kafka.log"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> Self:
        """Return when the broker answers. Raises DependencyMissing or StartFailed."""
        if self.pid is not None:
            return self
        argv = self.prepare()
        with open(self.log, "ab") as log:
            self._process = spawn(argv, log)
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def prepare(self) -> list[str]:
        """Fetch Kafka, write its configuration, format its storage; the command that runs it."""
        java = find_java()
        jars = kafka_jars(java)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        if self._port_is_ours_to_choose and not port_is_free(self.port):
            self.port = free_port()
        properties = self.data_dir / "server.properties"
        properties.write_text(
            server_properties(self.data_dir / "data", self.port, free_port(), self._settings)
        )
        logging = self.data_dir / "log4j2.properties"
        logging.write_text(LOGGING)
        run = [java, *JVM, f"-Dlog4j2.configurationFile={logging}", "-cp", f"{jars}/*"]
        if not (self.data_dir / "data" / "meta.properties").exists():
            self._format([*run, "kafka.tools.StorageTool", "format", "--ignore-formatted"])
        return [*run, "kafka.Kafka", str(properties)]

    def is_ready(self) -> bool:
        return _answers(AdminClient(_admin_settings(self.bootstrap)))

    def stop(self) -> None:
        """Let it close its logs (about a second), else kill it."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        self._process.send_signal(signal.SIGCONT)  # a paused broker could not hear the first
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_WITHIN_S)
        self.kill()

    def kill(self) -> None:
        """As a crash would: no flush, no goodbye."""
        if self._process is not None:
            kill_group(self._process)
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _format(self, storage_tool: list[str]) -> None:
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        properties = str(self.data_dir / "server.properties")
        answer = subprocess.run(
            [*storage_tool, f"--cluster-id={cluster}", f"--config={properties}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if answer.returncode != 0:
            words = (answer.stdout + answer.stderr).strip()[-2000:]
            raise StartFailed(f"Kafka could not format its storage: {words}")

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        admin = AdminClient(_admin_settings(self.bootstrap))
        deadline = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < deadline:
            if (code := self._process.poll()) is not None:
                raise StartFailed(f"Kafka ended with {code}; {self.log} ends:\n{self._log_tail()}")
            if _answers(admin):
                return
        raise StartFailed(
            f"Kafka did not answer in {READY_WITHIN_S:.0f} s; {self.log} ends:\n{self._log_tail()}"
        )

    def _log_tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


def _admin_settings(bootstrap: str) -> dict[str, str | int]:
    return {
        "bootstrap.servers": bootstrap,
        "log_level": 0,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 100,
    }


def _answers(admin: AdminClient) -> bool:
    """The broker and a group coordinator answer.

    Asking for any group makes Kafka create its offsets topic: without it the first consumer of
    a new broker waits 4 s.
    """
    try:
        if not admin.list_topics(timeout=0.5).brokers:
            return False
        asked = admin.describe_consumer_groups(
            ["nobody"], request_timeout=clients.COORDINATOR_TIMEOUT_S
        )
        clients.answer(asked["nobody"], 2)
    except KafkaException as error:
        return bool(error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND)
    return True

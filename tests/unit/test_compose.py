"""docker-compose.yml runs every app once, takes secrets from the environment, and builds what the Dockerfile says.

There is no YAML parser among our dependencies, and the file keeps to one shape, so the services are
read by their indentation; where the docker compose client is present it has the last word.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from ops.apps import ALL
from ops.local.kafka_jars import KAFKA_VERSION
from schemas.topics import MAX_MESSAGE_BYTES, PARTITIONS
from streams.policies.loader import PackRegistry

ROOT = Path(__file__).parents[2]
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
SECRETS = {
    "REFUND_BENCH_INSTALLATION_KEY": "a secret of a test",
    "REFUND_BENCH_PROVIDER": "offline-rules",
    "REFUND_BENCH_CLICKHOUSE_PASSWORD": "another secret",
}


def blocks(section: str) -> dict[str, str]:
    """The entries of a top-level section by name."""
    body = re.split(r"^\S.*\n", COMPOSE.split(f"\n{section}:\n")[1], flags=re.MULTILINE)[0]
    parts = re.split(r"^  ([a-z0-9-]+):[ \t]*\n?", body, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


SERVICES = blocks("services")


def command(service: str) -> list[str]:
    found = re.search(r"^    command: \[(.*)\]$", SERVICES[service], re.MULTILINE)
    return re.findall(r'"([^"]*)"', found[1]) if found else []


def test_every_app_runs_once_and_a_judge_per_seat() -> None:
    seats = {seat.seat for pack in PackRegistry.load() for seat in pack.pack.bench.seats}
    runs = [tuple(command(name)[1:]) for name in SERVICES if command(name)[:1] == ["run"]]
    expected = {(app,) for app in ALL if app not in ("judge", "network")}
    expected |= {("judge", "--seat", str(seat)) for seat in seats}
    assert set(runs) == expected
    assert len(runs) == len(expected)


def test_the_topics_are_made_before_any_app_starts() -> None:
    assert command("topics") == ["topics", "create"]
    assert 'restart: "no"' in SERVICES["topics"]
    for name in SERVICES:
        if command(name)[:1] == ["run"]:
            assert "<<: *app" in SERVICES[name]
            if "depends_on:" in SERVICES[name]:
                assert "<<: *topics-first" in SERVICES[name]


@pytest.mark.parametrize("name", ["kafka", "clickhouse", "gateway"])
def test_what_others_wait_for_says_when_it_is_ready(name: str) -> None:
    assert "healthcheck:" in SERVICES[name]
    assert "restart: unless-stopped" in SERVICES[name] or "<<: *app" in SERVICES[name]


@pytest.mark.parametrize(
    "name",
    [
        "kafka",
        "clickhouse",
        "gateway",
        "intake",
        "tally",
        "settlement",
        "allowance",
        "ledger",
        "sink",
    ],
)
def test_what_must_outlive_a_container_has_a_volume_of_its_own(name: str) -> None:
    assert f'["{name}:/' in SERVICES[name]
    assert name in blocks("volumes")


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_and_no_provider_has_a_default(name: str) -> None:
    used = re.findall(r"\$\{" + name + r"[^}]*\}", COMPOSE)
    assert used
    assert all(f"{name}:?" in each for each in used)


def test_the_broker_is_the_one_the_tests_run_on_with_the_same_limits() -> None:
    kafka = SERVICES["kafka"]
    assert f"apache/kafka:{KAFKA_VERSION}" in kafka
    assert f'KAFKA_MESSAGE_MAX_BYTES: "{MAX_MESSAGE_BYTES}"' in kafka
    assert f'KAFKA_NUM_PARTITIONS: "{PARTITIONS}"' in kafka
    assert 'KAFKA_AUTO_CREATE_TOPICS_ENABLE: "false"' in kafka
    assert 'TRANSACTION_CLEANUP_INTERVAL_MS: "1000"' in kafka


def test_the_stand_in_says_so() -> None:
    assert 'refund-bench.stand-in: "true"' in SERVICES["gateway"]
    assert "STAND-IN" in COMPOSE
    assert "REFUND_BENCH_GATEWAY_KIND: embedded" in COMPOSE


def test_the_image_runs_as_nobody_special_from_hashes() -> None:
    assert "--require-hashes -r requirements.lock" in DOCKERFILE
    assert DOCKERFILE.rindex("\nUSER refund\n") > DOCKERFILE.rindex("\nFROM ")
    assert 'ENTRYPOINT ["refund-bench"]' in DOCKERFILE
    copied = set(re.findall(r"^COPY (\w+) \w+$", DOCKERFILE, re.MULTILINE))
    assert copied == {"schemas", "streams", "topologies", "sinks", "ops"}


def test_the_compose_client_takes_it_where_there_is_one() -> None:
    asked = subprocess.run(["sh", "-c", "docker compose version"], capture_output=True)
    if asked.returncode != 0:
        pytest.skip("no docker compose client on this machine")
    answer = subprocess.run(
        ["docker", "compose", "-f", str(ROOT / "docker-compose.yml"), "config", "--quiet"],
        capture_output=True,
        text=True,
        env={**os.environ, **SECRETS},
    )
    assert answer.returncode == 0, answer.stderr

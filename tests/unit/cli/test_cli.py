"""The root: what loads, what a failure looks like, and the exit codes."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from confluent_kafka import KafkaError, KafkaException

from ops.bounded_read import Unfinished
from ops.cli import COMMANDS
from ops.commands.reply import Failure, visible
from ops.failures import as_failure, report
from ops.local.errors import DependencyMissing, StartFailed
from sinks.migrate import SchemaBehind
from sinks.query import BadQuestion
from sinks.writer import ClickHouseAway
from streams.dry_run import CaseError
from streams.llm.port import Misconfigured
from streams.payments.port import GatewayUnavailable
from streams.policies.loader import PackError, UnknownPackError
from tests.unit.cli.calling import Cli
from topologies.quix_app import InputSetChanged
from topologies.settings import SettingsError

SHIPPED = [name for name in COMMANDS if importlib.util.find_spec(f"ops.commands.{name.replace('-', '_')}")]  # fmt: skip


def test_the_root_help_names_every_command_and_how_to_begin(cli: Cli) -> None:
    answer = cli("--help")
    assert answer.code == 0
    for name in (*SHIPPED, "refund-bench demo", "Exit codes"):
        assert name in answer.out


@pytest.mark.parametrize("name", SHIPPED)
def test_every_help_teaches_with_an_example(cli: Cli, name: str) -> None:
    answer = cli(name, "--help")
    assert answer.code == 0
    if "COMMAND" in answer.out:
        assert f"{name} [OPTIONS] COMMAND" in answer.out
    else:
        assert f"refund-bench {name}" in answer.out.split("Examples:")[1]


@pytest.mark.parametrize("sub", ["topics create", "topics describe", "pack check", "dead-letters list", "dead-letters show", "dead-letters replay"])  # fmt: skip
def test_every_help_of_a_group_teaches_too(cli: Cli, sub: str) -> None:
    assert f"refund-bench {sub}" in cli(*sub.split(), "--help").out


def loaded_by(*arguments: str) -> set[str]:
    """The modules a process has loaded when it has run the command."""
    code = (
        "import sys\nfrom ops.cli import app\n"
        f"try: app({list(arguments)!r})\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("price", "ops/cases/bank-disputes-ng.jsonl")])
def test_help_and_price_load_nothing_of_kafka_or_clickhouse(arguments: tuple[str, ...]) -> None:
    heavy = {"confluent_kafka", "quixstreams", "clickhouse_connect", "aiohttp", "anthropic", "chdb"}
    assert not loaded_by(*arguments) & heavy


def test_an_app_that_asks_no_model_starts_without_the_sdks() -> None:
    code = "import ops.apps, topologies.settlement, sinks.app, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "sinks.app" in done.stdout.split()
    assert not {"anthropic", "openai", "stripe"} & set(done.stdout.split())


def test_commands_import_what_is_heavy_inside_their_functions() -> None:
    for file in Path("ops/commands").glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.split(".")[0] not in ("streams", "topologies", "sinks", "schemas", "rich", "confluent_kafka"), file  # fmt: skip


def kafka_error(code: int) -> KafkaException:
    return KafkaException(KafkaError(code))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Failure("no"), 2),
        (Failure("no", code=1), 1),
        (SettingsError("REFUND_BENCH_INSTALLATION_KEY is missing"), 2),
        (InputSetChanged("topic ledger does not exist"), 2),
        (PackError("pack.toml: is not TOML"), 2),
        (kafka_error(KafkaError._TRANSPORT), 3),
        (kafka_error(KafkaError._ALL_BROKERS_DOWN), 3),
        (kafka_error(KafkaError.UNKNOWN_TOPIC_OR_PART), 2),
        (DependencyMissing("no java"), 3),
        (StartFailed("gateway did not come up"), 3),
        (UnknownPackError("policy 'x' is not loaded"), 2),
        (Misconfigured("provider 'x' is not known"), 2),
        (CaseError("complaint: is missing"), 2),
        (BadQuestion("there is no query 'x'"), 2),
        (SchemaBehind("run the migrations"), 2),
        (ClickHouseAway("refused", 1.0), 3),
        (GatewayUnavailable("refused"), 3),
        (Unfinished("12 partitions"), 3),
        (ConnectionRefusedError("refused"), 3),
        (TimeoutError("late"), 3),
        (RuntimeError("a customer's words"), 70),
        (KeyError("a customer's words"), 70),
    ],
)
def test_every_kind_of_failure_has_its_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(error, as_json=True) == code
    out, err = capsys.readouterr()
    found = orjson.loads(out)
    assert (found["ok"], found["exit_code"]) == (False, code)
    assert found["error"]
    assert err
    assert code != 70 or "customer" not in out + err


def test_words_for_people_say_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert "start `refund-bench up`" in str(as_failure(kafka_error(KafkaError._TRANSPORT)))
    report(Failure("no such thing", "try another"), as_json=False)
    assert capsys.readouterr() == ("", "refund-bench: no such thing; try another\n")


BAD_CALLS = [
    ("frobnicate",),
    ("valdiate", "x"),
    ("validate",),
    ("validate", "-", "--nonsense"),
    ("price", "/no/such/case.json"),
    ("run", "nobody"),
    ("run", "intake", "--seat", "1"),
    ("run", "judge", "--seat", "zero"),
    ("query", "nope"),
    ("pack", "check", "/"),
    ("topics",),
    ("dead-letters", "purge"),
]


@pytest.mark.parametrize("call", BAD_CALLS, ids=" ".join)
def test_a_call_that_makes_no_sense_is_bad_input(cli: Cli, call: tuple[str, ...]) -> None:
    answer = cli(*call, "--json") if call[0] != "run" else cli(*call)
    assert answer.code == 2
    assert answer.err
    if call[0] != "run":
        assert answer.json["exit_code"] == 2


def test_a_near_miss_is_named(cli: Cli) -> None:
    assert "'validate'" in cli("valdiate").err


@pytest.mark.parametrize(
    "call", [("topics", "create"), ("topics", "describe"), ("status", "d-1"), ("dead-letters", "list")], ids=" ".join
)  # fmt: skip
def test_without_a_broker_a_command_says_so_soon(cli: Cli, call: tuple[str, ...]) -> None:
    answer = cli(*call, "--json")
    assert answer.code == 3
    assert "127.0.0.1:1" in answer.json["error"]


def test_without_clickhouse_query_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE", "http://127.0.0.1:1")
    answer = cli("query", "counts", "--json")
    assert answer.code == 3
    assert "ClickHouse" in answer.json["error"]
    assert cli("query", "counts", "--since", "whenever").code == 2
    assert len(cli("query", "--json").json["queries"]) >= 10


def test_submit_without_the_installation_key_is_a_matter_of_configuration(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFUND_BENCH_INSTALLATION_KEY")
    answer = cli("submit", "-", "--json", stdin=b"{}")
    assert answer.code == 2
    assert "REFUND_BENCH_INSTALLATION_KEY" in answer.json["error"]


def test_price_answers_the_worked_example_to_the_rupee(cli: Cli) -> None:
    case = Path("ops/cases/food-delivery.jsonl").read_bytes().split(b"\n")[0]
    answer = cli("price", "-", "--json", stdin=case)
    assert answer.code == 0
    found = answer.json
    assert (found["amount_minor"], found["decision_rule"]) == (68900, "auto_resolve_within_cap")
    assert "₹689.00" in cli("price", "-", stdin=case).out


@pytest.mark.parametrize("bad", [b"", b"{}", b"[]", b'{"policy": "x"}', b"{}\n{}", b'{"policy": "food-delivery", "complaint": 3}'])  # fmt: skip
def test_price_refuses_what_is_not_a_case(cli: Cli, bad: bytes) -> None:
    answer = cli("price", "-", "--json", stdin=bad)
    assert (answer.code, answer.json["exit_code"]) == (2, 2)


def test_pack_check_passes_the_shipped_packs_and_names_what_is_wrong(cli: Cli, tmp_path: Path) -> None:  # fmt: skip
    shipped = Path("streams/policies/food-delivery/v1")
    assert cli("pack", "check", str(shipped), "--json").json["policy"] == "food-delivery"
    broken = tmp_path / "food-delivery" / "v1"
    broken.mkdir(parents=True)
    text = (shipped / "pack.toml").read_text()
    (broken / "pack.toml").write_text(text.replace('currency = "INR"', 'currency = "rupees"'))
    answer = cli("pack", "check", str(broken), "--json")
    assert answer.code == 1
    assert "currency" in answer.json["problems"][0]


def test_text_is_shown_and_not_obeyed() -> None:
    assert visible("a\x1b[2J\u202eb\u200bc\ud83d\ufeff😡\n") == (
        "a\\u001b[2J\\u202eb\\u200bc\\ud83d\\ufeff😡\n"
    )

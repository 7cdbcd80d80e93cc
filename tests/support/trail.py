"""What an auditor does with a running stack, through the command line."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ops.audit.verify import verify_period
from schemas.ledger import FINAL
from sinks.connection import address_from, connect
from tests.support.wait import until
from tests.unit.cli.calling import Cli


def the_trail_is_whole(cli: Cli, environment: Mapping[str, str], mine: str, ended: int) -> None:
    """Every chain of the last half hour is whole in Kafka and ClickHouse, every row is its event's, and every
    decision recounts."""
    # As if an hour had passed, so that nothing counts as under way but what the apps have not read.
    later = datetime.now(UTC) + timedelta(hours=1)
    begin = later - timedelta(minutes=90)
    with connect(address_from(environment)) as client:
        until(lambda: verify_period(begin, later, client, True, later).faults == [], timeout_s=60)
        checked = verify_period(begin, later, client, True, later)
        packs = client.query(
            "SELECT details['policy'] FROM v_operations WHERE action = 'pack_loaded'"
        )
    assert sorted(row[0] for row in packs.result_rows) == ["bank-disputes-ng", "food-delivery"]
    assert checked.disputes >= ended
    assert checked.events >= 5 * ended
    again = cli("audit", "recount", "--since", begin.isoformat(), "--json")
    assert (again.code, again.json["faults"]) == (0, [])
    assert again.json["disputes"] >= ended
    assert cli("audit", "verify", mine, "--json").json["ok"]


def one_dispute_can_be_taken_away(cli: Cli, mine: str, ended: int, folder: Path) -> None:
    """Explained from either store, its reading recorded; exported, and verified alone beside the heads."""
    for source in ("kafka", "clickhouse"):
        told = cli("explain", mine, "--from", source, "--as", "auditor-7", "--json")
        assert (told.code, told.json["source"], told.json["status"] in FINAL) == (0, source, True)
    today = datetime.now(UTC).date().isoformat()
    heads = cli("audit", "heads", "--out", str(folder / "heads"), "--day", today, "--json")
    assert heads.json["chains"] >= ended
    zipped = str(folder / "dispute.zip")
    taken = cli("audit", "export", mine, "--out", zipped, "--as", "auditor-7", "--json")
    assert (taken.code, taken.json["faults"]) == (0, [])
    assert cli("audit", "export", mine, "--out", zipped).code == 2, "never over a file"
    alone = cli("audit", "verify", "--zip", zipped, "--heads", heads.json["file"], "--json")
    assert (alone.code, alone.json["disputes"]) == (0, 1)
    acts = [op["action"] for op in cli("explain", mine, "--json").json["operations"]]
    assert acts.count("customer_text_read") >= 3
    assert "trail_exported" in acts

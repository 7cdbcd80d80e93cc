"""The demo: start everything, file labelled cases, watch them move, check how each ends."""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

from ops.cases import labelled
from ops.filing import file_cases
from ops.local.stack import LocalStack
from ops.outcome import outcome
from ops.stub.counts import counts
from ops.watch import Trail, Watcher
from schemas.money import show

FOOD = ("01", "05", "06", "07", "08", "10", "13", "16", "17", "18", "19")
BANK = ("01", "04", "07", "10")
ENDS_WITHIN_S = 90.0


def chosen(policy: str | None) -> list[dict[str, Any]]:
    """The demo's cases, in order; of one policy where asked."""
    wanted = {f"food-{n}" for n in FOOD} | {f"bank-{n}" for n in BANK}
    cases = [case for case in labelled(policy) if "-".join(case["id"].split("-")[:2]) in wanted]
    return sorted(cases, key=lambda case: (case["policy"] != "food-delivery", case["id"]))


def run(
    provider: str,
    policy: str | None = None,
    broker: str | None = None,
    keep: bool = False,
    stub: bool = False,
) -> dict[str, Any]:
    """Run the demo and report it in the keys of CONTRACT.md. Progress goes to stderr.

    With `stub` the provider's SDK talks to the LLM stub, whose own count of calls is reported too.
    """
    began = time.monotonic()
    console = Console(stderr=True, soft_wrap=True)
    cases = chosen(policy)
    folder = Path(tempfile.mkdtemp(prefix="refund-bench-demo-"))
    with _folder(folder, keep):
        stack = LocalStack(folder, provider, broker, stub_flags=() if stub else None)
        try:
            stack.start(
                lambda step: console.print(
                    f"[dim]{time.monotonic() - began:5.1f} s[/] starting {step}"
                )
            )
            outcomes, late = _file_and_watch(cases, stack, console)
            counted = counts(stack.stub_url) if stub else None
        finally:
            stack.stop()
    report = {
        "ok": not late and all(found["matches_label"] for found in outcomes),
        "elapsed_s": round(time.monotonic() - began, 1),
        "broker": "Apache Kafka, started by us" if stack.kafka else stack.bootstrap,
        "provider": provider,
        "simulated": any(found["simulated"] for found in outcomes),
        "unfinished": late,
        "stub": counted,
        "disputes": outcomes,
    }
    _tell(report, console, folder if keep else None)
    return report


@contextmanager
def _folder(folder: Path, keep: bool) -> Iterator[None]:
    import shutil

    try:
        yield
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _file_and_watch(
    cases: list[dict[str, Any]], stack: LocalStack, console: Console
) -> tuple[list[dict[str, Any]], list[str]]:
    key = stack.environment["REFUND_BENCH_INSTALLATION_KEY"].encode()
    watcher = Watcher(stack.bootstrap)
    filed = file_cases(cases, key, stack.bootstrap)
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        late = watcher.wait(
            filed.values(),
            ENDS_WITHIN_S,
            lambda trails: live.update(_progress(cases, filed, trails)),
        )
    watcher.close()
    return [
        outcome(case, filed[case["id"]], watcher.trails.get(filed[case["id"]], Trail()))
        for case in cases
    ], late


def _progress(
    cases: list[dict[str, Any]], filed: dict[str, str], trails: dict[str, Trail]
) -> Table:
    table = Table(
        "case", "status", "grievances", "judged", "decision", "paid", box=None, pad_edge=False
    )
    for case in cases:
        trail = trails.get(filed[case["id"]], Trail())
        entry = trail.entry
        table.add_row(
            case["id"],
            entry.status if entry else "received",
            str(len(trail.docket.claims)) if trail.docket else "",
            str(len(trail.verdicts)) if trail.verdicts else "",
            (entry.decision_rule or "") if entry else "",
            show(entry.paid_minor, entry.currency)
            if entry and entry.currency and entry.paid_minor
            else "",
        )
    return table


def _tell(report: dict[str, Any], console: Console, kept: Path | None) -> None:
    if report["simulated"]:
        console.print(
            Panel(
                "Every ruling here is SIMULATED: offline-rules stands in for the models.",
                style="yellow",
            )
        )
    for found in report["disputes"]:
        mark = "[green]as labelled[/]" if found["matches_label"] else "[red]NOT AS LABELLED[/]"
        money = (
            show(found["paid_minor"] or 0, found["currency"]) if found["currency"] else "nothing"
        )
        console.print(
            f"[bold]{found['case_id']}[/] {found['status']}  {found['decision_rule']}  paid {money}  {mark}"
        )
        for grievance in found["grievances"]:
            agreed = grievance["votes"].get(grievance["ruling"], 0)
            votes = f"{agreed}–{sum(grievance['votes'].values()) - agreed}"
            amount = show(grievance["amount_minor"], found["currency"]) if found["currency"] else ""
            console.print(
                f"    {grievance['ruling'] or '?':9} {votes:6} {amount:>11}  {grievance['text']}",
                highlight=False,
            )
        for wrong in found["mismatches"]:
            console.print(f"    [red]{wrong}[/]", highlight=False)
    worked = next((d for d in report["disputes"] if d["case_id"].startswith("food-01")), None)
    if worked and worked["letter"]:
        console.print(
            Panel(
                worked["letter"],
                title=f"the letter of {worked['case_id']}, {worked['llm_calls']} calls",
            )
        )
    if report["unfinished"]:
        console.print(
            f"[red]did not end within {ENDS_WITHIN_S:.0f} s:[/] {', '.join(report['unfinished'])}"
        )
    if kept:
        console.print(f"logs, gateway file and data are kept in {kept}")
    console.print(
        f"{len(report['disputes'])} disputes in {report['elapsed_s']} s. "
        "Next: `refund-bench up` in one terminal; `submit`, `status`, `explain` and `query` in another."
    )


if __name__ == "__main__":
    import orjson

    found = run("offline-rules", keep="--keep" in sys.argv)
    sys.stdout.buffer.write(orjson.dumps(found, option=orjson.OPT_INDENT_2))

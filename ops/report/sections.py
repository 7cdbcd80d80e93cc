"""What the report asks, and how each answer is drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ops.report import figures
from ops.report.figures import Row, across, lines, stacked, svg
from schemas.money import exponent

Figure = tuple[str, str]
"""A caption and an `<svg>`."""


@dataclass(frozen=True)
class Section:
    """One canned query in the report; `rows` of its answer are printed, and its figures drawn."""

    query: str
    title: str
    figures: Callable[[Sequence[Row]], list[Figure]] = lambda rows: []
    rows: int = 25


def split(rows: Sequence[Row]) -> list[Figure]:
    parts: dict[str, Callable[[Row], float]] = {
        "all agree": lambda row: row["unanimous"],
        "two ways": lambda row: row["two_ways"],
        "three ways": lambda row: row["three_ways"],
        "incomplete": lambda row: row["incomplete"],
    }
    return [
        ("Share of grievances by how the bench divided", _drawn("split", stacked(rows, "category", parts, share=True)))
    ]  # fmt: skip


def escalation(rows: Sequence[Row]) -> list[Figure]:
    disputes = [row for row in rows if row["category"] == "(dispute)"]
    draw = lines(disputes, "day", lambda row: row["policy"], lambda row: row["escalation_rate"])
    return [("Share of disputes for a person, by day", _drawn("escalation", draw))]


def payouts(rows: Sequence[Row]) -> list[Figure]:
    """A figure per currency: amounts of two currencies are never put beside each other."""
    drawn = []
    for currency in sorted({row["currency"] for row in rows}):
        mine = [row for row in rows if row["currency"] == currency]
        categories = sorted({row["category"] for row in mine})
        parts = {
            category: _amount_of(category, 10 ** exponent(currency)) for category in categories
        }
        draw = stacked(mine, "day", parts)
        drawn.append((f"Paid by day and category, {currency}", _drawn(f"paid-{currency}", draw)))
    return drawn


def _amount_of(category: str, unit: int) -> Callable[[Row], float]:
    return lambda row: row["amount_minor"] / unit if row["category"] == category else 0.0


def rules(rows: Sequence[Row]) -> list[Figure]:
    named = [
        {**row, "rule": f"{row['decision_rule']} ({row['policy']} v{row['pack_version']})"}
        for row in rows
    ]
    draw = across(named, "rule", {"share": lambda row: row["share"]})
    return [("Share of disputes by the rule that decided", _drawn("rules", draw, tall=len(rows)))]


def judges(rows: Sequence[Row]) -> list[Figure]:
    summed: dict[str, Row] = {}
    for row in rows:
        name = f"{row['model']} {row['prompt_variant']}"
        one = summed.setdefault(name, {"judge": name, "rulings": 0, "abstained": 0, "dissents": 0})
        for figure in ("rulings", "abstained", "dissents"):
            one[figure] += row[figure] or 0
    values: dict[str, Callable[[Row], float]] = {
        "abstains": lambda row: row["abstained"] / max(row["rulings"], 1),
        "dissents": lambda row: row["dissents"] / max(row["rulings"] - row["abstained"], 1),
    }
    draw = across(list(summed.values()), "judge", values)
    return [("How often each judge abstains and dissents", _drawn("judges", draw))]


def cost(rows: Sequence[Row]) -> list[Figure]:
    draw = lines(
        rows, "day", lambda row: row["policy"], lambda row: row["cost_micros_per_dispute"] / 1e6
    )
    return [("Cost of a dispute in US dollars, by day", _drawn("cost", draw))]


def latency(rows: Sequence[Row]) -> list[Figure]:
    draw = lines(rows, "hour", lambda row: row["stage"], lambda row: row["p90_s"])
    return [("Seconds each stage takes for nine in ten, by hour", _drawn("latency", draw))]


def promise(rows: Sequence[Row]) -> list[Figure]:
    both = [
        {"hour": row["hour"], "which": which, "seconds": row[f"{which}_s"]}
        for row in rows
        for which in ("p50", "p90")
    ]
    draw = lines(both, "hour", lambda row: row["which"], lambda row: row["seconds"])

    def with_the_promise(axes: Any) -> None:
        draw(axes)
        for seconds in (15, 30):
            axes.axhline(seconds, color="#6b7280", linewidth=0.8, linestyle="--")
        axes.set_ylim(0, max(32, axes.get_ylim()[1]))

    return [
        ("Seconds from complaint to settled; promised are 15 and 30", _drawn("promise", with_the_promise))
    ]  # fmt: skip


def deadlines(rows: Sequence[Row]) -> list[Figure]:
    names = ("kept", "kept_late", "breached_and_open", "at_risk", "open_in_time")
    parts = {name.replace("_", " "): _count_of(name) for name in names}
    return [("Promises to customers", _drawn("deadlines", stacked(rows, "deadline", parts)))]


def _count_of(name: str) -> Callable[[Row], float]:
    return lambda row: float(row[name])


def _drawn(name: str, draw: Callable[[Any], None], tall: int = 0) -> str:
    return svg(name, draw, high=max(figures.HIGH, 0.24 * min(tall, 24)))


SECTIONS: tuple[Section, ...] = (
    Section("end_to_end", "The promise", promise, rows=0),
    Section("decision_rules", "What decided", rules),
    Section("payouts", "What was paid", payouts, rows=0),
    Section("split_rate", "How often benches divide", split, rows=0),
    Section("escalation_rate", "How often a person decides", escalation, rows=0),
    Section("escalation_reasons", "Why a person decides", rows=20),
    Section("officer_overturns", "Where people change the lean of the bench", rows=20),
    Section("judges", "The judges", judges),
    Section("judge_agreement", "How often two judges agree", rows=20),
    Section("late_rulings", "Rulings that came too late", rows=10),
    Section("cost_per_dispute", "What a dispute costs", cost, rows=0),
    Section("stage_latency", "Where the time goes", latency, rows=0),
    Section("deadlines", "Deadlines", deadlines, rows=0),
    Section("top_refunds", "Where refunds gather", rows=40),
    Section("duplicates", "Repeated complaints", rows=10),
    Section("packs", "The packs, models and prompts behind these figures"),
)

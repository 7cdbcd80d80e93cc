"""The report as one HTML page. Every text is escaped; nothing is loaded from anywhere."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from ops.report.sections import SECTIONS
from ops.tables import as_text


def render(
    answers: Mapping[str, dict[str, Any]], period: str, time_zone: str, clock: str, now: datetime
) -> str:
    """The page, from the answer to each section's query, by name."""
    import jinja2

    parts, simulated = [], False
    for section in SECTIONS:
        answer = answers[section.query]
        rows = [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
        simulated = simulated or any(row.get("simulated") for row in rows)
        shown = answer["columns"] if section.rows else []
        parts.append(
            {
                "title": section.title,
                "query": section.query,
                "about": answer["about"],
                "figures": section.figures(rows) if rows else [],
                "columns": shown,
                "rows": [[as_text(row[name]) for name in shown] for row in rows[: section.rows]],
                "more": max(0, len(rows) - section.rows) if section.rows else 0,
                "empty": not rows,
                "notes": answer["notes"],
            }
        )
    page = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        (Path(__file__).parent / "report.html.j2").read_text(encoding="utf-8")
    )
    return page.render(
        parts=parts, simulated=simulated, period=period, time_zone=time_zone, clock=clock,
        made_at=now.isoformat(timespec="minutes"),
    )  # fmt: skip

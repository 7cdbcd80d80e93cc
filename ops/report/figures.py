"""Drawings of an answer as inline SVG. matplotlib is slow to load, so only the report loads it."""

import io
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]
PALETTE = ("#1b6ca8", "#e08e0b", "#3a9d5d", "#b03a48", "#7a5aa6", "#6b7280", "#0f9aa5", "#a0612c")
WIDE, HIGH = 7.2, 2.9
MOST_SERIES = 8


def svg(name: str, draw: Callable[[Any], None], high: float = HIGH) -> str:
    """One `<svg>` element, the same bytes for the same data; letters are drawn, so no font is needed."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(
        {"svg.fonttype": "path", "svg.hashsalt": name, "font.size": 8, "text.parse_math": False}
    ):
        figure = Figure(figsize=(WIDE, high), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_prop_cycle(color=PALETTE)
        draw(axes)
        out = io.StringIO()
        empty = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=empty)
    return out.getvalue()[out.getvalue().index("<svg") :]


def lines(
    rows: Sequence[Row], x: str, series: Callable[[Row], str], y: Callable[[Row], float | None]
) -> Callable[[Any], None]:
    """A line per series. Where several rows share a point (two pack versions) the highest is drawn."""
    drawn: dict[str, dict[str, float]] = {}
    for row in rows:
        value = y(row)
        if value is not None:
            points = drawn.setdefault(series(row), {})
            points[row[x]] = max(value, points.get(row[x], value))
    places = {
        at: place for place, at in enumerate(sorted({at for p in drawn.values() for at in p}))
    }

    def draw(axes: Any) -> None:
        for name, points in sorted(drawn.items())[:MOST_SERIES]:
            held = sorted(points.items())
            marker = "o" if len(held) < 3 else ""
            axes.plot(
                [places[at] for at, _ in held], [v for _, v in held], label=name, marker=marker
            )
        _ticks(axes, sorted(places))
        axes.set_ylim(bottom=0)
        _legend(axes)

    return draw


def stacked(
    rows: Sequence[Row], x: str, parts: dict[str, Callable[[Row], float]], *, share: bool = False
) -> Callable[[Any], None]:
    """A bar per `x` made of `parts`, added up over the rows; with `share` each bar is one whole."""
    added: dict[str, dict[str, float]] = {}
    for row in rows:
        bar = added.setdefault(str(row[x]), dict.fromkeys(parts, 0.0))
        for part, value in parts.items():
            bar[part] += value(row)

    def draw(axes: Any) -> None:
        names = sorted(added)
        totals = [sum(added[name].values()) or 1 for name in names]
        base = [0.0] * len(names)
        for part in parts:
            values = [
                added[name][part] / (total if share else 1)
                for name, total in zip(names, totals, strict=True)
            ]
            axes.bar(range(len(names)), values, bottom=base, label=part, width=0.8)
            base = [low + value for low, value in zip(base, values, strict=True)]
        _ticks(axes, names)
        _legend(axes)

    return draw


def across(rows: Sequence[Row], name: str, values: dict[str, Callable[[Row], float]]) -> Any:
    """Bars lying down, a group per row, for names that are long."""
    kept = list(rows)[:24]

    def draw(axes: Any) -> None:
        thick = 0.8 / len(values)
        for place, (label, value) in enumerate(values.items()):
            at = [row + place * thick for row in range(len(kept))]
            axes.barh(at, [value(row) for row in kept], height=thick, label=label)
        axes.set_yticks([row + 0.4 - thick / 2 for row in range(len(kept))])
        axes.set_yticklabels([str(row[name])[:64] for row in kept])
        axes.invert_yaxis()
        if len(values) > 1:
            _legend(axes)

    return draw


def _ticks(axes: Any, names: Sequence[str]) -> None:
    step = max(1, -(-len(names) // 10))
    axes.set_xticks(range(0, len(names), step))
    turned = {"rotation": 25, "ha": "right"} if any(len(name) > 6 for name in names) else {}
    axes.set_xticklabels([name[:24] for name in names[::step]], **turned)


def _legend(axes: Any) -> None:
    axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))

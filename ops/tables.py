"""An answer's rows as a table of text, and as CSV that no spreadsheet takes for formulas."""

import csv
import io
import json
from typing import Any

FORMULA = (*"=+-@\t\r\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet reads as the beginning of a formula, the full-width forms included (OWASP, CSV injection)."""


def as_csv(columns: list[str], rows: list[list[Any]]) -> str:
    """RFC 4180 with a header. A text that would be a formula gets an apostrophe in front; numbers stay."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_cell(column) for column in columns])
    writer.writerows([[_cell(value) for value in row] for row in rows])
    return out.getvalue()


def as_text(value: Any) -> str:
    """A value as a person reads it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1_000_000 else f"{value:.0f}"
    if isinstance(value, list):
        return ", ".join(as_text(item) for item in value)
    return str(value)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value

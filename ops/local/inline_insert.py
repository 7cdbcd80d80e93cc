"""Where an INSERT statement ends and its data begins.

ClickHouse takes both in one request body; chDB wants them apart (given together, it ends the data
at the first blank line).
"""

import re
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(
    rb"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`\\]|\\.)*`
       | --[^\n]* | /\*.*?\*/ | [()] | \w+""",
    re.DOTALL | re.VERBOSE,
)
_GAP_BEFORE_DATA = re.compile(rb"[ \t\f]*\r?\n?")
_NOT_INLINE = frozenset({b"SELECT", b"WITH", b"INFILE"})


@dataclass(frozen=True)
class InlineInsert:
    statement: str
    format: str
    data: bytes


def split_insert(sql: bytes) -> InlineInsert | None:
    """None for anything but an INSERT that carries its data."""
    words = (token for token in _TOKEN.finditer(sql) if not _is_comment(token[0]))
    first = next(words, None)
    if first is None or first[0].upper() != b"INSERT":
        return None
    depth = 0
    for token in words:
        word = token[0].upper()
        depth += (word == b"(") - (word == b")")
        if depth or word in (b"(", b")"):
            continue
        if word in _NOT_INLINE:
            return None
        if word == b"VALUES":
            return InlineInsert(_text(sql[: token.start()]), "Values", sql[token.end() :])
        if word == b"FORMAT":
            name = next(words, None)
            if name is None:
                return None
            gap = _GAP_BEFORE_DATA.match(sql, name.end())
            data = sql[gap.end() if gap else name.end() :]
            return InlineInsert(_text(sql[: token.start()]), name[0].decode(), data)
    return None


def touches_files(sql: bytes) -> bool:
    """True for INTO OUTFILE and FROM INFILE, which name a file of the server; inline data is not looked at."""
    insert = split_insert(sql)
    statement = insert.statement.encode() if insert else sql
    words = [token[0].upper() for token in _TOKEN.finditer(statement) if not _is_comment(token[0])]
    pairs = set(pairwise(words))
    return (b"INTO", b"OUTFILE") in pairs or (b"FROM", b"INFILE") in pairs


def _is_comment(token: bytes) -> bool:
    return token.startswith((b"--", b"/*"))


def _text(statement: bytes) -> str:
    return statement.decode("utf-8").strip()

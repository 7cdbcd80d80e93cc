"""What an analyst may ask, beyond what the engine's own roles refuse.

Embedded, the engine lets every role read files through a function, write a result to a file, take
another role and look at the statements of others. The engine parses the statement; this module reads
its tree, so that no spelling of a statement is judged by a parser of ours.
"""

import re

KINDS = frozenset({"SelectWithUnionQuery", "DescribeQuery", "ExistsTableQuery", "ShowTables"})
"""Statements that only look."""
TABLE_FUNCTIONS = frozenset({"numbers", "zeros", "generateseries", "generate_series", "values"})
SYSTEM_TABLES = frozenset(
    {
        "one", "numbers", "settings", "functions", "time_zones", "databases", "tables", "columns", "formats",
        "data_type_families",
    }
)  # fmt: skip
DATABASES = frozenset({"system", "information_schema"})
_FUNCTIONS = re.compile(
    r"file(system\w+)?|joinget\w*|getmacro|getserver\w+|getclienthttpheader|evalmlmethod|dict\w+|catboost\w*",
    re.IGNORECASE,
)
_AI = re.compile(r"(ai|AI)[A-Z]\w*")
_OWN_SETTINGS_DEPTH = 3
"""Where the tree of one SELECT has its own SETTINGS; those of a query in it are deeper."""
_NODE = re.compile(r"^( *)(\w+)(?: (.*?))?(?: \(alias .*?\))?(?: \(children \d+\))?$")


class NotForAnalysts(Exception):
    """Says what is refused, and what can be asked instead."""


def one_statement(sql: bytes) -> bytes:
    """The statement without the semicolon that may end it.

    Raises:
        NotForAnalysts: a semicolon inside, which might begin a second statement.
    """
    whole = sql.strip().rstrip(b"; \t\r\n")
    if b";" in whole:
        raise NotForAnalysts("one statement at a time; bind a text that holds a semicolon")
    return whole


def check(tree: str) -> None:
    """Refuse a statement by its tree, as `EXPLAIN AST` prints it.

    Raises:
        NotForAnalysts: it would write, take rights, or look at anything but the views.
    """
    lines = tree.splitlines()
    kind = lines[0].split(" ")[0] if lines else ""
    if kind not in KINDS:
        raise NotForAnalysts("this user may only SELECT, DESCRIBE, EXISTS and SHOW TABLES")
    parents: dict[int, str] = {}
    several = len(lines) > 1 and re.fullmatch(r" ExpressionList \(children 1\)", lines[1]) is None
    for line in lines:
        found = _NODE.match(line)
        if found is None:
            continue
        depth, node, name = len(found[1]), found[2], found[3] or ""
        parents[depth] = node
        parent = parents.get(depth - 1, "")
        if node == "Literal" and depth == 1:
            raise NotForAnalysts("INTO OUTFILE writes on the server; take the answer instead")
        if node == "Set" and (depth > _OWN_SETTINGS_DEPTH or several):
            # The engine holds these to no constraint; see clickhouse_users.FIXED_SETTINGS.
            raise NotForAnalysts("SETTINGS inside a statement or a UNION; put them at its end")
        if node == "ColumnsApplyTransformer":
            raise NotForAnalysts("APPLY is not for analysts; name the columns")
        _name(node, name, parent)


def _name(node: str, name: str, parent: str) -> None:
    if node == "Function" and parent == "TableExpression" and name.lower() not in TABLE_FUNCTIONS:
        raise NotForAnalysts(f"the table function {name}() is not for analysts; read the v_ views")
    if node in ("Function", "Identifier") and (_FUNCTIONS.fullmatch(name) or _AI.fullmatch(name)):
        raise NotForAnalysts(f"{name}() is not for analysts")
    if node in ("TableIdentifier", "Identifier"):
        database, _, table = name.partition(".")
        if database.lower() in DATABASES and table.lower() not in SYSTEM_TABLES:
            raise NotForAnalysts(f"{name} is not for analysts; read the v_ views")

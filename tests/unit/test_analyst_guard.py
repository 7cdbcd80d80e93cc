"""What an analyst may ask, by the tree of the statement. The trees are as the engine prints them."""

import pytest

from ops.local.analyst_guard import NotForAnalysts, check, one_statement

SELECT = """SelectWithUnionQuery (children 1)
 ExpressionList (children 1)
  SelectQuery (children 2)
   ExpressionList (children 1)
    {what}
   TablesInSelectQuery (children 1)
    TablesInSelectQueryElement (children 1)
     TableExpression (children 1)
      {source}"""


def tree(what: str = "Asterisk", source: str = "TableIdentifier v_disputes") -> str:
    return SELECT.format(what=what, source=source)


@pytest.mark.parametrize(
    "found",
    [
        tree(),
        tree(source="TableIdentifier system.settings"),
        tree(source="Function numbers (children 1)"),
        tree("Function count (children 1)"),
        tree("Identifier aircraft"),
        tree() + "\n   Set",
        tree() + "\n Identifier CSV\n Set",
        "ShowTables",
        "DescribeQuery (children 1)",
    ],
)
def test_looking_at_views_is_allowed(found: str) -> None:
    check(found)


@pytest.mark.parametrize(
    "found",
    [
        "",
        "SetRoleQuery",
        "InsertQuery   (children 1)",
        "Explain EXPLAIN (children 1)",
        tree("Function file (children 1)"),
        tree("Function FILE (alias x) (children 1)"),
        tree("Identifier file"),
        tree("Function aiGenerate (children 1)"),
        tree("Function dictGet (children 1)"),
        tree("ColumnsApplyTransformer"),
        tree(source="Function url (alias u) (children 1)"),
        tree(source="Function merge (children 1)"),
        tree(source="TableIdentifier system.processes"),
        tree("Identifier SYSTEM.processes"),
        tree() + "\n Literal \\'/tmp/x\\'",
        tree() + "\n          Set",
        tree().replace(" ExpressionList (children 1)", " ExpressionList (children 2)", 1)
        + "\n   Set",
    ],
)
def test_everything_else_is_refused(found: str) -> None:
    with pytest.raises(NotForAnalysts):
        check(found)


def test_one_statement_at_a_time() -> None:
    assert one_statement(b" SELECT 1 ;\n") == b"SELECT 1"
    with pytest.raises(NotForAnalysts, match="one statement"):
        one_statement(b"SELECT 1; SET ROLE owner")

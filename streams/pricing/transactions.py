"""Prices claims about one transaction, or several related by reference, by formulas over its record."""

from schemas.pack import Formula
from streams.facts import reversal_untold, reversed_minor, same_reference, whole
from streams.pricing.draft import Asked, Want
from streams.pricing.holdings import TRANSACTION
from streams.pricing.record import PricedRecord


def price_formula(rule: Formula, record: PricedRecord) -> Asked:
    """Σ plus − Σ minus, never below 0, and never above what is left of the transaction."""
    values: dict[str, int] = {}
    scope, left = formula_scope(rule, record), record.unreversed()
    for field in (*rule.plus, *rule.minus):
        value = whole(record.facts.get(field))
        if value is None and field in rule.optional:
            value = 0
        if value is None or value < 0:
            lack = "lacks" if value is None else "has a negative"
            problem = f"the formula needs {field}, and the record {lack} it"
            most = left if left is not None else record.available or 0
            return Asked("transaction", (Want(scope, 0, most),), "", None, problem)
        values[field] = value
    owed = sum(values[f] for f in rule.plus) - sum(values[f] for f in rule.minus)
    said = [f"{_spoken(field)} {record.show(values[field])}" for field in rule.plus]
    took = [f"{_spoken(field)} {record.show(values[field])}" for field in rule.minus]
    amount = max(0, owed)
    if amount and reversal_untold(record.evidence):
        problem = "the record tells of a reversal and does not say of how much"
        return Asked("transaction", (Want(scope, 0, left or 0),), "", None, problem)
    basis = " + ".join(said) + "".join(f" − {part}" for part in took) + f" = {record.show(amount)}"
    if left is not None and amount > left:
        amount, basis = left, f"{basis}, clamped to what is not reversed: {record.show(left)}"
    return Asked("transaction", (Want(scope, amount),), basis)


def formula_scope(rule: Formula, record: PricedRecord) -> str:
    """The transaction's own scope where its amount is what the formula starts from; else one per sum of
    fields, so that two claims on one figure are paid once and claims on different figures each."""
    if rule.plus == (record.pack.tier_amount_field,):
        return record.subject_scope
    return "field:" + "+".join(rule.plus)


def _spoken(field: str) -> str:
    return field.removesuffix("_minor").removesuffix("_effective").replace("_", " ")


def price_related(record: PricedRecord) -> Asked:
    """Σ of the unreversed related transactions with the same reference, each under its own scope.

    Of n debits for one reference one must stand: where the disputed one was itself returned, or is
    before a person, the largest of the others stands in its place.
    """
    own = record.evidence.get("transaction_id")
    others = {
        str(other.get("transaction_id")): other
        for other in same_reference(record.evidence)
        if other.get("transaction_id") not in (None, own)
    }
    if not others:
        problem = "the record names no other transaction with the same reference"
        return Asked("transaction", (), "", None, problem)
    named = [str(other.get("transaction_id")) for other in same_reference(record.evidence)]
    if len(named) != len(set(named)):
        problem = "the record names one related transaction twice"
        return Asked("transaction", (), "", None, problem)
    wants: list[Want] = []
    said: list[str] = []
    for transaction, other in sorted(others.items()):
        amount, back = whole(other.get("amount_minor")), reversed_minor(other)
        if amount is None or amount < 0:
            problem = f"the amount of related transaction {transaction} is not recorded"
            return Asked("transaction", (), "", None, problem)
        if other.get("debit_posted") is False:
            problem = f"related transaction {transaction} was never debited"
            return Asked("transaction", (), "", None, problem)
        if reversal_untold(other):
            problem = f"related transaction {transaction} was reversed, of how much is not recorded"
            return Asked("transaction", (), "", None, problem)
        wants.append(Want(f"{TRANSACTION}{transaction}", max(0, amount - back)))
        returned = f" less reversed {record.show(back)}" if back else ""
        said.append(f"{transaction} {record.show(amount)}{returned}")
    total = record.show(sum(want.amount for want in wants))
    basis = f"same reference: {' + '.join(said)} = {total}"
    if record.unreversed() == 0 or record.holdings.holder(record.subject_scope):
        free = [w for w in wants if w.amount and record.holdings.holder(w.scope) is None]
        stands = max(free, key=lambda want: want.amount, default=None)
        wants = [want for want in wants if want != stands]
        basis += "; the disputed debit was itself returned or is before a person, so "
        basis += f"{stands.scope} stands" if stands else "nothing is left"
    return Asked("transaction", tuple(wants), basis)


def price_nothing(record: PricedRecord) -> Asked:
    """The rules price it at nothing; a person may still approve up to what is left of the transaction."""
    left = record.unreversed()
    if left is None:
        return Asked("none", (), "the category pays nothing by itself")
    want = Want(record.subject_scope, 0, left)
    return Asked("none", (want,), "never paid automatically; a person decides")

"""Amounts are integers in the currency's minor unit; this module only knows how to show and split them."""

from collections.abc import Sequence
from fractions import Fraction

EXPONENTS = {
    "INR": 2, "NGN": 2, "USD": 2, "EUR": 2, "GBP": 2, "KES": 2, "GHS": 2, "ZAR": 2, "AED": 2,
    "SGD": 2, "BRL": 2, "JPY": 0, "KRW": 0, "UGX": 0, "XOF": 0, "XAF": 0, "VND": 0, "CLP": 0,
    "KWD": 3, "BHD": 3, "OMR": 3, "JOD": 3, "TND": 3,
}  # fmt: skip
"""Digits after the point of each currency we accept (ISO 4217)."""

SYMBOLS = {"INR": "₹", "NGN": "₦", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}


def exponent(currency: str) -> int:
    """Digits after the point.

    Raises:
        ValueError: a currency we do not know, which no amount can be stated in.
    """
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise ValueError(
            f"currency {currency!r} is not known; add it to schemas/money.py"
        ) from None


def show(amount_minor: int, currency: str) -> str:
    """The amount as a person reads it: ₹689.00, ¥120, KWD 1.250."""
    digits = exponent(currency)
    sign = "-" if amount_minor < 0 else ""
    whole, part = divmod(abs(amount_minor), 10**digits)
    number = f"{whole:,}" if digits == 0 else f"{whole:,}.{part:0{digits}d}"
    symbol = SYMBOLS.get(currency)
    return f"{sign}{symbol}{number}" if symbol else f"{sign}{currency} {number}"


def allocate(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights` by the largest-remainder (Hamilton) method.

    The shares sum to `total` exactly; ties of remainder go to the earlier weight. With no weight at
    all everything is 0 unless there is something to split, which is then split evenly.

    Raises:
        ValueError: a negative total or weight, or something to split among nobody.
    """
    if total < 0 or any(weight < 0 for weight in weights):
        raise ValueError("allocate needs a total and weights that are not negative")
    if not weights:
        if total:
            raise ValueError("allocate has nobody to give the total to")
        return []
    mass = sum(weights)
    if mass == 0:
        return allocate(total, [1] * len(weights))
    exact = [Fraction(total * weight, mass) for weight in weights]
    shares = [int(share) for share in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (shares[i] - exact[i], i))
    for i in by_remainder[: total - sum(shares)]:
        shares[i] += 1
    return shares

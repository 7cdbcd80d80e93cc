"""Amounts are whole minor units: nothing is lost or made up when one is split, and each currency has its own digits."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.money import EXPONENTS, allocate, exponent, show

weights = st.lists(st.integers(0, 10**9), min_size=1, max_size=30)


@given(st.integers(0, 10**12), weights)
def test_the_shares_sum_to_the_total(total: int, parts: list[int]) -> None:
    assert sum(allocate(total, parts)) == total


@given(st.integers(0, 10**12), weights.filter(any))
def test_no_share_is_a_whole_unit_from_its_due(total: int, parts: list[int]) -> None:
    for share, weight in zip(allocate(total, parts), parts, strict=True):
        assert abs(share - Fraction(total * weight, sum(parts))) < 1


@given(st.integers(0, 10**6), weights.filter(any))
def test_who_weighs_nothing_gets_nothing(total: int, parts: list[int]) -> None:
    assert all(
        share == 0
        for share, weight in zip(allocate(total, parts), parts, strict=True)
        if weight == 0
    )


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_equal_weights_differ_by_one_and_the_earlier_gets_more(total: int, count: int) -> None:
    shares = allocate(total, [1] * count)
    assert max(shares) - min(shares) <= 1
    assert shares == sorted(shares, reverse=True)


@given(st.integers(0, 10**6), weights.filter(any))
def test_a_heavier_part_never_gets_less(total: int, parts: list[int]) -> None:
    by_weight = sorted(zip(parts, allocate(total, parts), strict=True))
    for (light, less), (heavy, more) in pairwise(by_weight):
        assert light == heavy or less <= more


@pytest.mark.parametrize(
    ("total", "parts", "shares"),
    [
        (100, [1, 1, 1], [34, 33, 33]),
        (2, [1, 1, 1], [1, 1, 0]),
        (5, [3, 2, 1], [2, 2, 1]),  # exact 2.5, 1.67, 0.83: the largest remainders are the last two
        (10, [0, 0], [5, 5]),
        (0, [0, 0], [0, 0]),
        (7, [5], [7]),
        (0, [], []),
    ],
)
def test_largest_remainder_by_hand(total: int, parts: list[int], shares: list[int]) -> None:
    assert allocate(total, parts) == shares


@pytest.mark.parametrize(("total", "parts"), [(-1, [1]), (1, [1, -1]), (1, [])])
def test_what_cannot_be_split_is_refused(total: int, parts: list[int]) -> None:
    with pytest.raises(ValueError, match="allocate"):
        allocate(total, parts)


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (68_900, "INR", "₹689.00"),
        (5, "INR", "₹0.05"),
        (0, "NGN", "₦0.00"),
        (190_283_500, "NGN", "₦1,902,835.00"),
        (120, "JPY", "¥120"),
        (1_250, "KWD", "KWD 1.250"),
        (1_234_567, "KWD", "KWD 1,234.567"),
        (9_007_199_254_740_991, "USD", "$90,071,992,547,409.91"),
        (-250, "EUR", "-€2.50"),
    ],
)
def test_an_amount_as_a_person_reads_it(amount: int, currency: str, shown: str) -> None:
    assert show(amount, currency) == shown


@given(st.integers(0, 2**53 - 1), st.sampled_from(sorted(EXPONENTS)))
def test_what_is_shown_is_the_amount_and_no_digit_less(amount: int, currency: str) -> None:
    digits = "".join(character for character in show(amount, currency) if character.isdigit())
    assert int(digits) == amount


def test_yen_has_no_digits_after_the_point_and_dinar_three() -> None:
    assert (exponent("JPY"), exponent("KWD"), exponent("INR")) == (0, 3, 2)


@pytest.mark.parametrize("currency", ["XXX", "inr", "", "₹"])
def test_an_unknown_currency_is_refused_rather_than_guessed(currency: str) -> None:
    with pytest.raises(ValueError, match="not known"):
        show(100, currency)

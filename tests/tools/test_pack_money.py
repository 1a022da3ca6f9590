from __future__ import annotations

import importlib
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_voiceeval.scenarios.packs import builtin_pack

CENTS = st.integers(-(10**30), 10**30)
AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)


@pytest.fixture(scope="module")
def money() -> Any:
    builtin_pack().load_tools()
    return importlib.import_module(f"{builtin_pack().package}.tools._money")


@given(cents=CENTS)
def test_an_amount_in_cents_is_read_as_it_was_written(money: Any, cents: int) -> None:
    amount = Decimal(f"{cents}e-2")
    text = money.format_money(amount)
    assert re.fullmatch(r"-?\$\d{1,3}(,\d{3})*\.\d\d", text)
    assert money.parse_money(text) == amount


@given(amount=AMOUNTS)
def test_an_amount_is_written_with_the_cents_that_are_nearest(money: Any, amount: Decimal) -> None:
    text = money.format_money(amount)
    written = money.parse_money(text)
    assert abs(written - amount) <= Decimal("0.005")
    assert written == amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert text.startswith("-") == (written < 0)


@given(balance=CENTS, refunds=st.lists(CENTS, max_size=20))
def test_no_cent_is_lost_over_many_refunds(money: Any, balance: int, refunds: list[int]) -> None:
    text = money.format_money(Decimal(f"{balance}e-2"))
    for refund in refunds:
        amount = money.parse_amount(f"{refund}e-2")
        text = money.format_money(money.difference(money.parse_money(text), amount))
    assert money.parse_money(text) == Decimal(f"{balance - sum(refunds)}e-2")


@given(dollars=st.integers(-(10**9), 10**9), cents=st.integers(0, 99))
def test_the_number_of_a_model_is_the_one_that_its_text_shows(money: Any, dollars: int, cents: int) -> None:
    text = f"{dollars}.{cents:02}"
    assert money.parse_amount(float(text)) == money.parse_amount(text) == Decimal(text)


@given(value=st.one_of(st.text(), st.floats(), st.integers(), st.booleans(), st.none()))
def test_whatever_is_taken_for_an_amount_can_be_written(money: Any, value: Any) -> None:
    try:
        amount = money.parse_amount(value)
    except ValueError:
        return
    assert re.fullmatch(r"-?\$\d{1,3}(,\d{3})*\.\d\d", money.format_money(amount))


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("-$49.99", "-49.99"),
        ("$-5", "-5"),
        ("--5", "-5"),
        (" $1,234.56 ", "1234.56"),
        ("+$5", "5"),
        ("142.5", "142.5"),
        ("$12345678901234567890123456789012.34", "12345678901234567890123456789012.34"),
        ("-12345678901234567890123456789012.34", "-12345678901234567890123456789012.34"),
    ],
)
def test_amounts_as_accounts_write_them(money: Any, text: str, amount: str) -> None:
    assert money.parse_money(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["", "$", "-", "free", "$1 2", "nan", "$inf"])
def test_a_text_that_is_no_amount_is_told(money: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{text!r} is not an amount")):
        money.parse_money(text)

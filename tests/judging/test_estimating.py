"""Tokens and costs before a run; the figures are worked out by hand."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.chat import ChatRequest
from cqa_site.judging.estimating import (
    Estimate,
    cost_micro,
    estimate,
    estimate_messages,
    estimate_tokens,
)
from cqa_site.judging.identity import ordered_json

MESSAGES = ({"role": "system", "content": "a" * 30}, {"role": "user", "content": "b" * 31})


def request(schema=None, **params):
    return ChatRequest("small", MESSAGES, params, schema)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abc", 1),
        ("abcd", 2),
        ("é", 1),
        ("éé", 2),
        ("木木", 3),
        ("😀", 2),
        ("ab木", 3),
    ],
)
def test_tokens_of_a_text(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text, more):
    assert estimate_tokens(text) <= estimate_tokens(text + more)
    assert estimate_tokens(text + more) <= estimate_tokens(text) + estimate_tokens(more)


def test_messages_carry_their_marks():
    assert estimate_messages(MESSAGES) == 3 + (4 + 10) + (4 + 11)
    assert estimate_messages([]) == 3


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "price_in", "price_out", "cost"),
    [
        (1_000_000, 0, "0.15", "0.60", 150_000),
        (0, 1_000_000, "0.15", "0.60", 600_000),
        (1, 0, "0.15", "0.60", 1),
        (7, 3, "0.15", "0.60", 3),
        (10, 0, "0.10", "0", 1),
        (10**12, 10**12, "75", "150.000001", 225 * 10**12 + 10**6),
        (5, 5, "0", "0", 0),
    ],
)
def test_cost_is_exact_and_rounded_up(tokens_in, tokens_out, price_in, price_out, cost):
    prices = {"price_in": Decimal(price_in), "price_out": Decimal(price_out)}
    found = cost_micro(tokens_in, tokens_out, **prices)
    assert (found, type(found)) == (cost, int)


@pytest.mark.parametrize("bad", [(-1, 0, 1, 1), (0, -1, 1, 1), (0, 0, -1, 1), (0, 0, 1, -1)])
def test_nothing_is_negative(bad):
    with pytest.raises(ValueError, match="negative"):
        cost_micro(bad[0], bad[1], price_in=Decimal(bad[2]), price_out=Decimal(bad[3]))


def totals(requests, **keywords):
    return estimate(requests, price_in=Decimal(1), price_out=Decimal(2), **keywords)


def test_requests_add_up():
    requests = (request(max_tokens=limit) for limit in (100, 50))
    assert totals(requests) == Estimate(2, 64, 150, 64 + 300)


def test_without_requests():
    assert totals([]) == Estimate(0, 0, 0, 0)


def test_the_smallest_bound_on_a_reply_counts():
    assert totals([request(max_tokens=100)], tokens_per_reply=40).tokens_out == 40
    assert totals([request(max_tokens=30)], tokens_per_reply=40).tokens_out == 30
    assert totals([request(max_tokens=90, max_completion_tokens=80)]).tokens_out == 80
    assert totals([request()], tokens_per_reply=40).tokens_out == 40


def test_a_request_without_any_bound_is_refused():
    with pytest.raises(ValueError, match="no largest cost"):
        totals([request(max_tokens=10), request()])


def test_a_schema_may_be_part_of_the_prompt():
    schema = {"type": "object"}
    extra = estimate_tokens(ordered_json(schema))
    assert extra == 6
    assert totals([request(schema, max_tokens=1)]).tokens_in == 32 + extra

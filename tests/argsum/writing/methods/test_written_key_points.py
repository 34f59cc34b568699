"""Replies with key points: read by the codes of their clusters, never by position."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argsum.writing.methods import (
    LONGEST_KEY_POINT,
    clusters_schema,
    code_of,
    list_schema,
    read_clusters,
    read_list,
    read_one,
)
from cqa_site.judging.extraction import ReplyNotUsable

KP = {0: "Night buses are safe", 1: "They cost too much", 2: "They help shift workers"}


def reply(texts):
    return json.dumps({code_of(cluster): text for cluster, text in texts.items()})


def read(text, clusters=(0, 1, 2), finish="stop"):
    return read_clusters(text, finish, clusters)


def as_ids(written):
    return {int(key): text for key, text in written.texts.items()}


def test_every_cluster_gets_its_own():
    found = read(reply(KP))
    assert as_ids(found) == KP
    assert (found.dropped, found.missing) == (0, ())


@given(
    order=st.permutations([0, 1, 2]),
    left_out=st.sets(st.sampled_from([0, 1, 2])),
    added=st.dictionaries(
        st.one_of(st.integers(0, 9).map(str), st.text(max_size=6), st.just(code_of(7))),
        st.text(min_size=1, max_size=20),
        max_size=4,
    ),
)
def test_no_reply_gives_a_key_point_to_another_cluster(order, left_out, added):
    own = [(code_of(cluster), KP[cluster]) for cluster in order if cluster not in left_out]
    strange = [(name, text) for name, text in added.items() if name.strip() not in dict(own)]
    strange = [pair for pair in strange if pair[0].strip() not in map(code_of, KP)]
    pairs = own + strange
    random.Random(len(pairs)).shuffle(pairs)
    try:
        found = read(json.dumps(dict(pairs)))
    except ReplyNotUsable:
        # As a whole, which gives no cluster anything; the engine asks again.
        return
    assert as_ids(found) == {cluster: KP[cluster] for cluster in KP if cluster not in left_out}
    assert set(found.missing) == left_out
    assert found.dropped == len(dict(strange))


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_its_own_belong_to_nothing(first):
    renumbered = {str(number): text for number, text in enumerate(KP.values(), start=first)}
    found = read(json.dumps(renumbered))
    assert (as_ids(found), found.dropped, found.missing) == ({}, 3, (0, 1, 2))


def test_two_key_points_for_one_cluster_spoil_only_this_one():
    text = (
        f'{{"{code_of(0)}": "{KP[0]}", "{code_of(1)}": "{KP[1]}", "{code_of(1)}": "Another", '
        f'"{code_of(2)}": "{KP[2]}"}}'
    )
    found = read(text)
    assert as_ids(found) == {0: KP[0], 2: KP[2]}
    assert found.missing == (1,)


def test_the_same_key_point_twice_under_one_code_counts_once():
    text = f'{{"{code_of(0)}": "Safe", "{code_of(0)}": "Safe"}}'
    found = read(text, clusters=(0,))
    assert (as_ids(found), found.missing) == ({0: "Safe"}, ())


@pytest.mark.parametrize("value", [None, 3, ["a"], "", "  ", "x" * (LONGEST_KEY_POINT + 1)])
def test_what_is_no_text_is_no_key_point(value):
    found = read(json.dumps({code_of(0): value, code_of(1): "Fine"}), clusters=(0, 1))
    assert (as_ids(found), found.missing) == ({1: "Fine"}, (0,))


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [("", "stop", "empty"), (reply(KP), "length", "truncated"), ("[1, 2]", "stop", "not_schema")],
)
def test_replies_that_cannot_be_read(text, finish, reason):
    with pytest.raises(ReplyNotUsable) as caught:
        read(text, finish=finish)
    assert caught.value.reason == reason


def test_a_list_drops_repeats_and_keeps_the_order():
    found = read_list('{"key_points": ["B", "A  a", "b", ""]}', "stop", most=4)
    assert dict(found.texts) == {"1": "B", "2": "A a"}
    assert found.dropped == 2


def test_numbers_before_the_entries_of_a_list_are_no_part_of_them():
    found = read_list(
        '{"key_points": ["1. A", "2) B", "- C", "3. a", "5 percent"]}', "stop", most=4
    )
    assert list(found.texts.values()) == ["A", "B", "C", "5 percent"]
    assert found.dropped == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"key_points": []}', "empty"),
        ('{"key_points": "A"}', "not_schema"),
        ('{"points": ["A"]}', "not_schema"),
        (json.dumps({"key_points": [str(number) for number in range(13)]}), "out_of_set"),
    ],
)
def test_lists_that_are_none(text, reason):
    with pytest.raises(ReplyNotUsable) as caught:
        read_list(text, "stop", most=4)
    assert caught.value.reason == reason


def test_one_key_point():
    assert dict(read_one('{"key_point": "A\\nb"}', "stop", 5).texts) == {"5": "A b"}
    with pytest.raises(ReplyNotUsable):
        read_one('{"key_point": "A", "other": "B"}', "stop", 5)


def test_codes_stay_what_they_are_and_are_no_numbers():
    # Stored replies are read again by them: a change would make all of them unreadable.
    assert [code_of(cluster) for cluster in range(3)] == CODES
    assert not any(code_of(cluster).isdigit() for cluster in range(1000))
    assert len({code_of(cluster) for cluster in range(5000)}) == 5000
    for outside in (-1, 5000):
        with pytest.raises(ValueError, match="no code"):
            code_of(outside)


def test_schemas_ask_for_exactly_what_is_read():
    schema = clusters_schema([4, 2])
    assert list(schema["properties"]) == [code_of(4), code_of(2)]
    assert schema["required"] == list(schema["properties"])
    assert list_schema(4, 8)["properties"]["key_points"]["maxItems"] == 8


CODES = ["S4Q7", "S8R4", "G4S6"]

"""Replies with key points: read by the codes of their clusters, never by position."""

import json
import random

import pytest
from hypothesis import given, strategies as st

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
CODES = ["S4Q7", "S8R4", "G4S6"]


def reply(texts):
    return json.dumps({code_of(cluster): text for cluster, text in texts.items()})


def read(text, clusters=(0, 1, 2), finish="stop"):
    return read_clusters(text, finish, clusters)


def as_ids(written):
    return {int(key): text for key, text in written.texts.items()}


def test_every_cluster_gets_its_own():
    found = read(reply(KP))
    assert (as_ids(found), found.dropped, found.missing) == (KP, 0, ())
    # Numbers of its own belong to nothing.
    for first in (0, 1):
        found = read(json.dumps({str(at): text for at, text in enumerate(KP.values(), first)}))
        assert (as_ids(found), found.dropped, found.missing) == ({}, 3, (0, 1, 2))
    # Two key points for one cluster spoil only this one, the same one twice counts once.
    again = f'"{code_of(1)}": "Another"}}'
    found = read(f"{reply(KP)[:-1]}, {again}")
    assert (as_ids(found), found.missing) == ({0: KP[0], 2: KP[2]}, (1,))
    found = read(f'{{"{code_of(0)}": "Safe", "{code_of(0)}": "Safe"}}', clusters=(0,))
    assert (as_ids(found), found.missing) == ({0: "Safe"}, ())
    # What is no text is no key point.
    for value in (None, 3, ["a"], "", "  ", "x" * (LONGEST_KEY_POINT + 1)):
        found = read(json.dumps({code_of(0): value, code_of(1): "Fine"}), clusters=(0, 1))
        assert (as_ids(found), found.missing) == ({1: "Fine"}, (0,)), value
    for text, finish, reason in (
        ("", "stop", "empty"),
        (reply(KP), "length", "truncated"),
        ("[1, 2]", "stop", "not_schema"),
    ):
        with pytest.raises(ReplyNotUsable) as caught:
            read(text, finish=finish)
        assert caught.value.reason == reason


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


def test_a_list_drops_repeats_and_numbers_and_keeps_the_order():
    found = read_list('{"key_points": ["B", "A  a", "b", ""]}', "stop", most=4)
    assert (dict(found.texts), found.dropped) == ({"1": "B", "2": "A a"}, 2)
    text = '{"key_points": ["1. A", "2) B", "- C", "3. a", "5 percent"]}'
    found = read_list(text, "stop", most=4)
    assert (list(found.texts.values()), found.dropped) == (["A", "B", "C", "5 percent"], 1)
    for text, reason in (
        ('{"key_points": []}', "empty"),
        ('{"key_points": "A"}', "not_schema"),
        ('{"points": ["A"]}', "not_schema"),
        (json.dumps({"key_points": [str(number) for number in range(13)]}), "out_of_set"),
    ):
        with pytest.raises(ReplyNotUsable) as caught:
            read_list(text, "stop", most=4)
        assert caught.value.reason == reason
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
    # Schemas ask for exactly what is read.
    schema = clusters_schema([4, 2])
    assert list(schema["properties"]) == schema["required"] == [code_of(4), code_of(2)]
    assert list_schema(4, 8)["properties"]["key_points"]["maxItems"] == 8

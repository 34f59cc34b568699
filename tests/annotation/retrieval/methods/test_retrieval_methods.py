"""Queries, files of sentences, and what a CAM service is asked and answers: no database."""

import math

import pytest
from hypothesis import given, strategies as st

from annotation.retrieval.methods.cam import (
    NotACamReply,
    read_reply,
    request_of,
    unknown_placeholders,
)
from annotation.retrieval.methods.corpus import (
    CorpusLine,
    LeftOut,
    NothingToSearch,
    SkippedRow,
    build_query,
    fts5_expression,
    is_comparative,
    open_sentences,
    tsquery_expression,
    web_address,
    words_of,
)
from cqa_site.tabular import Limits, UnreadableFile


def test_a_name_is_a_phrase_or_any_of_its_words():
    query = build_query("New York", "Java", aspect="rent, cost of it")
    assert fts5_expression(query) == '"New York" AND "Java" AND ("rent" OR "cost")'
    assert tsquery_expression(query) == "('New' <-> 'York') & 'Java' & ('rent' | 'cost')"
    query = build_query("the state of New York", "Java", any_word=True)
    assert fts5_expression(query) == '("state" OR "New" OR "York") AND "Java"'
    # Function words stand for a name that has no others.
    assert fts5_expression(build_query("The", "Them", any_word=True)) == '"The" AND "Them"'
    # Words are bounded.
    assert (len(words_of("a " * 5_000)), len(words_of("a" * 10_240)[0])) == (16, 64)


def test_a_name_without_letters_cannot_be_looked_for():
    for name in ("", "  ", "+++", "_", "☃", "\u0301", '"*"'):
        with pytest.raises(NothingToSearch):
            build_query(name, "tea")
        if name.strip():
            with pytest.raises(NothingToSearch):
                build_query("tea", "coffee", aspect=name)


@given(st.text(), st.text(), st.text(), st.booleans())
def test_nothing_typed_is_part_of_the_query_language(one, two, aspect, any_word):
    try:
        query = build_query(one, two, aspect=aspect, any_word=any_word)
    except NothingToSearch:
        return
    for expression, mark in ((fts5_expression(query), '"'), (tsquery_expression(query), "'")):
        between, quoted = expression.split(mark)[::2], expression.split(mark)[1::2]
        assert len(between) == len(quoted) + 1
        assert all(set(part) <= set("() ANDOR&|<->") for part in between)
        assert all(word.isalnum() for part in quoted for word in part.split())


def test_signs_tell_names_apart_that_have_the_same_words():
    query = build_query("C++", "C")
    assert query.accepts("C++ is faster than C.")
    assert not query.accepts("C is not faster than C.")
    assert not query.accepts("C++ is C++.")
    assert build_query("Node.js", "x-ray").names is None
    assert build_query("Java", "Ruby").accepts("whatever")
    # Sentences that compare.
    for sentence in ("is better than coffee.", "VERSUS coffee", "is rather like it, less bitter."):
        assert is_comparative(f"Tea {sentence}"), sentence
    for sentence in ("Tea and coffee.", "Thanks for the tea!", ""):
        assert not is_comparative(sentence), sentence


def read(tmp_path, content, name="x.txt", **options):
    path = tmp_path / "stored"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    opened = open_sentences(path, name=name, **options)
    return opened, list(opened.entries)


def test_a_text_file_has_a_sentence_per_line(tmp_path):
    text = "\ufeffTea  wins.\r\n\n\t\nCoffee\twins.\r" + "x" * 2_001 + '\n"a, b'
    opened, entries = read(tmp_path, text)
    assert opened.columns == []
    assert entries == [
        CorpusLine(1, "Tea wins.", ""),
        SkippedRow(2, LeftOut.BLANK),
        SkippedRow(3, LeftOut.BLANK),
        CorpusLine(4, "Coffee wins.", ""),
        SkippedRow(5, LeftOut.TOO_LONG),
        CorpusLine(6, '"a, b', ""),
    ]


TABLES = {
    "a.csv": 'id,Sentence,URL\n1,"Tea, wins.",https://x.example/1\n2,B,javascript:x\n',
    "a.tsv": "id\tSentence\tURL\n1\tTea, wins.\thttps://x.example/1\n2\tB\tno address\n",
    "a.jsonl": '{"Sentence": "Tea, wins.", "URL": "https://x.example/1"}\n'
    '{"Sentence": "B", "URL": null}\n',
}


def test_tables_are_read_by_their_headers(tmp_path):
    for name, content in TABLES.items():
        opened, entries = read(tmp_path, content, name)
        assert (opened.text, opened.url) == ("Sentence", "URL"), name
        found = [(entry.text, entry.address) for entry in entries]
        assert found == [("Tea, wins.", "https://x.example/1"), ("B", "")]
    # What is no text is left out.
    rows = '{"text": "A"}\n{"text": ["B", "C"]}\n{"text": 7}\n{"text": true}\n'
    _opened, entries = read(tmp_path, rows, "a.jsonl")
    odd = [SkippedRow(row, LeftOut.NOT_TEXT) for row in (2, 4)]
    assert entries == [CorpusLine(1, "A", ""), odd[0], CorpusLine(3, "7", ""), odd[1]]


def test_columns_can_be_chosen_if_they_are_there_and_not_taken_twice(tmp_path):
    opened, entries = read(tmp_path, "one,two\nA,B\n,\n", "a.csv", text="two")
    assert (opened.text, opened.url) == ("two", "")
    assert entries == [CorpusLine(2, "B", ""), SkippedRow(3, LeftOut.BLANK)]
    for options in ({"text": "three"}, {"text": "one", "url": "one"}):
        with pytest.raises(UnreadableFile):
            read(tmp_path, "one,two\nA,B\n", "a.csv", **options)


def test_files_that_cannot_be_read_say_why(tmp_path):
    for name, content, words in (
        ("a.csv", "one,two\nA,B\n", "choose one"),
        ("a.csv", "text,two\nA\n", "1 cell "),
        ("a.txt", b"\x89PNG\r\n\x1a\n", "PNG"),
        ("a.txt", b"PK\x03\x04", "not a text file"),
        ("a.txt", b"Tea \xff wins", "byte 0xFF at offset 4"),
        ("a.txt", b"Tea\x00wins", "NUL"),
        ("a.txt", b"", "empty"),
        ("a.jsonl", '{"text": "a"}\n[1]\n', "row 2"),
    ):
        with pytest.raises(UnreadableFile, match=words):
            read(tmp_path, content, name)
    for limits in (Limits(rows=2), Limits(row_chars=3)):
        with pytest.raises(UnreadableFile):
            read(tmp_path, "A\nB\nC has more", limits=limits)


def test_only_web_addresses_are_addresses():
    assert web_address(" https://a.example/x ") == "https://a.example/x"
    none = ("", "javascript:alert(1)", "ftp://a.example", "https://", "https://" + "a" * 2_000)
    assert {web_address(text) for text in none} == {""}


def test_a_request_names_objects_aspects_and_weights():
    address = "https://cam.example"
    pair = {"object1": "a", "object2": "b"}
    url, query = request_of(address, **pair, aspects=["price", "size"], weight=5)
    assert url == address
    aspects = {"aspect1": "price", "weight1": "5", "aspect2": "size", "weight2": "5"}
    assert query == aspects | {"model": "default", "fs": "false", "objectA": "a", "objectB": "b"}
    # Placeholders stay in their part of the path.
    address += "/cam/{objectA},{objectB}/{aspects}/{most}/false"
    pair = {"object1": "../a?b", "object2": "ä, {most}"}
    url, query = request_of(address, **pair, aspects=["x/y", "z"], most=7)
    assert query == {}
    assert url == "https://cam.example/cam/..%2Fa%3Fb,%C3%A4%20%20%7Bmost%7D/x%2Fy,z/7/false"
    assert unknown_placeholders(address + "/{}") == [""]


def side(*sentences):
    return {"name": "x", "points": {}, "totalPoints": 1, "sentences": list(sentences)}


def sentence(text, score=None, **documents):
    return {"text": text, "CAM_score": score, "ES_score": 1.0, "id_pair": documents}


def test_a_reply_of_cam():
    def said(reply):
        return [(each.text, each.score, each.favours) for each in reply.sentences]

    address = "https://a.example/p?q=1"
    second = side({"text": "C", "CAM_score": 4, "id_pair": {address: "3", "d": 1}})
    first = side(sentence("Tea  wins.", 1.5), {"text": "B", "CAM_score": 9})
    reply = read_reply({"winner": "tea", "object1": first, "object2": second, "sentenceCount": 3})
    assert said(reply) == [("B", 9.0, 1), ("C", 4.0, 2), ("Tea wins.", 1.5, 1)]
    assert [each.address for each in reply.sentences] == ["", address, ""]
    assert reply.unreadable == 0
    # Of an older one; a sentence stands once, with its best score.
    reply = read_reply({"object1": side([3, "A"], ["B", 1.5]), "object2": side("C")})
    assert said(reply) == [("A", 3.0, 1), ("B", 1.5, 1), ("C", None, 2)]
    reply = read_reply({"object1": side([1, "A"], [5, "B"]), "object2": side([3, "A"])})
    assert said(reply) == [("B", 5.0, 1), ("A", 3.0, 2)]
    # Of CAM 2.
    listed = [{"value": "A", "source": "https://a.example"}, {"value": "B", "source": "doc-7"}]
    more = {"firstObjectArguments": listed, "secondObjectArguments": [{"value": "C"}]}
    reply = read_reply({"firstObjectScore": 0.7} | more)
    assert [(s.text, s.address, s.document, s.favours) for s in reply.sentences] == [
        *(("A", "https://a.example", "", 1), ("B", "", "doc-7", 1), ("C", "", "", 2))
    ]


def test_entries_without_a_sentence_are_counted():
    odd = [None, 7, {}, {"text": ""}, {"text": 3}, [1, 2], [], {"text": "x" * 2_001}]
    # What cannot be stored is replaced.
    reply = read_reply({"object1": side("a\x00b \ud800c", *odd), "object2": side()})
    assert ([s.text for s in reply.sentences], reply.unreadable) == (["a b ?c"], len(odd))
    for score in (math.nan, math.inf, True, "3", None, 10**400, []):
        (found,) = read_reply({"object1": side([score, "A"]), "object2": side()}).sentences[:1]
        assert found.score in (None, 1.0), score


def test_other_documents_are_no_replies():
    for document, words in (
        ([], "not a JSON object"),
        ("text", "not a JSON object"),
        ({}, "no lists"),
        ({"object1": [], "object2": []}, "no lists"),
        ({"object1": {"sentences": {}}, "object2": {"sentences": []}}, "no lists"),
        ({"error": "objectA  is missing"}, "objectA is missing"),
        ({"object1": side(1, 2), "object2": side()}, "none of its entries"),
    ):
        with pytest.raises(NotACamReply, match=words):
            read_reply(document)


KEYS = st.sampled_from(["object1", "object2", "sentences", "text", "id_pair", "CAM_score"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
        max_leaves=30,
    )
)
def test_no_document_breaks_the_reader(document):
    try:
        reply = read_reply(document)
    except NotACamReply:
        return
    assert all(s.text and s.favours in (1, 2) for s in reply.sentences)

"""Full-text search in corpora; these tests run on SQLite and on PostgreSQL alike."""

from importlib import import_module

import pytest
from django.db import connection

from annotation.retrieval.actions import arguments as retrieval_search
from annotation.retrieval.actions.arguments import search
from annotation.retrieval.methods.corpus import NothingToSearch, build_query
from annotation.retrieval.models import CorpusSentence
from tests.annotation.retrieval.made_retrieval import make_corpus
from tests.cast import make_study

pytestmark = pytest.mark.django_db
INDEX = "annotation.migrations.0002_corpus_search"
TEXTS = (
    "Dogs are more loyal than cats, people say.",
    "A cat and a dog live here.",
    "My dog sleeps.",
    "New York is louder than Berlin.",
    "York has a new wall; Berlin had an old one.",
    "X-rays cost more than an ultrasound.",
    "Node.js starts faster than Java.",
    "C++ is faster than C.",
    "C is older than Java.",
    "Das Café Müller ist besser als der Imbiss.",
    "It is The Who versus Them tonight.",
    "PS3 beats the 3DS.",
)
HOSTILE = [
    *('"', "*", "tea*", "NEAR(tea coffee, 5)", "-tea", "tea OR coffee", "^tea", "(((", "\\'"),
    *("{text marks} : tea", "'; DROP TABLE annotation_corpussentence; --", "tea & coffee"),
    *("tea <-> coffee", "tea:*", "%s %(x)s %", "e\u0301", "東京", "İstanbul", "🍵 tea", "ﬁ"),
    *("a\u0000b", "\ud800".encode("utf-8", "replace").decode(), "x" * 10_240, "tea " * 2_560),
]


@pytest.fixture
def corpus(study):
    return make_corpus(study, texts=TEXTS)


def found(corpora, one, two, most=50, **options):
    corpora = corpora if isinstance(corpora, list) else [corpora]
    return [hit.text for hit in search(corpora, build_query(one, two, **options), most)]


def test_sentences_that_name_both(corpus, django_assert_max_num_queries):
    for one, two, expected in (
        ("cat", "dog", TEXTS[:2]),
        ("DOGS", "Cat", TEXTS[:2]),
        ("New York", "Berlin", TEXTS[3:4]),
        ("x-ray", "ultrasound", TEXTS[5:6]),
        ("node.js", "java", TEXTS[6:7]),
        ("node js", "java", TEXTS[6:7]),
        ("café müller", "Imbiss", TEXTS[9:10]),
        ("The Who", "Them", TEXTS[10:11]),
        ("ps3", "3ds", TEXTS[11:12]),
        ("dog", "fish", ()),
        ("3", "3ds", ()),
    ):
        with django_assert_max_num_queries(4):
            assert found(corpus, one, two) == list(expected), (one, two)
        assert set(found(corpus, two, one)) == set(expected)
    # Any word widens, signs and aspects narrow.
    assert found(corpus, "New York", "Berlin", any_word=True) == [TEXTS[3], TEXTS[4]]
    assert found(corpus, "C++", "C") == [TEXTS[7]]
    assert found(corpus, "C", "Java") == [TEXTS[8]]
    for aspect, texts in (("loyally", [TEXTS[0]]), ("price, people", [TEXTS[0]]), ("price", [])):
        assert found(corpus, "cat", "dog", aspect=aspect) == texts


def test_the_number_is_bounded(study, monkeypatch):
    texts = [f"Tea beats coffee in point {n}." for n in range(8)]
    texts += [f"Tea and coffee number {n}." for n in range(8)]
    corpus = make_corpus(study, texts=texts)
    assert [len(found(corpus, "tea", "coffee", most=n)) for n in (0, 5, 10)] == [0, 5, 10]
    monkeypatch.setattr(retrieval_search, "MOST_HITS", 3)
    assert len(found(corpus, "tea", "coffee", most=10_000)) == 3
    monkeypatch.undo()
    # Sentences that compare come first, and short ones before long ones.
    padding = " and so on" * 20
    texts = ["tea coffee" + padding, "tea, coffee", "tea or coffee is better" + padding]
    texts.append("tea beats coffee")
    corpus = make_corpus(study, name="Order", texts=texts)
    assert found(corpus, "tea", "coffee") == [texts[3], texts[2], texts[1], texts[0]]
    # Of very many only some are ranked.
    monkeypatch.setattr(retrieval_search, "MOST_RANKED", 4)
    texts = [f"Tea, as they say {'so ' * (9 - n)}, beats coffee {n}." for n in range(9)]
    some = found(make_corpus(study, name="Many", texts=texts), "tea", "coffee")
    assert (len(some), some) == (4, sorted(some, key=len))


def test_only_the_corpora_that_are_asked_for_are_searched(study):
    mine = make_corpus(study, texts=("Tea beats coffee.", "Tea and coffee."))
    other = make_corpus(study, name="Other", texts=("Tea beats coffee.", "Coffee beats tea."))
    make_corpus(make_study("Study B"), texts=("Tea beats any coffee.",))
    assert found(mine, "tea", "coffee") == ["Tea beats coffee.", "Tea and coffee."]
    both = search([mine, other], build_query("tea", "coffee"), 50)
    texts = ["Coffee beats tea.", "Tea and coffee.", "Tea beats coffee."]
    assert sorted(hit.text for hit in both) == texts
    assert {hit.corpus for hit in both} == {mine, other}
    assert search([], build_query("tea", "coffee"), 50) == []


def test_nothing_typed_reaches_the_query_language(study, alone):
    corpus = make_corpus(study, texts=("Tea beats coffee.", "marks k c1 text", "a b x"))
    for typed in HOSTILE:
        with alone(repr(typed[:20])):
            for options in ({}, {"any_word": True}):
                for names in ((typed, "coffee"), ("tea", typed), (typed, typed)):
                    assert len(hits_of(corpus, *names, **options)) <= 3
                assert len(hits_of(corpus, "tea", "coffee", aspect=typed, **options)) <= 1
            assert CorpusSentence.objects.count() == 3
    # Marks of the index are no words.
    assert found(corpus, "k", "tea") == found(corpus, f"c{corpus.pk}", "tea") == []


def hits_of(corpus, *names, **options):
    try:
        return found(corpus, *names, **options)
    except NothingToSearch:
        return []


def test_the_index_follows_the_table(corpus):
    row = corpus.sentences.get(text=TEXTS[0])
    CorpusSentence.objects.filter(pk=row.pk).update(text="Birds sing, fish do not.")
    assert found(corpus, "bird", "fish") == ["Birds sing, fish do not."]
    assert found(corpus, "cat", "dog") == [TEXTS[1]]
    CorpusSentence.objects.filter(pk=row.pk).update(is_comparative=False)
    assert found(corpus, "bird", "fish") == ["Birds sing, fish do not."]
    row.delete()
    assert found(corpus, "bird", "fish") == []
    corpus.sentences.all().delete()
    assert found(corpus, "cat", "dog") == []
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO annotation_corpussearch (annotation_corpussearch) "
                "VALUES ('integrity-check')"
            )


@pytest.mark.django_db(transaction=True)
def test_the_index_can_be_taken_away_and_made_again():
    corpus = make_corpus(make_study(), texts=TEXTS)
    (operation,) = import_module(INDEX).Migration.operations
    with connection.schema_editor() as editor:
        operation.reverse_code(None, editor)
        operation.code(None, editor)
    assert CorpusSentence.objects.count() == len(TEXTS)
    assert found(corpus, "cat", "dog") == list(TEXTS[:2])
    CorpusSentence.objects.all().delete()
    assert found(corpus, "cat", "dog") == []

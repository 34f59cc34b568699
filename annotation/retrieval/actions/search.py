"""Sentences of corpora that name both objects, found by the database's full-text index.

Sentences that compare come first, then the others, each in the order of the database.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connections, router

from annotation.retrieval.methods.corpus_query import Query, fts5_expression, tsquery_expression
from annotation.retrieval.models import Corpus, CorpusSentence

MOST = 200
# Looked through where the words alone do not say whether a sentence names the objects.
MOST_CHECKED = 500
# Where more sentences have all the words, so many of them are ranked and the rest left out.
MOST_RANKED = 10_000
# The lowest bm25 is the best; the marks of a sentence do not count.
SQLITE = """
    SELECT id FROM (
        SELECT rowid AS id, bm25(annotation_corpussearch, 1.0, 0.0) AS place
        FROM annotation_corpussearch WHERE annotation_corpussearch MATCH %s LIMIT %s
    ) ORDER BY place, id LIMIT %s
"""
# Names that stand near each other rank high; 1 divides by the logarithm of the length.
POSTGRESQL = """
    SELECT id FROM (
        SELECT s.id, s.search, wanted
        FROM annotation_corpussentence AS s, to_tsquery('counterpoint_words', %s) AS wanted
        WHERE s.search @@ wanted AND s.corpus_id = ANY(%s) AND s.is_comparative = %s LIMIT %s
    ) AS named ORDER BY ts_rank_cd(search, wanted, 1) DESC, id LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence that was found; ``key`` is the hash of its text."""

    key: str
    text: str
    address: str
    is_comparative: bool
    corpus: Corpus


def search(corpora: Iterable[Corpus], query: Query, most: int) -> list[Hit]:
    """The best sentences, each text once whatever corpora have it; at most 200 of them."""
    most = min(most, MOST)
    corpora_by_pk = {corpus.pk: corpus for corpus in corpora}
    found: dict[str, Hit] = {}
    for is_comparative in (True, False):
        wanted = (most - len(found)) * len(corpora_by_pk) if query.names is None else MOST_CHECKED
        for row in _rows(_ranked(list(corpora_by_pk), query, is_comparative, wanted)):
            if len(found) < most and query.accepts(row.text):
                found.setdefault(row.text_sha256, _hit(row, corpora_by_pk[row.corpus_id]))
    return list(found.values())


def sentences_of(corpora: Iterable[Corpus], keys: Iterable[str]) -> list[CorpusSentence]:
    """The sentences with these keys in the order of the keys, each once."""
    wanted = list(dict.fromkeys(keys))
    rows = CorpusSentence.objects.filter(corpus__in=list(corpora), text_sha256__in=wanted)
    found = {row.text_sha256: row for row in rows.select_related("corpus").order_by("-pk")}
    return [found[key] for key in wanted if key in found]


def _hit(row: CorpusSentence, corpus: Corpus) -> Hit:
    return Hit(row.text_sha256, row.text, row.source_url, row.is_comparative, corpus)


def _rows(pks: list[int]) -> list[CorpusSentence]:
    """The sentences in the order of their keys."""
    found = CorpusSentence.objects.in_bulk(pks)
    return [found[pk] for pk in pks if pk in found]


def _ranked(corpora: list[int], query: Query, is_comparative: bool, wanted: int) -> list[int]:
    """Primary keys of sentences that have all the words, best first."""
    if not corpora or wanted < 1:
        return []
    connection = connections[router.db_for_read(CorpusSentence)]
    if connection.vendor == "sqlite":
        statement = SQLITE
        values: tuple = (_with_marks(fts5_expression(query), corpora, is_comparative),)
    else:
        statement = POSTGRESQL
        values = (tsquery_expression(query), corpora, is_comparative)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, MOST_RANKED, wanted])
        return [pk for (pk,) in cursor.fetchall()]


def _with_marks(expression: str, corpora: list[int], is_comparative: bool) -> str:
    """The words in the text, and in the marks one of the corpora (see migration 0005)."""
    chosen = " OR ".join(f"c{pk}" for pk in corpora)
    compares = "AND marks : k" if is_comparative else "NOT marks : k"
    return f"(text : ({expression}) AND marks : ({chosen})) {compares}"

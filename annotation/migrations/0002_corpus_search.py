"""The full-text index of corpus sentences, kept in step by the database itself.

SQLite: a contentless FTS5 table and triggers; beside the text it indexes the number of the corpus
(``c17``) and whether the sentence compares (``k``), so that a search reads nothing else. PostgreSQL:
a generated column of lexemes under a GIN index. Both reduce English words to their stems and have
no stop words, so that any name can be looked up. PostgreSQL would read "x-ray" or "node.js" as one
word of its own kind; so everything but letters and digits becomes a space first, as FTS5 does it.

Whoever changes the table of sentences later has to make the triggers anew: on SQLite, Django
changes a table by replacing it, and its triggers go with the old one.
"""

from django.core.management import CommandError
from django.db import migrations

MARKS = "'c' || {row}.corpus_id || CASE WHEN {row}.is_comparative THEN ' k' ELSE '' END"
INTO_INDEX = (
    "INSERT INTO annotation_corpussearch (rowid, text, marks) "
    f"VALUES (new.id, new.text, {MARKS.format(row='new')});"
)
OUT_OF_INDEX = (
    "INSERT INTO annotation_corpussearch (annotation_corpussearch, rowid, text, marks) "
    f"VALUES ('delete', old.id, old.text, {MARKS.format(row='old')});"
)
SQLITE = [
    """
    CREATE VIRTUAL TABLE annotation_corpussearch USING fts5(
        text, marks, content = '', tokenize = 'porter unicode61 remove_diacritics 0'
    )
    """,
    f"""
    CREATE TRIGGER annotation_corpussearch_new AFTER INSERT ON annotation_corpussentence
    BEGIN {INTO_INDEX} END
    """,
    f"""
    CREATE TRIGGER annotation_corpussearch_gone AFTER DELETE ON annotation_corpussentence
    BEGIN {OUT_OF_INDEX} END
    """,
    f"""
    CREATE TRIGGER annotation_corpussearch_changed AFTER UPDATE ON annotation_corpussentence
    BEGIN {OUT_OF_INDEX} {INTO_INDEX} END
    """,
    # Sentences that were there before.
    f"""
    INSERT INTO annotation_corpussearch (rowid, text, marks)
    SELECT id, text, {MARKS.format(row="annotation_corpussentence")}
    FROM annotation_corpussentence
    """,
]
SQLITE_BACK = [
    "DROP TRIGGER annotation_corpussearch_new",
    "DROP TRIGGER annotation_corpussearch_gone",
    "DROP TRIGGER annotation_corpussearch_changed",
    "DROP TABLE annotation_corpussearch",
]
# ASCII, Latin-1 and general punctuation; the parser itself knows rarer signs.
SIGNS = r"[\u0001-/:-@\[-`{-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7\u2000-\u206f]+"
POSTGRESQL = [
    "CREATE TEXT SEARCH DICTIONARY counterpoint_stem (TEMPLATE = snowball, LANGUAGE = english)",
    "CREATE TEXT SEARCH CONFIGURATION counterpoint_words (COPY = pg_catalog.english)",
    """
    ALTER TEXT SEARCH CONFIGURATION counterpoint_words
    ALTER MAPPING REPLACE english_stem WITH counterpoint_stem
    """,
    f"""
    ALTER TABLE annotation_corpussentence ADD COLUMN search tsvector GENERATED ALWAYS AS (
        to_tsvector('counterpoint_words'::regconfig, regexp_replace(text, '{SIGNS}', ' ', 'g'))
    ) STORED
    """,
    "CREATE INDEX annotation_corpussearch ON annotation_corpussentence USING gin (search)",
]
POSTGRESQL_BACK = [
    "ALTER TABLE annotation_corpussentence DROP COLUMN search",
    "DROP TEXT SEARCH CONFIGURATION counterpoint_words",
    "DROP TEXT SEARCH DICTIONARY counterpoint_stem",
]
STATEMENTS = {
    "sqlite": (SQLITE, SQLITE_BACK),
    "postgresql": (POSTGRESQL, POSTGRESQL_BACK),
}


def refuse_older(editor):
    """Before the first release the migrations were written anew, once."""
    if "people_rater" not in editor.connection.introspection.table_names():
        raise CommandError(
            "This database was made by a development version whose migrations are gone. "
            "Export what you need with that version, then begin with a new database "
            "(with the default settings: move the folder var/ away)."
        )


def make_index(apps, editor):
    refuse_older(editor)
    for statement in STATEMENTS[editor.connection.vendor][0]:
        editor.execute(statement, params=None)


def drop_index(apps, editor):
    for statement in STATEMENTS[editor.connection.vendor][1]:
        editor.execute(statement, params=None)


class Migration(migrations.Migration):

    dependencies = [("annotation", "0001_initial")]

    operations = [migrations.RunPython(make_index, drop_index)]

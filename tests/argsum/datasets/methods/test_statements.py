"""Statements and sentences, the language they are in, dates beside them, steps of the recipe."""

from collections import Counter
from datetime import date

import pytest
from hypothesis import given, strategies as st

from argsum.datasets.methods import comment_columns
from argsum.datasets.methods.argument_cells import as_text, named_table
from argsum.datasets.methods.preprocessing import (
    ALL_STEPS,
    ONE_KEY_POINT,
    ONE_SENTENCE,
    PAPER_STEPS,
    UNIQUE,
    checked_steps,
    is_one_published_sentence,
    prepare,
)
from argsum.datasets.methods.statements import (
    is_one_sentence,
    language_of,
    says_something,
    sentences,
    statements,
)
from cqa_site.tabular import TableRow
from tests.golden.places import ARGSUM, reads


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Too slow. Who pays?", ["Too slow.", "Who pays?"]),
        ("no marks at all just many words in one long row", None),
        ("Rooms:\n- dark\n• too small\n3) no table", ["Rooms:", "dark", "too small", "no table"]),
        ("- queue too long - prices too high", ["queue too long", "prices too high"]),
        ("1. Fast service 2. Cheap food", ["Fast service", "Cheap food"]),
        ("Pros: quick • Cons: pricey", ["Pros: quick", "Cons: pricey"]),
        ("I like rooms; they are much too dark for me", None),
        (
            "I like the new rooms a lot; they are much too small",
            ["I like the new rooms a lot", "they are much too small"],
        ),
        ("Good; bad; ugly", None),
        ("More food, e.g. fruit. Dr. Ng helped.", ["More food, e.g. fruit.", "Dr. Ng helped."]),
        ("Great product.Fast delivery!", ["Great product.", "Fast delivery!"]),
        ("We waited for more than an hour at the desk\nand nobody came", None),
        ("It was good\nIt was cheap", ["It was good", "It was cheap"]),
        ("I waited 2.5 hours at no. 5 on the list", None),
        ("  two   spaces ", ["two spaces"]),
        ("-", ["-"]),
        ("🙂", ["🙂"]),
        (" \n ", []),
    ],
)  # fmt: skip
def test_a_comment_is_split_where_people_end_a_thought(text, found):
    whole = [" ".join(text.split())]
    assert statements(text) == (whole if found is None else found)


NOTHING = (
    "n/a", "N.A.", "none", "-", "…", "No comment.", "Nothing", "See above", "thanks!", "🙂",
    "Thank you very much", "Expensive!", "12 34", "I don’t know.", "keine Angabe",
)  # fmt: skip
SOMETHING = (
    "too slow", "Nothing works here", "Thanks to Ann", "价格太贵了", "no comment is read",
)  # fmt: skip


def test_what_says_something_and_what_nothing():
    assert [text for text in NOTHING if says_something(text)] == []
    assert [text for text in SOMETHING if not says_something(text)] == []


ENGLISH = "The rooms are too dark and there is no window that opens."
SENTENCES = {
    "en": ENGLISH,
    "de": "Die Räume sind zu dunkel und es gibt kein Fenster, das sich öffnen lässt.",
    "fr": "Les salles sont trop sombres et il n'y a pas de fenêtre qui s'ouvre dans la mienne.",
    "es": "Las salas son muy oscuras y no hay una ventana que se abra, pero la mesa es buena.",
    "it": "Le stanze sono molto buie e non c'è una finestra che si apre, ma il tavolo è buono.",
    "nl": "De kamers zijn te donker en er is geen raam dat open kan, maar het is ook heel stil.",
    "pl": "Pokoje są zbyt ciemne i nie ma okna, które się otwiera, ale jest też bardzo cicho.",
    "pt": "As salas são muito escuras e não há uma janela que abra, mas a mesa é boa.",
}


def test_a_language_shows_in_the_words_that_hold_sentences_together():
    assert {code: language_of([text] * 3) for code, text in SENTENCES.items()} == {
        code: code for code in SENTENCES
    }
    assert language_of([*[SENTENCES["de"]] * 2, *[ENGLISH] * 5]) == "en"
    # None is guessed from little or from another one.
    for texts in ([], ["The"], ["Huoneet ovat liian pimeitä eikä ikkuna aukea"] * 9):
        assert language_of(texts) == ""


@pytest.mark.parametrize(
    ("text", "order", "found"),
    [
        ("2024-03-04", "", date(2024, 3, 4)),
        ("2024-03-04T10:00:00Z", "", date(2024, 3, 4)),
        ("20240304", "", date(2024, 3, 4)),
        ("4.3.2024", "month", date(2024, 3, 4)),
        ("3/4/2024", "", date(2024, 3, 4)),
        ("3/4/2024", "day", date(2024, 4, 3)),
        ("3/4/99 10:15", "month", date(1999, 3, 4)),
        ("13/4/2024", "month", None),
        ("4 March 2024", "", date(2024, 3, 4)),
        ("Mar 4, 2024", "", date(2024, 3, 4)),
        ("31.2.2024", "", None),
        ("soon", "", None),
    ],
)
def test_days_in_the_forms_of_files(text, order, found):
    assert comment_columns.as_date(text, comment_columns.Order(order)) == found


def test_what_a_column_shows():
    assert (
        comment_columns.order_of(["", "1/2/2024", "1/31/2024", "31/1/2024"])
        == comment_columns.Order.MONTH
    )
    assert comment_columns.order_of(["1/2/2024"]) == comment_columns.Order.UNKNOWN
    days = ["1/2/2024", "2/2/2024", "2024-02-01"]
    assert [comment_columns.is_parted(day) for day in days] == [True, False, False]
    # The longest texts are proposed where no name says it.
    rows = [TableRow(2, {"A": "short", "B": "a longer text that somebody wrote", "Date": "x"})]
    assert comment_columns.proposed(["A", "B", "Date"], rows) == {"comment": "B", "date": "Date"}
    assert comment_columns.proposed(["Id", "Review", "text"], rows)["comment"] == "text"
    twice = "'A' is chosen twice: comment and date"
    assert comment_columns.wrong_columns({"comment": "A", "date": "A"}) == [twice]
    assert comment_columns.wrong_columns({"date": "A"}) == ["no column is chosen for the comments"]
    # A first row that is a comment, and heads.
    for text in ("The bus is late.", "it would be nice if the bus came more often"):
        assert comment_columns.is_comment(text)
    for text in ("What do you think of the bus?", "Your comment", "comments"):
        assert not comment_columns.is_comment(text)


ONE = (
    "Buses are cheap", "  Buses are cheap. ", 'He said "stop now."', "Do they really?!",
    "Buses are cheap..", "Buses are cheap. .", "Many things matter.. mostly the price.",
    "Many things matter… mostly the price.", "The U.S. has few of them.",
    "The u. s has few of them.", "They cost 1.5 million a year.", "Buses are cheap\nand quiet",
    "See www.example.org/bus for more",
)  # fmt: skip
SEVERAL = {
    "Buses are cheap. They are quiet.": ("Buses are cheap.", "They are quiet."),
    "Buses are cheap! they are quiet": ("Buses are cheap!", "they are quiet"),
    "Who pays? (We do.) Nobody else.": ("Who pays?", "(We do.)", "Nobody else."),
    "They wait.. Nobody comes.": ("They wait..", "Nobody comes."),
    "“They wait.” Nobody comes.": ("“They wait.”", "Nobody comes."),
    # As in the released data: an abbreviation in small letters counts as an end.
    "Some fuels, e.g. coal, are dirty.": ("Some fuels, e.g.", "coal, are dirty."),
    "They wait. ,": ("They wait.", ","),
}


def test_sentences():
    for text in ONE:
        whole = text.strip() if not text.endswith(" .") else "Buses are cheap."
        assert (sentences(text), is_one_sentence(text)) == ([whole], True)
    for text, parts in SEVERAL.items() | {(text, ()) for text in ("", " \n", "...", "?!")}:
        assert (sentences(text), is_one_sentence(text)) == (list(parts), False)
    # A long text takes linear time.
    assert len(sentences("Yes. " * 20_000)) == 20_000
    assert len(sentences("." * 100_000 + "a")) == 1


TEXTS = ["Fine.", "Fine too.", "Not. Fine.", "Also. Bad.", "Nobody agrees."]
MATCHES = [1, 2, 1, 3, 0]


def test_each_argument_keeps_the_first_step_it_failed():
    found = prepare(TEXTS, MATCHES, repeats=2)
    assert found.reasons == ("", "key_points", "sentences", "key_points", "no_key_point")
    assert found.kept == (0,)
    assert found.counts == {"read": 7, "unique": 5, ONE_KEY_POINT: 2, ONE_SENTENCE: 1}
    # A step that was not chosen takes nothing.
    found = prepare(TEXTS, MATCHES, steps=[ONE_SENTENCE])
    assert found.reasons == ("", "", "sentences", "sentences", "")
    assert found.counts == {"read": 5, "unique": 5, ONE_SENTENCE: 3}
    assert prepare(TEXTS, MATCHES, steps=()).kept == (0, 1, 2, 3, 4)
    # Without key points nobody has to match one.
    found = prepare(TEXTS, [None] * 5)
    assert found.reasons == ("", "", "sentences", "sentences", "")
    assert found.counts[ONE_KEY_POINT] == 5
    assert checked_steps([ONE_SENTENCE, ONE_KEY_POINT]) == PAPER_STEPS
    assert checked_steps([]) == (UNIQUE,)
    with pytest.raises(ValueError, match="'shuffled' is not a step"):
        checked_steps(["shuffled"])


@given(
    st.lists(
        st.tuples(st.sampled_from(TEXTS), st.one_of(st.none(), st.integers(0, 3))), max_size=20
    ),
    st.sets(st.sampled_from(ALL_STEPS)),
)
def test_counts_fall_and_end_at_what_is_kept(rows, steps):
    found = prepare([text for text, _ in rows], [number for _, number in rows], steps=steps)
    counts = list(found.counts.values())
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == len(found.kept)


DEBATE = ARGSUM / "debate"
PUBLISHED_ONE = (
    "Buses are cheap.", "Buses cost less... Nobody pays more.", "The U.S. has few of them.",
    "It is parking vs. walking, and nothing else.", 'He said "stop now."',
)  # fmt: skip
PUBLISHED_SEVERAL = (
    "Who pays??", "Buses are cheap!!! ", ". Buses are cheap.", "They pay (fares, taxes, etc.).",
    "It is the driver's. Nobody else has one.", "They pay.(Nobody else does.)",
    "We waited ... Nobody came.", "The bus is run by the U.S. It is late.", "", "?!",
)  # fmt: skip


def test_what_the_paper_took_for_one_sentence():
    assert [text for text in PUBLISHED_ONE if not is_one_published_sentence(text)] == []
    assert [text for text in PUBLISHED_SEVERAL if is_one_published_sentence(text)] == []


@reads(DEBATE)
def test_the_kept_arguments_of_debate_one_by_one():
    def texts(name):
        table = named_table(DEBATE / name, name=name, needed=("topic", "argument", "key_point"))
        return [as_text(row.values, "argument") for row in table.rows]

    once = {text for text, n in Counter(texts("dataset_scores.csv")).items() if n == 1}
    assert len(once) == 3139
    kept = {text for text in once if is_one_published_sentence(text)}
    assert kept == set(texts("dataset_scores_processed.csv"))
    assert kept >= set(texts("dataset_scores_processed_test.csv"))

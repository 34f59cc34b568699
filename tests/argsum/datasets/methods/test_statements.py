"""Statements of comments, the language they are in, and dates beside them."""

from datetime import date

import pytest

from argsum.datasets.methods.comment_columns import is_comment, proposed, wrong_columns
from argsum.datasets.methods.dates import Order, as_date, is_parted, order_of
from argsum.datasets.methods.language import language_of
from argsum.datasets.methods.statements import says_something, statements
from cqa_site.tabular import Row


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


def test_a_very_long_sentence_stays_one():
    text = "word " * 5_000
    assert statements(text) == [text.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "n/a", "N.A.", "none", "-", "…", "No comment.", "Nothing", "See above", "thanks!",
        "Thank you very much", "Expensive!", "12 34", "I don’t know.", "keine Angabe", "🙂",
    ],
)  # fmt: skip
def test_what_says_nothing(text):
    assert not says_something(text)


@pytest.mark.parametrize(
    "text", ["too slow", "Nothing works here", "Thanks to Ann", "价格太贵了", "no comment is read"]
)
def test_what_says_something(text):
    assert says_something(text)


ENGLISH = "The rooms are too dark and there is no window that opens."
SENTENCES = {
    "en": ENGLISH,
    "de": "Die Räume sind zu dunkel und es gibt kein Fenster, das sich öffnen lässt.",
    "fr": "Les salles sont trop sombres et il n'y a pas de fenêtre qui s'ouvre dans la mienne.",
    "es": "Las salas son muy oscuras y no hay una ventana que se abra, pero la mesa es buena.",
    "it": "Le stanze sono molto buie e non c'è una finestra che si apre, ma il tavolo è buono.",
    "nl": "De kamers zijn te donker en er is geen raam dat open kan, maar het is ook heel stil.",
    "pt": "As salas são muito escuras e não há uma janela que abra, mas a mesa é boa.",
}


@pytest.mark.parametrize(("code", "text"), SENTENCES.items())
def test_a_language_shows_in_the_words_that_hold_sentences_together(code, text):
    assert language_of([text] * 3) == code


def test_no_language_is_guessed_from_little_or_from_another_one():
    assert language_of(["The"]) == ""
    assert language_of(["Huoneet ovat liian pimeitä eikä ikkuna aukea"] * 9) == ""
    assert language_of([]) == ""
    assert language_of([*[SENTENCES["de"]] * 2, *[ENGLISH] * 5]) == "en"


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
    assert as_date(text, Order(order)) == found


def test_a_column_shows_the_order_of_its_dates():
    assert order_of(["", "1/2/2024", "1/31/2024", "31/1/2024"]) == Order.MONTH
    assert order_of(["1/2/2024"]) == Order.UNKNOWN
    assert is_parted("1/2/2024")
    assert not is_parted("2/2/2024")
    assert not is_parted("2024-02-01")


def test_the_longest_texts_are_proposed_where_no_name_says_it():
    rows = [Row(2, {"A": "short", "B": "a much longer text that somebody wrote", "Date": "x"})]
    assert proposed(["A", "B", "Date"], rows) == {"comment": "B", "date": "Date"}
    assert proposed(["Id", "Review", "text"], rows)["comment"] == "text"
    assert wrong_columns({"comment": "A", "date": "A"}) == [
        "'A' is chosen twice: comment and date"
    ]
    assert wrong_columns({"date": "A"}) == ["no column is chosen for the comments"]


def test_a_first_row_that_is_a_comment():
    assert is_comment("The bus is late.")
    assert is_comment("it would be nice if the bus came more often")
    assert not is_comment("What do you think of the bus?")
    assert not is_comment("Your comment")
    assert not is_comment("comments")

"""Which column of a table of sentences is what, by names and values."""

from annotation.corpus.methods.column_guess import guess_mapping, unread_labels
from cqa_site.tabular import TableRow

TEXTS = ("The lift is slow today.", "Lifts are far too small.", "Stairs are steep.", "No seats.")


def rows(columns, *cells):
    """Rows with the objects, a sentence and further cells."""
    more = zip(*cells, strict=True) if cells else [()] * len(TEXTS)
    given = zip(TEXTS, more, strict=True)
    return [
        TableRow(at, dict(zip(columns, ("lift", "stairs", text, *more), strict=True)))
        for at, (text, more) in enumerate(given, 2)
    ]


def test_two_columns_that_differ_as_a_and_b_are_the_objects():
    pairs = "option_a/option_b|item left/item right|first/second|Product 1/Product 2"
    for pair in f"{pairs}|Object A/Object B".split("|"):
        one, other = pair.split("/")
        columns = [one, other, "what was said"]
        found = guess_mapping(columns, rows(columns))
        assert found == {"object1": one, "object2": other, "text": "what was said"}
    # Numbers are none.
    columns = ["score 1", "score 2", "text"]
    made = [TableRow(2, {"score 1": "1", "score 2": "2", "text": "x"})]
    assert "object1" not in guess_mapping(columns, made)


def test_a_column_whose_values_do_not_fit_is_not_proposed():
    columns = ["object1", "object2", "text", "source", "time", "state"]
    cells = [["our shop"] * 4, ["5"] * 4, ["Bavaria"] * 4]
    assert set(guess_mapping(columns, rows(columns, *cells))) == {"object1", "object2", "text"}
    cells = [["https://x.example"] * 4, ["2024-01-31"] * 4, ["Approved"] * 4]
    found = guess_mapping(columns, rows(columns, *cells))
    assert (found["source_url"], found["started"], found["state"]) == ("source", "time", "state")
    # An id of each vote is no id of an item.
    columns = ["object1", "object2", "text", "id", "rater", "label"]
    votes = [("lift", "stairs", TEXTS[at % 2], at, f"r{at}", at % 4) for at in range(4)]
    made = [TableRow(at, dict(zip(columns, vote, strict=True))) for at, vote in enumerate(votes)]
    assert "external_id" not in guess_mapping(columns, made)


def test_a_column_for_each_rater_is_known_by_its_values_or_its_name():
    columns = ["object1", "object2", "text", "Ann", "Ben"]
    found = guess_mapping(columns, rows(columns, ["0", "1", "1", ""], ["2", "2", "0", "1"]))
    assert (found["label:Ann"], found["label:Ben"]) == ("Ann", "Ben")
    # Yes and no may say anything of an argument.
    flags = rows(columns, ["0", "1", "1", "0"], ["1", "1", "0", "1"])
    assert set(guess_mapping(columns, flags)) == {"object1", "object2", "text"}
    columns = ["object1", "object2", "text", "coder_1", "coder_2"]
    flags = rows(columns, ["0", "1", "1", "0"], ["1", "1", "0", "1"])
    assert guess_mapping(columns, flags)["label:coder_2"] == "coder_2"


def test_labels_of_nobody_are_told():
    columns = ["object1", "object2", "text", "relevance"]
    made = rows(columns, ["0", "1", "1", "3"])
    found = guess_mapping(columns, made)
    assert "label" not in found
    assert unread_labels(columns, made, found) == ["relevance"]
    found = guess_mapping(columns, made, has_rater=True)
    assert (found["label"], unread_labels(columns, made, found)) == ("relevance", [])

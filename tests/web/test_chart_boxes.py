"""No word of any chart touches another one, a mark or the edge of its picture, or is cut."""

import pytest

from cqa_site.web.charts import vega
from tests.lengths import mostly
from tests.web.chart_boxes import boxes_of
from tests.web.chart_cases import CASES, NUMBERS, names

# What a word's box may share with another: a line's box is higher than its letters.
SLACK = 1
# What a chart gets of a page 320 px wide; the wider sizes are shown where they fit.
NARROWEST = 262
LEAST = 10


@pytest.mark.parametrize("size", mostly(vega.WIDTHS, "narrow"))
@pytest.mark.parametrize("kind", CASES)
def test_every_word_of_a_chart_has_its_own_place(kind, size):
    """`make test` draws many where it is narrowest."""
    for n in NUMBERS[-1:] if size == "narrow" else NUMBERS:
        found = boxes_of(CASES[kind](n, size))
        assert found.words, n
        assert found.width == vega.WIDTHS[size], n
        assert list(faults_of(found)) == [], n


def faults_of(found):
    """What is wrong with a picture, in words."""
    whole = (0, 0, found.width, found.height)
    for at, (text, box) in enumerate(found.words):
        for other, beside in found.words[at + 1 :]:
            if meet(box, beside):
                yield f"“{text}” over “{other}”"
        if any(meet(box, mark) for mark in found.marks):
            yield f"“{text}” is struck by a mark"
        if leaves(box, whole):
            yield f"“{text}” leaves the picture at {box}"
        if "…" in text:
            yield f"“{text}” is cut"
    for box in found.marks + found.others:
        if leaves(box, whole):
            yield f"a mark leaves the picture at {box}"


def meet(one, other):
    """Whether a word's box, a little smaller, shares a place with another box."""
    left, top, right, bottom = one
    beside = left + SLACK < other[2] and other[0] < right - SLACK
    return beside and top + SLACK < other[3] and other[1] < bottom - SLACK


def leaves(box, whole):
    return box[0] < -0.5 or box[1] < -0.5 or box[2] > whole[2] + 0.5 or box[3] > whole[3] + 0.5


@pytest.mark.parametrize(
    "kind", ["ranked", "summaries weighted", "board scenarios", "raters", "agreement ceiling"]
)
@pytest.mark.parametrize("size", vega.WIDTHS)
def test_every_name_of_forty_letters_can_be_read(kind, size):
    for n in NUMBERS:
        words = [text for text, _box in boxes_of(CASES[kind](n, size)).words]
        said = "".join(words).replace(" ", "")
        assert [name for name in names(n) if name.replace(" ", "") not in said] == []


def test_words_are_large_enough_where_a_page_is_narrowest():
    styles = vega._config(vega.THEMES["light"], is_transparent=True)["style"]
    sizes = {style["fontSize"] for style in styles.values() if "fontSize" in style}
    assert min(sizes) * NARROWEST / vega.WIDTHS["narrow"] >= LEAST


def test_a_name_that_is_cut_keeps_its_end_and_stands_in_the_words_of_the_chart():
    long = [f"{'Retrieval-augmented generation ' * 6}{end}" for end in ("one", "two")]
    from cqa_site.web.charts.dot_rows import ranked_dots

    rows = [{"name": name, "value": 1, "low": None, "high": None, "group": None} for name in long]
    words = [text for text, _box in boxes_of(ranked_dots(rows, title="Mean", size="wide")).words]
    assert [text[-3:] for text in words if text.startswith("…")] == ["one", "two"]

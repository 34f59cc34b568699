"""What is a heading, an item or a paragraph, and that not a letter of an answer is lost."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from annotation.answers.methods.rendering import Piece, find_answer_blocks, split_citations
from annotation.templatetags.answer_texts import answer_text
from tests.annotation.answer_texts import GOOD, answers

HOSTILE = '<script>alert(1)</script>\n- <b onclick="x">bold</b> & "quoted"\n## <i>'
# Signs of Markdown beside the words that answers are made of.
marked = st.lists(
    st.sampled_from(
        ("**", "## ", "- ", "  - ", "1. ", "\n", "\n\n", "\r\n", " ", "Summary:", "[1]", "a", "<")
    ),
    max_size=30,
).map("".join)


class Shown(HTMLParser):
    """The text of a page, and its tags in order."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.text, self.seen, self.tags = "", "", []
        self.hidden = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.hidden = tag == "span" and ("hidden", None) in attrs

    def handle_endtag(self, tag):
        self.hidden = False

    def handle_data(self, data):
        self.text += data
        self.seen += "" if self.hidden else data


def kinds(text):
    return [block.kind for block in find_answer_blocks([Piece(text)])]


FORMS = {
    "heading": (
        *("## Summary", "### 1. **Ball Size**", "**Honda CR-V:**", "**Eclipse**:", "Best Option:"),
    ),
    "text": (
        *("Summary: Both are old.", "**The Best Option**: Linux", "-", "A tea - or a coffee."),
        *("2024 was warm.", "| IBM | Microsoft |", "#1 is tea"),
    ),
    "bullet": ("* **Speed**: quick", "    - Hulk", "• Cost"),
    "number": ("2) Cost",),
}


def test_a_good_answer_has_its_headings_and_lists():
    assert kinds(GOOD) == [
        *("heading", "text", "heading", "bullet", "bullet", "bullet", "text", "heading"),
        *("number", "number"),
    ]
    shown = Shown(answer_text(GOOD))
    assert [shown.tags.count(tag) for tag in ("h3", "ul", "li")] == [3, 2, 5]
    assert "*" not in shown.seen
    assert "\n- " not in shown.seen
    assert "1. [1] Oak" in shown.seen
    # What opens a line is bold, words within one stay as they were written.
    assert "<p><strong>Summary:</strong> Old." in answer_text("Summary: Old.")
    assert "strong" not in answer_text("Both are old. Final Choice: kayak.")


def test_the_forms_that_answers_have():
    for kind, lines in FORMS.items():
        for line in lines:
            assert kinds(line) == [kind], line
            assert kinds(f"\n\nBefore.\n\n{line}\n\n") == ["", "text", kind], line


def test_what_an_answer_holds_is_text_never_markup():
    shown = Shown(answer_text(HOSTILE))
    assert shown.text == HOSTILE
    assert set(shown.tags) <= {"p", "ul", "li", "h3", "span"}
    # Citations keep their links inside lists and bold text.
    html = answer_text(split_citations("- **Speed [1]:** quick [2, 9]", {1, 2}), 1)
    assert html.count('class="cited" href="#argument-1-') == 2
    assert '<span class="unknown" title="No argument has this number">9</span>' in html
    assert '<strong><a class="cited" href="#argument-1-1"' in html


@pytest.mark.long
@given(st.one_of(answers, marked))
def test_not_a_letter_is_lost_or_moved(text):
    pieces = split_citations(text, {1, 2})
    blocks = find_answer_blocks(pieces)
    assert "".join("".join(p.text for p in b.pieces) + b.gap for b in blocks) == text
    assert not any(b.gap.strip(" \t\r\n") for b in blocks)
    if "\0" not in text:
        assert Shown(answer_text(pieces, 1)).text == text

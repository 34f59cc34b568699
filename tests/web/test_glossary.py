"""Words with their sentence of the glossary, where they stand."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import RequestFactory
from django.urls import reverse

from cqa_site.rounds.kind import kinds
from cqa_site.web.navigation import paths
from cqa_site.web.pages import glossary

TAG = re.compile(r"\{% (term|words_here) ([^%]*)%\}")
BUTTON = re.compile(r'<button type="button" class="term" popovertarget="([\w-]+)">(.*?)</button>')
NOTE = re.compile(r'<span class="term-note" id="([\w-]+)" popover>(.*?)</span>')


def render(source: str, **context: object) -> str:
    request = RequestFactory().get("/")
    return Template("{% load pages %}" + source).render(Context({"request": request, **context}))


def test_the_glossary_is_read_row_by_row():
    words = glossary()
    assert len(words) > 80
    assert words["majority label"].text == "most frequent label; the higher label wins a tie"
    assert words["call"] is words["run"]
    assert words["call"].words == "run, call, attempt"
    assert not {"term", "---"} & set(words)
    assert not [row for row in words.values() if set("*`|") & set(row.text)]


def test_every_word_that_a_page_explains_is_in_the_glossary():
    asked = {word for each in (*kinds(), *paths()) for word in each.terms}
    for file in (Path(settings.BASE_DIR) / "templates").rglob("*.html"):
        for name, arguments in TAG.findall(file.read_text(encoding="utf-8")):
            quoted = re.findall(r'(?<!_\()"([^"]+)"', arguments)
            asked |= set(quoted[:1] if name == "term" else quoted)
    assert len(asked) > 25
    assert not asked - set(glossary())


def test_each_word_opens_its_own_sentence():
    page = render(
        '{% term "vote" %} {% term "vote" "Votes" %} {% words_here "item" of=more %}',
        more=("run",),
    )
    buttons, notes = BUTTON.findall(page), dict(NOTE.findall(page))
    assert [shown for _target, shown in buttons] == ["vote", "Votes", "item", "run"]
    assert [target for target, _shown in buttons] == list(notes)
    assert glossary()["vote"].text in notes[buttons[1][0]]
    assert "<" not in render("{% words_here of=none %}", none=())


def test_what_is_shown_is_escaped_and_a_word_that_is_not_there_an_error():
    assert "&lt;b&gt;" in render('{% term "vote" shown %}', shown="<b>")
    with pytest.raises(KeyError):
        render('{% term "gold item" %}')


def test_the_link_leads_to_the_row(reader):
    page = reader.get(reverse("help_page", args=["glossary"])).content.decode()
    for row in glossary().values():
        assert f'<tr id="{row.anchor}">' in page, row.words

"""Templates: what is a placeholder, what is refused, what the model is sent."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqa_site.judging.prompts import (
    LONGEST_PART,
    PromptLayout,
    PromptNotValid,
    PromptParts,
    check,
    fence,
    fence_token,
    load_prompt_file,
    placeholders,
    prompt_hash,
    quote,
    render,
)
from cqa_site.judging.reply_parsing import batch_schema, label_schema

LAYOUT = PromptLayout(run=("levels",), item=("object1", "sentence"))
SHIPPED = Path(__file__).parents[2] / "annotation/judges/prompts"


def parts(system="Rate by {{levels}}.", user="About {{object1}}:\n{{sentence}}"):
    return PromptParts(system, user, LAYOUT)


def values(**changed):
    return {"levels": "0, 1", "object1": "oak", "sentence": "hard"} | changed


def test_only_a_lower_case_name_in_double_braces_is_a_placeholder():
    text = 'a {{x}} {"b": {"c": {}}} {{"d": 1}} {e} {{{f}}} {{}} {{x}} {{y_2}}'
    assert placeholders(text) == ("x", "f", "y_2")


def test_near_misses_are_refused_instead_of_sent():
    for text in ("{{ x }}", "{{X}}", "{{1}}", "{{a-b}}", "{{a.b}}", "{{two words}}"):
        with pytest.raises(PromptNotValid) as caught:
            placeholders(f"first\n{text}")
        assert (caught.value.line, caught.value.name) == (2, text.strip("{} "))


def test_hostile_repetition_takes_no_time():
    started = time.process_time()
    for inside in (" " * 60_000 + "!", "a " * 30_000 + "!", "{{" * 30_000):
        assert placeholders("{{" + inside + "}}") == ()
    assert time.process_time() - started < 5


def test_render():
    assert render(parts(), values()) == [
        {"role": "system", "content": "Rate by 0, 1."},
        {"role": "user", "content": "About oak:\nhard"},
    ]
    # An empty system part sends no system message.
    assert [message["role"] for message in render(parts(system=" \n"), values())] == ["user"]
    # Texts are never searched for placeholders, and braces that are none stay.
    literal = 'Answer {"label": {"value": 1}} or {{"x": 2}} or {}'
    odd = values(object1="{{sentence}} {{oops}} {{ x }}", sentence="\\1 {{levels}}")
    system, user = render(parts(system=literal), odd)
    assert system["content"] == literal
    assert user["content"] == "About {{sentence}} {{oops}} {{ x }}:\n\\1 {{levels}}"


@given(st.text(max_size=40))
def test_texts_are_put_in_as_they_are(text):
    _, user = render(parts(), values(sentence=text))
    assert user["content"] == f"About oak:\n{text}"


@pytest.mark.parametrize(
    ("changed", "part", "line", "name"),
    [
        ({"system": "a\n{{level}}"}, "system", 2, "level"),
        ({"system": "{{ levels }}"}, "system", 1, "levels"),
        ({"system": "a\n\n{{sentence}}"}, "system", 3, "sentence"),
        ({"user": "{{object1}} {{sentence}} {{object3}}"}, "user", 1, "object3"),
        ({"user": "{{object1}}"}, "user", None, "sentence"),
        ({"user": "{{object1}}\n{{sentence}}\n{{levels}}"}, "user", 3, "levels"),
        ({"user": " \n"}, "user", None, ""),
        ({"system": "x" * (LONGEST_PART + 1)}, "system", None, ""),
    ],
)
def test_templates_that_cannot_be_used(changed, part, line, name):
    for use in (check, lambda template: render(template, values())):
        with pytest.raises(PromptNotValid) as caught:
            use(parts(**changed))
        assert (caught.value.part, caught.value.line, caught.value.name) == (part, line, name)


def test_every_name_needs_a_text_and_every_text_a_name():
    # A prompt may do without what is the same for all.
    check(parts(system="Rate.", user="{{sentence}} about {{object1}}"))
    check(parts(system="", user="{{levels}}\n{{object1}}: {{sentence}}"))
    without = {name: text for name, text in values().items() if name != "object1"}
    for texts, name in ((without, "object1"), (values(object2="pine"), "object2")):
        with pytest.raises(PromptNotValid, match=name) as caught:
            render(parts(), texts)
        assert caught.value.name == name
    with pytest.raises(PromptNotValid, match=r"^user line 2: .*\{\{typo\}\} .*object1"):
        check(parts(user="{{object1}} {{sentence}}\n{{typo}}"))


def test_requests_of_a_run_share_everything_before_the_item():
    shipped = load_prompt_file(SHIPPED / "relevance_single.md")
    first, second = (
        filled(shipped, "0: no", sentence=fence(text, fence_token("", text)))
        for text in ("Oak is hard.", "Pine is light.")
    )
    assert first[0] == second[0]
    shared = first[1]["content"].split("=== begin ")[0]
    assert second[1]["content"].startswith(shared)


def test_the_hash_changes_with_everything_frozen():
    hashes = {
        prompt_hash("a", "b"),
        prompt_hash("ab", ""),
        prompt_hash("b", "a"),
        prompt_hash("a", "b "),
        prompt_hash("a", "b", form="single"),
        prompt_hash("a", "b", schema=label_schema(range(4))),
        prompt_hash("a", "b", schema=label_schema(range(3))),
        prompt_hash("a", "b", schema=batch_schema([1], range(4))),
    }
    assert len(hashes) == 8
    assert prompt_hash("a", "b") == prompt_hash("a", "b", schema=None, form="")
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in hashes)


def filled(shipped, levels, **item):
    """A shipped prompt about oak and pine."""
    objects = {"object1": quote("oak"), "object2": quote("pine")}
    return render(shipped.parts, {"levels": levels} | objects | item)


def test_the_shipped_prompt_for_one_sentence():
    shipped = load_prompt_file(SHIPPED / "relevance_single.md")
    assert shipped.form == "single"
    assert shipped.parts.layout == PromptLayout(("levels",), ("object1", "object2", "sentence"))
    text = "It says {{levels}}."
    token = fence_token("", text)
    system, user = filled(shipped, "0: useless\n1: useful", sentence=fence(text, token))
    assert "0: useless\n1: useful" in system["content"]
    assert '"label"' in system["content"]
    assert "{{" not in system["content"]
    assert user["content"] == (
        f'Object 1: "oak"\nObject 2: "pine"\n\n'
        f'=== begin {token} ===\n"It says {{{{levels}}}}."\n=== end {token} ==='
    )


FILE = """---
name: a prompt
form: single
run: levels
item: object1, sentence
---

# system

Rate.

## Not a section

# user

{{object1}} {{sentence}}
"""


def test_a_prompt_file(tmp_path):
    path = tmp_path / "prompt.md"
    path.write_text(FILE, encoding="utf-8")
    prompt = load_prompt_file(path)
    assert (prompt.name, prompt.form) == ("a prompt", "single")
    assert prompt.parts.system == "Rate.\n\n## Not a section"
    assert prompt.parts.user == "{{object1}} {{sentence}}"
    assert prompt.parts.layout == LAYOUT


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("---\nname", "name", "line 1: .*opens"),
        ("item: object1, sentence\n---", "item: object1, sentence", "line 6: .*not expected"),
        ("form: single", "form: triple", "one of single, batch"),
        ("form: single\n", "", "line 5: form: is missing"),
        ("form: single", "form: single\nform: batch", "line 4: 'form' is not expected"),
        ("form: single", "shape: single", "line 3: 'shape' is not expected"),
        ("object1, sentence\n---", "Object1\n---", "not a lower-case name"),
        ("# system", "words\n# system", "line 8: text before"),
        ("# user", "# system", "line 14: a second section system"),
        ("# user", "## user", "section user is missing"),
        ("{{sentence}}", "", "{{sentence}} is missing"),
    ],
)
def test_prompt_files_that_cannot_be_used(tmp_path, old, new, said):
    assert old in FILE
    path = tmp_path / "prompt.md"
    path.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PromptNotValid, match=said):
        load_prompt_file(path)

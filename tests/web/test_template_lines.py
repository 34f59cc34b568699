"""Lines of templates: none is longer than a reader's window, and none lets markup through.

White space outside a Django tag is where a line can be broken; a tag itself has to stay on one.
"""

import re

from django.conf import settings

WIDTH = 119
UNESCAPED = re.compile(r"\|\s*safe(seq)?\b|autoescape\s+off")
# Styles of the project's own, in a file that is sent away.
OWN_STYLES = "benchmark/leaderboard/board_file.html"
TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}")


def is_too_long(line: str) -> bool:
    return len(line) > WIDTH and bool(re.search(r"\s|><", TAG.sub("_", line.strip())))


def test_a_line_is_too_long_where_it_could_have_been_broken():
    address = "{% url 'board' study.public_id snapshot.number %}?judge={{ chosen.judge }}" * 2
    assert is_too_long("word " * 24)
    assert is_too_long(f'<a href="{address}">')
    assert is_too_long(f"<b>{address}</b><b>")
    assert not is_too_long(f'  href="{address}"')
    assert not is_too_long("<p>short</p> <p>short</p>")


def template_paths():
    folders = settings.TEMPLATES[0]["DIRS"]
    return sorted(path for folder in folders for path in folder.rglob("*.html"))


def test_no_template_shows_text_unescaped():
    """What people wrote is text on every page; linters hold the same of Python."""
    texts = {path: path.read_text() for path in template_paths()}
    unescaped = [str(path) for path, text in texts.items() if UNESCAPED.search(text)]
    assert [path.endswith(OWN_STYLES) for path in unescaped] == [True], unescaped


def test_no_tag_goes_over_two_lines():
    """Django prints such a tag as it stands."""
    broken = re.compile(r"\{\{[^}]*\n|\{%[^%]*\n|\{#[^#]*\n")
    assert broken.search("{{\n name }}")
    assert [str(path) for path in template_paths() if broken.search(path.read_text())] == []


def test_no_template_line_is_too_long():
    paths = template_paths()
    assert len(paths) > 100
    found = [
        f"{path}:{number} has {len(line)} characters"
        for path in paths
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if is_too_long(line)
    ]
    assert not found, "\n".join(found)

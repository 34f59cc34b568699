"""Lines of templates are as long as a reader's window, or have nowhere to break.

White space outside a Django tag is where a line can be broken; a tag itself has to stay on one.
"""

import re

from django.conf import settings

WIDTH = 119
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


def test_no_template_line_is_too_long():
    paths = [path for each in settings.TEMPLATES[0]["DIRS"] for path in each.rglob("*.html")]
    assert len(paths) > 100
    found = [
        f"{path}:{number} has {len(line)} characters"
        for path in sorted(paths)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if is_too_long(line)
    ]
    assert not found, "\n".join(found)

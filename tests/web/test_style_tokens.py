"""Two widths of text and one set of colours: other sheets name them, one sheet has them."""

import re

from django.conf import settings

from cqa_site.web.charts.vega import THEMES

SHEETS = settings.BASE_DIR / "static" / "css"
# The sentence to label is set large; the letters of counting have colours of their own.
WIDTHS = {"label.css: max-width: 44ch"}


def declared(pattern: str) -> set[str]:
    """What stands outside the tokens, with its sheet."""
    found = set()
    for path in sorted(SHEETS.rglob("*.css")):
        text = re.sub(r":root \{.*?\n\}", "", path.read_text(), flags=re.S)
        found |= {f"{path.name}: {hit}" for hit in re.findall(pattern, text)}
    return found


def test_colours_are_tokens():
    literal = declared(r"[\w-]*: (?:#[0-9a-f]{3,8}|rgb\(|hsl\(|oklch\(|red|green|orange)\b")
    assert {each.partition(":")[0] for each in literal} <= {"count.css"}
    fallen_back = declared(r"var\(--(?:good|warn|bad|accent)[\w-]*, [^)]*\)")
    assert fallen_back == set()


def test_two_sides_have_one_colour_each_on_pages_and_in_charts():
    text = (SHEETS / "counterpoint.css").read_text()
    for name in ("first", "second"):
        [(light, dark)] = re.findall(rf"--{name}: light-dark\((\S+), (\S+)\);", text)
        assert (light, dark) == (THEMES["light"][name], THEMES["dark"][name])
    sides = (SHEETS / "key-points.css").read_text()
    assert re.findall(r"--side: ([^;]+);", sides) == ["var(--first)", "var(--second)"]

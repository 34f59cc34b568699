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


def test_running_text_has_one_of_two_widths():
    assert declared(r"max-width: [\d.]+ch") == WIDTHS


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


def test_a_tap_leaves_no_button_grey_and_undo_stays_under_the_thumb():
    base = (SHEETS / "counterpoint.css").read_text()
    outside = re.sub(r"@media \(hover: hover\) \{.*?\n\}", "", base, flags=re.S)
    assert not re.findall(r"^(?:\.button|button)[^{\n]*:hover", outside, flags=re.M)
    assert re.search(r"@media \(pointer: coarse\)[^{]*\{[^}]*> kbd[^}]*display: none", base)
    for sheet in ("score.css", "count.css", "editing.css"):
        for line in (SHEETS / "work_pages" / sheet).read_text().splitlines():
            is_for_fingers = re.search(r"\.(point|count-mark|reason-chip):hover", line)
            assert not is_for_fingers or "@media (hover: hover)" in line
    label = (SHEETS / "work_pages" / "label.css").read_text()
    assert re.search(r"\.tools \{ position: sticky; bottom: 0", label)


def test_people_and_results_of_practice_are_cards_on_a_phone():
    page = (settings.BASE_DIR / "templates" / "people" / "members.html").read_text()
    assert page.count('class="as-cards"') == page.count("<table")
    practice = settings.BASE_DIR / "templates" / "benchmark" / "scoring" / "score_feedback.html"
    assert 'class="as-cards"' in practice.read_text()
    phone = (SHEETS / "data.css").read_text().partition("@media (max-width: 40rem)")[2]
    assert ".as-cards tr { display: flex;" in phone


def test_a_citation_stays_with_its_brackets():
    rule = re.search(
        r"\.answer-text \.cited \{([^}]*)\}", (SHEETS / "work_pages" / "score.css").read_text()
    )
    assert rule
    assert "inline-block" not in rule[1]

"""No word of any chart touches another one, a mark or the edge of its picture.

Chromium measures what the site's own renderer drew, with the widest face of the charts' font
stack (DejaVu Sans, which is what it has here): the other faces take up to a fifth less.
"""

import pytest

from cqa_site.web.charts import drawing
from tests.web.chart_cases import CASES, NUMBERS, names

pytestmark = pytest.mark.browser

# What two boxes may share, in pixels: line boxes of a face are higher than its letters.
SLACK = 1.5
# Of a page 320 px wide, what a chart gets; a wider picture is shown in its own size only.
NARROWEST = 262
LEAST = 10

BOXES = """svgs => svgs.map(([name, svg]) => {
  document.body.innerHTML = svg;
  const root = document.querySelector('svg'), own = root.getBoundingClientRect();
  const box = each => {
    const found = each.getBoundingClientRect();
    return [found.left - own.left, found.top - own.top, found.right - own.left,
      found.bottom - own.top];
  };
  const texts = [...root.querySelectorAll('text')].filter(each => each.textContent.trim());
  const lines = [...root.querySelectorAll('.mark-rule line')]
    .filter(each => each.getAttribute('stroke') !== GRID);
  const signs = [...root.querySelectorAll('.mark-symbol path')];
  const curves = [...root.querySelectorAll('.mark-line path')].flatMap(each => {
    const whole = each.getTotalLength(), to = each.getScreenCTM();
    return Array.from({length: Math.ceil(whole / 3)}, (_, at) => {
      const spot = each.getPointAtLength(at * 3).matrixTransform(to);
      return [spot.x - own.left, spot.y - own.top, spot.x - own.left, spot.y - own.top];
    });
  });
  const bars = [...root.querySelectorAll('.mark-rect path')];
  return {
    name, width: own.width, height: own.height,
    texts: texts.map(each => [each.textContent, box(each), parseFloat(
      getComputedStyle(each).fontSize)]),
    marks: [...lines, ...signs].map(box).concat(curves),
    bars: bars.map(box),
  };
})"""


def pictures(kind):
    """The chart in every number and size, as the browser gets it."""
    return [
        (f"{kind}, {n}, {size}", drawing._draw(draw(n, size), "svg", "light").decode())
        for draw in [CASES[kind]]
        for n in NUMBERS
        for size in drawing.WIDTHS
    ]


@pytest.fixture(scope="module")
def measure(browser):
    """What boxes the texts and marks of pictures have."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_content("<style>body { margin: 0 } svg { display: block }</style>")
    script = BOXES.replace("GRID", f"'{drawing.THEMES['light']['line']}'")
    yield lambda svgs: page.evaluate(script, svgs)
    page.close()


@pytest.mark.parametrize("kind", CASES)
def test_every_word_of_a_chart_has_its_own_place(kind, measure):
    faults = [fault for found in measure(pictures(kind)) for fault in faults_of(found)]
    assert faults == []


def faults_of(found):
    """What is wrong with a picture, in words."""
    name, words = found["name"], [(text, tight(box)) for text, box, _size in found["texts"]]
    assert words, name
    for at, (text, box) in enumerate(words):
        for other, beside in words[at + 1 :]:
            if meet(box, beside, SLACK):
                yield f"{name}: “{text}” over “{other}”"
        if any(meet(box, mark, SLACK) for mark in found["marks"]):
            yield f"{name}: “{text}” is struck by a mark"
        if "…" in text:
            yield f"{name}: “{text}” is cut"
    whole = [0, 0, found["width"], found["height"]]
    for text, box, _size in found["texts"]:
        if leaves(box, whole):
            yield f"{name}: “{text}” leaves the picture at {box}"
    for box in found["marks"] + found["bars"]:
        if leaves(box, whole):
            yield f"{name}: a mark leaves the picture at {box}"
    shown = min(1, NARROWEST / found["width"]) if "narrow" in name else 1
    smallest = min(size for _text, _box, size in found["texts"]) * shown
    if smallest < LEAST:
        yield f"{name}: text of {smallest:.1f} px"


def tight(box):
    """The box without the air above and below its letters."""
    left, top, right, bottom = box
    return [left, top + 1.5, right, bottom - 1.5]


def meet(one, other, slack):
    """Whether two boxes share more than the slack both ways; lines have no breadth."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    least = 0 if other[2] - other[0] <= slack or other[3] - other[1] <= slack else slack
    return across > least and down > least


def leaves(box, whole):
    return (
        box[0] < whole[0] - 0.5
        or box[1] < whole[1] - 0.5
        or box[2] > whole[2] + 0.5
        or box[3] > whole[3] + 0.5
    )


@pytest.mark.parametrize(
    "kind", ["ranked", "summaries tradeoff", "board scenarios", "raters", "board beside"]
)
def test_every_name_of_forty_letters_is_in_the_picture(kind, measure):
    for found in measure(pictures(kind)):
        said = "".join(text for text, _box, _size in found["texts"]).replace(" ", "")
        n = int(found["name"].split(", ")[1])
        missing = [name for name in names(n) if name.replace(" ", "") not in said]
        assert missing == [], found["name"]

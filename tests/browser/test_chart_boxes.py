"""Every kind of chart in Chromium: words and pictures are where the specification says.

The face is DejaVu Sans, the widest of the charts' font stack, as long as that is what the system
has; `tests/web/test_chart_boxes.py` looks at what touches what in every number and size.
"""

import pytest

from cqa_site.web.charts import vega
from tests.web.chart_boxes import boxes_of
from tests.web.chart_cases import CASES

pytestmark = pytest.mark.browser

# Pixels by which a drawn word may leave the box that was reckoned with.
SLACK = 1.5
SIZES = list(vega.WIDTHS)

BOXES = """svg => {
  document.body.innerHTML = svg;
  const root = document.querySelector('svg'), own = root.getBoundingClientRect();
  const box = each => {
    const found = each.getBoundingClientRect();
    return [found.left - own.left, found.top - own.top, found.right - own.left,
      found.bottom - own.top];
  };
  const texts = [...root.querySelectorAll('text')].filter(each => each.textContent.trim());
  const marks = [...root.querySelectorAll('.mark-rule line, .mark-symbol path, .mark-line path')];
  return {width: own.width, height: own.height,
    words: texts.map(each => [each.textContent, box(each)]), marks: marks.map(box)};
}"""


@pytest.mark.long
def test_words_are_where_they_are_reckoned_with(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_content("<style>body { margin: 0 } svg { display: block }</style>")
    for at, (kind, draw) in enumerate(CASES.items()):
        spec = draw(8, SIZES[at % len(SIZES)])
        found = page.evaluate(BOXES, vega._draw(spec, "svg", "light").decode())
        assert faults_of(found, boxes_of(spec)) == [], kind
    page.close()


def faults_of(found, reckoned):
    """Words and marks that are elsewhere."""
    faults = [] if found["width"] == reckoned.width else [f"{found['width']} px wide"]
    words = sorted(text for text, _box in reckoned.words if text.strip())
    if sorted(text for text, _box in found["words"]) != words:
        faults.append("other words")
    whole = (0, 0, found["width"], found["height"])
    for text, box in found["words"]:
        places = [place for word, place in reckoned.words if word == text]
        if not any(holds(place, box) for place in places):
            faults.append(f"“{text}” is at {box}, reckoned with at {places}")
    return faults + [f"a mark at {box}" for box in found["marks"] if not holds(whole, box)]


def holds(place, box):
    return (
        place[0] - SLACK <= box[0]
        and place[1] - SLACK <= box[1]
        and place[2] + SLACK >= box[2]
        and place[3] + SLACK >= box[3]
    )

"""Template tags for the tables of rounds."""

from typing import Any

from django import template

from cqa_site.people.models import Rater
from cqa_site.rounds.examples import known_text
from cqa_site.rounds.kind import sheet_kind_of
from cqa_site.rounds.models import Item, Place, Round
from cqa_site.rounds.pages.rounds import ListColumn, RoundPages
from cqa_site.rounds.progress import Pace
from cqa_site.rounds.rules.actions import record_of
from cqa_site.rounds.rules.measures import ControlAnswer

register = template.Library()


@register.inclusion_tag("rounds/_cell.html")
def cell(column: ListColumn, row: Any) -> dict[str, Any]:
    """Render a row's value in a column, or a dash if it is empty."""
    return {
        "css": column.css,
        "head": column.head,
        "value": column.value(row),
        "link": column.link(row) if column.link else "",
    }


@register.inclusion_tag("rounds/_pace.html")
def pace_of(paces: dict[int, Pace], rater: int) -> dict[str, Any]:
    """Show a rater's pace and anything unusual about it."""
    return {"pace": paces.get(rater)}


@register.simple_tag
def controls_of(controls: dict[int, list[ControlAnswer]], place: Place) -> str:
    """Return how many of a person's control answers were right; a dash if there are none."""
    answers = controls.get(place.rater_id)
    return record_of(place, answers).right_of_n if answers else "–"


@register.simple_tag
def sheets_of(pages: RoundPages, round_: Round, rater: Rater | None = None) -> str:
    """Return the URL of the list of a round's sheets, or of one person's sheets."""
    return pages.sheets(round_, rater) if pages.sheets else ""


@register.simple_tag
def key_of(round_: Round, item: Item) -> str:
    """Return the known answer of an example or a control item as text."""
    return known_text(sheet_kind_of(round_), round_, item.known_answer)

"""The counting form: references on one side, generated summaries on the other."""

from typing import Any

from django.utils.translation import gettext as _

from argsum.counting.actions.kind import COUNTING, CountContent
from argsum.counting.forms.form import LONGEST_COMMENT, CountForm
from argsum.counting.methods.statement_letters import letters
from argsum.counting.models import CountSheet
from cqa_site.rounds.pages.trial import trial_urls
from cqa_site.rounds.pages.work import Face, work_urls

from .payload import form_set, levels, said, shown_counts


def _shown(sheet: CountSheet, content: CountContent) -> dict[str, Any]:
    """What the form may know: texts, without system, setting, run and other people."""
    return {
        "shown": form_set(sheet, content),
        "content": content,
        "counts": shown_counts(sheet, content),
        "levels": levels(),
        "letters": letters(sheet.summaries),
        "longest": LONGEST_COMMENT,
    }


def _told(sheet: CountSheet) -> tuple[str, str]:
    cell = sheet.summary_set.cell
    covered = f"{_number(sheet.covered)} / {sheet.references}"
    unique = f"{_number(sheet.unique)} / {sheet.summaries}"
    return f"{cell.topic} · {cell.get_stance_display()}", _("%s covered, %s different") % (
        covered,
        unique,
    )


def _number(count: float | None) -> str:
    return "–" if count is None else f"{count:g}"


FACE = Face(
    kind=COUNTING,
    form=CountForm,
    shown=_shown,
    said=said,
    told=_told,
    stored=lambda sheet: shown_counts(sheet, COUNTING.content_of(sheet)),
    templates="argsum/counting/count",
)
ROUNDS = "key-points/judging/<uuid:counting_id>/"
urlpatterns = trial_urls(FACE, ROUNDS) + work_urls(
    FACE,
    rounds=ROUNDS,
    sheets="key-points/judging/sheets/<uuid:count_id>/",
    kept="kept/<uuid:kept_count_id>/",
)

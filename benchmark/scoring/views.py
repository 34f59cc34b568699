"""Pages of scoring: the form, rounds, examples and the export of sheets."""

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.utils.text import slugify
from django.utils.translation import get_language, gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.methods.rendering import Piece, split_citations
from annotation.answers.reports import ArgumentBeside, arguments_beside, listed_arguments
from benchmark.rubrics.methods.rubric import HINTS, Criterion, Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.actions import SCORING, ScoreContent
from benchmark.scoring.forms import LONGEST_NOTE, ScoreForm, ScoringRoundForm, SheetExportForm
from benchmark.scoring.methods import Hint, score_hints
from benchmark.scoring.models import ScoreSheet, ScoringItem, ScoringRound
from benchmark.scoring.reports.export import export_rows, export_types
from cqa_site.files.actions.exports import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.drafts import is_changeable
from cqa_site.rounds.examples import AnswerPart, parts_of
from cqa_site.rounds.pages.rounds import ListColumn, RoundPages, round_urls, trial_urls
from cqa_site.rounds.pages.work import TaskPages, work_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.web.rest.queries import id_from

# Data for the scoring form: allow-lists without system, scenario, file and other people.


@dataclass(frozen=True)
class FormCriterion:
    """One criterion with its points, reason, note and hint."""

    criterion: Criterion
    points: int | None
    unable: str
    note: str
    hint: Hint | None
    is_open: bool

    @property
    def html(self) -> str:
        """Cached HTML of the field if it has no points, note or hint; empty otherwise."""
        is_touched = self.is_set or self.note or self.hint
        return "" if is_touched else _untouched(self.criterion, self.is_open, get_language())

    @property
    def is_set(self) -> bool:
        """Whether the criterion has points or a reason why they are missing."""
        return self.points is not None or bool(self.unable)


@dataclass(frozen=True)
class FormGroup:
    """A group of criteria with the points given so far."""

    key: str
    name: str
    maximum: int
    criteria: list[FormCriterion]

    @property
    def points(self) -> int:
        """Points given so far."""
        return sum(criterion.points or 0 for criterion in self.criteria)


@lru_cache(maxsize=1_000)
def _untouched(criterion: Criterion, is_open: bool, language: str | None) -> str:
    # The fifteen criteria take up most of a page, and on most pages no points are given yet.
    field = FormCriterion(criterion, None, "", "", None, is_open)
    words = {"reasons": ScoreSheet.Unable.choices, "longest": LONGEST_NOTE}
    context = words | {"each": field, "is_open": is_open}
    return render_to_string("benchmark/scoring/_score_criterion.html", context)


def form_groups(
    rubric: Rubric, content: ScoreContent, hints: dict[str, Hint], *, is_open: bool
) -> list[FormGroup]:
    return [
        FormGroup(
            group.key,
            group.name,
            group.maximum,
            [
                FormCriterion(
                    criterion,
                    content.points.get(criterion.key),
                    content.unable.get(criterion.key, ""),
                    content.notes.get(criterion.key, ""),
                    hints.get(criterion.counted_by or ""),
                    is_open,
                )
                for criterion in rubric.of_group(group.key)
            ],
        )
        for group in rubric.groups
    ]


def hints_of(sheet: ScoreSheet) -> dict[str, Hint]:
    """Return the automatic counts for the answer, by name; empty if the round shows no hints."""
    if sheet.round is None or not sheet.round.shows_hints:
        return {}
    return {hint.name: hint for hint in score_hints(sheet.answer.text, HINTS)}


def answer_shown(sheet: ScoreSheet) -> tuple[list[Piece], list[ArgumentBeside]]:
    """Return the pieces of the text, and its listed arguments unless the round hides them."""
    shows = sheet.round is not None and sheet.round.shows_arguments
    entries = listed_arguments(sheet.answer) if shows else []
    pieces = split_citations(sheet.answer.text, {entry.number for entry in entries})
    cited = {piece.number for piece in pieces if piece.is_known and piece.number is not None}
    return pieces, arguments_beside(sheet.answer, entries, cited)


def said(sheet: ScoreSheet, content: ScoreContent) -> dict[str, str]:
    """Return the content as text for each criterion."""
    points = {
        f"{criterion.key} {criterion.name}": _criterion_text(content, criterion.key)
        for criterion in sheet.rubric.rubric.criteria
    }
    return points | {_("Comment"): content.comment}


def _criterion_text(content: ScoreContent, key: str) -> str:
    if key in content.points:
        text = str(content.points[key])
    else:
        text = str(ScoreSheet.Unable(content.unable[key]).label) if key in content.unable else "–"
    note = content.notes.get(key, "")
    return f"{text} · {note}" if note else text


def _form_context(sheet: ScoreSheet, content: ScoreContent) -> dict[str, Any]:
    """Return the texts and rubric for the form, without system, scenario, file or other sheets."""
    hints = hints_of(sheet)
    is_open = is_changeable(sheet)
    groups = form_groups(sheet.rubric.rubric, content, hints, is_open=is_open)
    pieces, arguments = answer_shown(sheet)
    return {
        "question": sheet.answer.question,
        "column": {"pieces": pieces, "list_place": 1 if arguments else None},
        "arguments": arguments,
        "groups": groups,
        "points": sum(group.points for group in groups),
        "left": sum(not criterion.is_set for group in groups for criterion in group.criteria),
        "hints": [(hint, json.dumps(hint.places)) for hint in hints.values()],
        "reasons": ScoreSheet.Unable.choices,
        "comment": content.comment,
        "longest": LONGEST_NOTE,
    }


def _parts(sheet: ScoreSheet, item: ScoringItem) -> list[AnswerPart]:
    """Return the given and known points, with the known reason or, if empty, the level's text."""
    levels = {
        (criterion.key, str(level.points)): level.text
        for criterion in sheet.rubric.rubric.criteria
        for level in criterion.levels
    }
    parts = parts_of(sheet, item)
    missed = [part for part in parts if not (part.is_met or part.why)]
    texts = {part.name: levels.get((part.name, part.known), "") for part in missed}
    return [replace(part, why=texts.get(part.name, part.why)) for part in parts]


def _told(sheet: ScoreSheet) -> tuple[str, str]:
    points = "" if sheet.total is None else f"{sheet.total:g} / {sheet.maximum}"
    return str(sheet.answer.question), points


SCORING_PAGES = TaskPages(
    kind=SCORING,
    form=ScoreForm,
    shown=_form_context,
    said=said,
    told=_told,
    answers=_parts,
    templates="benchmark/scoring/score",
)
ROUNDS = "scoring/<uuid:round_id>/"
urlpatterns = trial_urls(SCORING_PAGES, ROUNDS) + work_urls(
    SCORING_PAGES,
    rounds=ROUNDS,
    sheets="scoring/sheets/<uuid:sheet_id>/",
    conflicts="conflicts/<uuid:score_conflict_id>/",
)


def _initial_plan(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the initial plan, with any systems named in the link."""
    return {"systems": [id_from(system) for system in request.GET.getlist("systems")]}


def _drawn(scoring_round: ScoringRound) -> list[tuple[Any, Any]]:
    recipe = scoring_round.recipe
    several = f"{100 * scoring_round.overlap_share:.0f} %"
    n = scoring_round.overlap_raters
    people = ngettext("%d person each", "%d people each", n) % n
    return [
        (_("Rubric"), scoring_round.rubric),
        (_("Matching answers"), recipe.get("found")),
        (_("Drawn"), _taken(recipe)),
        (_("Systems"), ", ".join(recipe.get("system_names", [])) or _("all")),
        (_("Conditions"), _conditions(recipe)),
        (_("Scored by several people"), f"{several} · {people}"),
        (_("Hints"), _("shown") if scoring_round.shows_hints else _("not shown")),
        (_("Cited arguments"), _("shown") if scoring_round.shows_arguments else _("not shown")),
    ]


def _taken(recipe: dict[str, Any]) -> str:
    if not recipe.get("size"):
        return _("all")
    if recipe.get("is_balanced"):
        return _("%d at random, balanced over systems and conditions") % recipe["size"]
    return _("%d at random") % recipe["size"]


def _conditions(recipe: dict[str, Any]) -> str:
    others = (
        _("all, mixed") if "all" in recipe.get("conditions", []) else _("plain conditions only")
    )
    named = "; ".join(recipe.get("condition_names", [])) or others
    left = recipe.get("other_conditions")
    if not left:
        return named
    words = ngettext(
        "%d answer under another condition is left out",
        "%d answers under other conditions are left out",
        left,
    )
    return f"{named} · {words % left}"


def _mean(person: RaterProgress) -> str | None:
    mean = person.figures["mean"]
    return None if mean is None else f"{mean:.2f}"


def _probability(item: ScoringItem) -> str | None:
    return None if item.probability is None else f"{item.probability:.4g}"


def _address(item: ScoringItem) -> str:
    return reverse("answer", args=[item.answer.study.public_id, item.answer.public_id])


ROUND_PAGES = RoundPages(
    form=ScoringRoundForm,
    initial=_initial_plan,
    is_ready=lambda study: study.answers.exists(),
    needs=lazy("Import or generate answers first, then choose which answers to score in a round."),
    related=("rubric",),
    columns=(ListColumn(lazy("Rubric"), lambda row: row.rubric),),
    people=(
        ListColumn(
            lazy("Sheets with a “cannot judge”"),
            lambda progress: progress.figures["unable"],
            css="number",
        ),
        ListColumn(lazy("Mean of complete sheets"), _mean, css="number"),
    ),
    things=(
        ListColumn(lazy("Question"), lambda item: item.answer.question, _address, "question"),
        ListColumn(lazy("System"), lambda item: item.answer.system),
        ListColumn(lazy("Condition"), lambda item: item.answer.condition),
    ),
    draw=(ListColumn(lazy("Draw probability"), _probability, css="number"),),
    drawn=_drawn,
)
urlpatterns += round_urls(ROUND_PAGES, "scores/rounds/", "round_id")


@study_page(*RESEARCHERS, only="GET")
def score_sheets_export(request: StudyRequest, study: Study) -> HttpResponseBase:
    """Show the export form, or send the file."""
    is_asked = "format" in request.GET
    form = SheetExportForm(
        request.GET if is_asked else None,
        study=study,
        initial={"rubric": request.GET.get("rubric")},
    )
    if is_asked and form.is_valid():
        return _file(request, study, **form.cleaned_data)
    context = {"study": study, "form": form, "has_rubric": study.rubric_versions.exists()}
    status = 422 if form.errors else 200
    return render(request, "benchmark/scoring/score_sheets_export.html", context, status=status)


def _file(
    request: StudyRequest,
    study: Study,
    *,
    rubric: RubricVersion,
    sheets: str,
    conditions: list[str],
    format: str,
    with_texts: bool,
    is_raw: bool,
) -> FileResponse:
    types = export_types(rubric.rubric, with_texts=with_texts)
    rows = export_rows(
        rubric, only_counted=sheets == "counted", with_texts=with_texts, conditions=conditions
    )
    name = f"score-sheets-{slugify(str(rubric)) or 'rubric'}-{sheets}.{format}"
    record(study=study, actor=request.user, verb="sheets_exported", subject=name)
    return sent_table(FileTable(types, rows), name=name, format=format, is_raw=is_raw)


urlpatterns += [path("scores/export/", score_sheets_export, name="score_sheets_export")]

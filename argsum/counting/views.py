"""Pages of counting: the form, rounds, runs and count sheets."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.counting.actions.judge import KIND, clipped_and_unparsable, dimension_of
from argsum.counting.actions.rounds import ALL, COUNTING, CountContent, counts_of
from argsum.counting.forms import LONGEST_COMMENT, CountForm, CountingRoundForm, CountingRunForm
from argsum.counting.methods.counts import FULL, NONE, PART, Marks, letters, marks_from_json
from argsum.counting.models import CountingItem, CountingRound, CountSheet
from argsum.counting.reports import (
    TYPES,
    CountSheetQuery,
    beside_sheet,
    export_rows,
    rater_name,
    sheet_or_404,
    shown_sheets,
)
from argsum.datasets.methods.statements import language_of
from argsum.metrics.actions.metrics import SetSelection, scorable_sets
from argsum.metrics.models import CountingRun, CountReply, MetricScore
from cqa_site.files.actions.exports import FileTable, sent_table
from cqa_site.people.access import RESEARCHERS, StudyRequest, record, study_page
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.pages.rounds import ListColumn, RoundPages, round_urls, trial_urls
from cqa_site.rounds.pages.work import TaskPages, work_urls
from cqa_site.rounds.progress import RaterProgress
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.views.runs import run_context
from cqa_site.runs.views.start import PER_PAGE, RunPages, RunScope, run_urls


@dataclass(frozen=True)
class FormReference:
    """One reference with its marks; ``place`` is its position from 0."""

    place: int
    text: str
    level: str
    by: frozenset[int]

    @property
    def number(self) -> int:
        """Number, starting at 1."""
        return self.place + 1


@dataclass(frozen=True)
class FormSummary:
    """One generated summary with its statement; ``letter`` is "0" if it says nothing."""

    place: int
    text: str
    letter: str
    is_partly: bool

    @property
    def number(self) -> int:
        """Number, starting at 1."""
        return self.place + 1


@dataclass(frozen=True)
class SetForm:
    """All content that the judge of a set sees."""

    topic: str
    stance: str
    references: list[FormReference]
    summaries: list[FormSummary]

    @property
    def language(self) -> str:
        """Language detected in most texts; empty if unclear."""
        texts = [reference.text for reference in self.references] + [
            summary.text for summary in self.summaries
        ]
        return language_of(texts)


def form_set(sheet: CountSheet, content: CountContent) -> SetForm:
    """Return the texts of the set with the form's content, using two queries."""
    cell = sheet.summary_set.cell
    marks = marks_from_json(content.marks)
    chosen = _letters(marks, sheet.summaries)
    references = cell.key_points.values_list("text", flat=True)[: sheet.references]
    summaries = sheet.summary_set.summaries.values_list("text", flat=True)[: sheet.summaries]
    return SetForm(
        topic=cell.topic,
        stance=cell.get_stance_display() if cell.stance else "",
        references=[
            FormReference(
                place, text, marks.levels.get(place, ""), frozenset(marks.by.get(place, ()))
            )
            for place, text in enumerate(references)
        ],
        summaries=[
            FormSummary(place, text, chosen.get(place, ""), place in marks.partly)
            for place, text in enumerate(summaries)
        ],
    )


def levels() -> list[tuple[str, str, str]]:
    """Return the three marks of a reference with their keys and labels."""
    return [(FULL, "1", _("covered")), (PART, "2", _("partly")), (NONE, "3", _("not covered"))]


def shown_counts(sheet: CountSheet, content: CountContent) -> dict[str, float | None]:
    """Return the current counts, with None for a count marked as unsure."""
    counts = counts_of(content, references=sheet.references, summaries=sheet.summaries)
    return {"covered": counts.covered, "unique": counts.unique}


def said(sheet: CountSheet, content: CountContent) -> dict[str, str]:
    """Return the form's content as text, row by row."""
    marks = marks_from_json(content.marks)
    words = {value: word for value, _key, word in levels()}
    rows = {}
    for place in range(sheet.references):
        by = ", ".join(str(summary + 1) for summary in marks.by.get(place, ()))
        level = words.get(marks.levels.get(place, ""), "–")
        name = _("Reference %d") % (place + 1)
        rows[name] = _("%(level)s, by %(by)s") % {"level": level, "by": by} if by else level
    chosen = _letters(marks, sheet.summaries)
    for place in range(sheet.summaries):
        letter = chosen.get(place, "–")
        sentence = _("says nothing") if letter == "0" else letter
        name = _("Summary %d") % (place + 1)
        rows[name] = _("%s, partly") % sentence if place in marks.partly else sentence
    typed = (
        (_("Typed count: references covered"), content.covered, content.covered_text),
        (_("Typed count: different statements"), content.unique, content.unique_text),
    )
    rows |= {name: text or "–" if count is None else f"{count:g}" for name, count, text in typed}
    unsure = (
        (_("Unsure: references covered"), content.covered_is_unsure),
        (_("Unsure: different statements"), content.unique_is_unsure),
    )
    rows |= {name: _("yes") if is_so else _("no") for name, is_so in unsure}
    return rows | {_("Comment"): content.comment or "–"}


def _letters(marks: Marks, summaries: int) -> dict[int, str]:
    names = letters(summaries)
    chosen = {
        summary: names[number] for number, group in enumerate(marks.groups) for summary in group
    }
    return chosen | dict.fromkeys(marks.empty, "0")


def _shown(sheet: CountSheet, content: CountContent) -> dict[str, Any]:
    """Return the form's context: texts, but no system, setting, run or other people."""
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


COUNT_PAGES = TaskPages(
    kind=COUNTING,
    form=CountForm,
    shown=_shown,
    said=said,
    told=_told,
    stored=lambda sheet: shown_counts(sheet, COUNTING.content_of(sheet)),
    templates="argsum/counting/count",
)
ROUNDS = "key-points/judging/<uuid:counting_id>/"
urlpatterns = trial_urls(COUNT_PAGES, ROUNDS) + work_urls(
    COUNT_PAGES,
    rounds=ROUNDS,
    sheets="key-points/judging/sheets/<uuid:count_id>/",
    conflicts="conflicts/<uuid:count_conflict_id>/",
)


def _sheets(counting_round: CountingRound, rater: Rater | None) -> str:
    query = {"round": counting_round.public_id}
    if rater is not None:
        query["rater"] = rater.public_id
    return reverse("counting_sheets", args=[counting_round.study.public_id], query=query)


def _drawn(counting_round: CountingRound) -> list[tuple[Any, Any]]:
    recipe = counting_round.recipe
    dataset = [recipe.get("dataset_name") or _("all"), recipe.get("split")]
    systems = [", ".join(recipe.get("systems", [])) or _("all"), recipe.get("setting")]
    every = _("every setting") if recipe.get("per_cell") == ALL else _("one per system and cell")
    sample = [every, recipe.get("size") and _("%d at random") % recipe["size"]]
    return [
        (_("Dataset"), _joined(dataset)),
        (_("Systems"), _joined(systems)),
        (_("Matching sets"), recipe.get("found")),
        (_("Included"), _joined(sample)),
        (_("People per set"), counting_round.raters),
    ]


def _joined(parts: list[Any]) -> str:
    return " · ".join(str(part) for part in parts if part)


def _address(item: CountingItem) -> str:
    chosen = item.summary_set
    return reverse("summary_set", args=[chosen.study.public_id, chosen.public_id])


def _mean_column(name: str) -> Any:
    def shown(person: RaterProgress) -> str | None:
        mean = person.figures[name]
        return None if mean is None else f"{mean:.2f}"

    return shown


ROUND_PAGES = RoundPages(
    form=CountingRoundForm,
    is_ready=lambda study: study.summary_sets.exists(),
    needs=lazy("Run a system or import people's counts first, so that there are sets to judge."),
    needs_page=lambda study: ("system_runs", _("System runs")),
    columns=(ListColumn(lazy("People per set"), lambda row: row.raters, css="number"),),
    people=(
        ListColumn(
            lazy("Sets with unsure counts"),
            lambda person: person.figures["unsure"],
            css="number",
        ),
        ListColumn(lazy("Mean coverage"), _mean_column("coverage"), css="number"),
        ListColumn(lazy("Mean redundancy"), _mean_column("redundancy"), css="number"),
    ),
    things=(
        ListColumn(lazy("Topic"), lambda item: item.summary_set.cell.topic, _address, "question"),
        ListColumn(lazy("Stance"), lambda item: item.summary_set.cell.get_stance_display()),
        ListColumn(lazy("System"), lambda item: item.summary_set.system),
        ListColumn(lazy("Setting"), lambda item: item.summary_set.setting, css="mono small"),
    ),
    drawn=_drawn,
    sheets=_sheets,
)
urlpatterns += round_urls(ROUND_PAGES, "key-points/rounds/", "counting_id")


def _taken(study: Study, form: RunPlanForm, requests: int) -> RunScope:
    """Return the number of sets and the number of requests for them."""
    sets = requests // form.cleaned_data["replicates"]
    return RunScope([(lazy("Sets"), sets), (lazy("Requests (one per set and reply)"), requests)])


RUN_PAGES = RunPages(
    kind=KIND,
    name="counting",
    form=CountingRunForm,
    heading=lazy("Scope"),
    rows=(("choice",), ("sample",)),
    has_things=lambda study: scorable_sets(study, SetSelection()).exists(),
    taken=_taken,
    about=lazy(
        "Language models count covered references and unique key points, several times per set. "
        "Coverage and redundancy are means over the replies."
    ),
    new=lazy("New counting run"),
    lead=lazy(
        "A model sees the same texts as people (topic, side, references and key "
        "points) but nothing about the system. The prompt defines what it counts. A "
        "weighted score needs one run for coverage and one for redundancy."
    ),
    nothing=lazy(
        "A judge counts key points for topics with references. Run a system or import sets first."
    ),
)


def run_page(request: HttpRequest, study: Study, run: Run) -> HttpResponse:
    """Show one run: progress, requests and counts."""
    target = run.spec["target"]
    scores = run.metric_scores.select_related("summary_set__cell").order_by("summary_set__cell")
    rows = scores.defer(
        *(f"summary_set__{name}" for name in ("arguments", "clusters", "assigned", "scores"))
    )
    page = Paginator(rows.order_by("pk"), PER_PAGE).get_page(request.GET.get("page"))
    context = run_context(study, run) | {
        "counting": CountingRun.objects.select_related("rater").get(run=run),
        "target": target,
        "dataset": study.argument_datasets.filter(
            public_id__in=[target["dataset"] or None]
        ).first(),
        "is_coverage": dimension_of(run) == CountReply.Dimension.COVERAGE,
        "totals": clipped_and_unparsable(run),
        "reasons": _reasons(run),
        "counts": _counts(run),
        "mean": _mean_score(run),
        "page": page,
    }
    return render(request, "argsum/counting/run.html", context)


def _counts(run: Run) -> list[tuple[float, int]]:
    rows = run.count_replies.filter(count__isnull=False).order_by("count")
    return list(rows.values_list("count").annotate(n=Count("pk")))


def _reasons(run: Run) -> dict[str, int]:
    rows = run.count_replies.exclude(reason="").order_by("reason")
    return dict(rows.values_list("reason").annotate(n=Count("pk")))


def _mean_score(run: Run) -> tuple[float | None, int]:
    """Return the mean over the sets with a score, and the number of these sets."""
    values = [
        value
        for value in MetricScore.objects.filter(run=run).values_list("value", flat=True)
        if value is not None
    ]
    return (sum(values) / len(values) if values else None), len(values)


urlpatterns += run_urls(RUN_PAGES, "key-points/judges/")


SHEETS_PER_PAGE = 50
FILTERS = {"round": "counting_round", "rater": "rater", "dataset": "dataset", "set": "summary_set"}
FORMATS = ("csv", "jsonl")


@study_page(*RESEARCHERS, only="GET")
def counting_sheets(request: StudyRequest, study: Study) -> HttpResponseBase:
    """List the selected sheets, or send them as a file."""
    sheets = shown_sheets(study, _asked(request))
    format = request.GET.get("format", "")
    if format in FORMATS:
        return _file(request, study, sheets, format)
    page = Paginator(sheets, SHEETS_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": page,
        "rows": [(sheet, rater_name(sheet.rater), sheet.is_counted) for sheet in page],
        "filters": {name: request.GET.get(name, "") for name in FILTERS},
        "rounds": CountingRound.objects.filter(study=study).values_list("public_id", "name"),
        "datasets": study.argument_datasets.values_list("public_id", "name"),
    }
    return render(request, "argsum/counting/sheets.html", context)


@study_page(*RESEARCHERS, only="GET")
def count_sheet(request: StudyRequest, study: Study, count_id: uuid.UUID) -> HttpResponse:
    """Show one sheet with other people's marks on the same set."""
    sheet = sheet_or_404(study, count_id)
    context = {
        "study": study,
        "sheet": sheet,
        "is_counted": sheet.is_counted,
        **beside_sheet(sheet),
    }
    return render(request, "argsum/counting/count_sheet.html", context)


def _asked(request: StudyRequest) -> CountSheetQuery:
    """Read the filters from the URL; raise Http404 for an invalid id."""
    parameters = {field: request.GET.get(name, "") for name, field in FILTERS.items()}
    try:
        return CountSheetQuery(
            **{name: uuid.UUID(value) for name, value in parameters.items() if value}
        )
    except ValueError as problem:
        raise Http404 from problem


def _file(request: StudyRequest, study: Study, sheets: Any, format: str) -> FileResponse:
    name = f"count-sheets.{format}"
    record(study=study, actor=request.user, verb="count_sheets_exported", subject=name)
    table = FileTable(TYPES, export_rows(sheets))
    return sent_table(table, name=name, format=format, is_raw=bool(request.GET.get("raw")))


urlpatterns += [
    path("key-points/sheets/", counting_sheets, name="counting_sheets"),
    path("key-points/sheets/<uuid:count_id>/", count_sheet, name="count_sheet"),
]

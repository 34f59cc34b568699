"""Tables, charts and rows of faithfulness figures, and subjects of coherence calls."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from django.db.models import Avg, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.answers.models import Answer
from annotation.answers.reports import labels_name
from annotation.editing.models import Revision
from annotation.editing.reports import newest_revisions
from annotation.faithfulness.models import CoherenceVerdict, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.results.figures import Column, EstimateColumn, TextColumn, bounds_of, table_of
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call, Run
from cqa_site.web.charts.dot_rows import intervals
from cqa_site.web.charts.points import MOST, distinct, of_all
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData
from .faithfulness import COHERENCE, FaithfulnessSelection, GroupFigures
from .texts import SCORES, CitationSubject, Relabel, RelabelledRows, answer_of

# Faithfulness by system and condition as a table, for the page and for files


@dataclass(frozen=True, slots=True)
class Measure:
    """Title, unit and recipe of one measure.

    Parameters
    ----------
    unit
        Unit of the mean.
    decimals
        Decimal places on the page; files contain all digits.
    """

    title: Promise
    unit: Promise
    recipe: Promise
    decimals: int = 3


ANSWERS, SEGMENTS, VERDICTS = lazy("answers"), lazy("segments"), lazy("citations")
MEASURES: dict[str, Measure] = {
    "precision": Measure(
        lazy("Precision"),
        ANSWERS,
        lazy(
            "share of relevant arguments (label 2 or 3) among the cited arguments, mean over "
            "answers"
        ),
    ),
    "recall": Measure(
        lazy("Recall"),
        ANSWERS,
        lazy("share of cited arguments among the relevant arguments, mean over answers"),
    ),
    "f1": Measure(
        lazy("F1"), ANSWERS, lazy("harmonic mean of precision and recall, mean over answers")
    ),
    COHERENCE: Measure(
        lazy("Coherence"),
        VERDICTS,
        lazy("share of citations that a judge found coherent, among all citations with a verdict"),
    ),
    "jaccard_text": Measure(
        lazy("Jaccard, text"),
        ANSWERS,
        lazy("words that a text shares with its arguments, divided by all words in either"),
    ),
    "jaccard_segment": Measure(
        lazy("Jaccard, segment"),
        SEGMENTS,
        lazy(
            "words that a segment shares with its closest argument, divided by all words in either"
        ),
    ),
    "levenshtein": Measure(
        lazy("Edit distance"),
        SEGMENTS,
        lazy(
            "number of words to change to turn a segment into its closest argument; lower is "
            "closer"
        ),
        1,
    ),
    "similarity": Measure(
        lazy("Similarity"),
        SEGMENTS,
        lazy("cosine of the sentence embeddings of a segment and its closest argument"),
    ),
}
COHERENCE_OF_TEXTS = Measure(
    lazy("Coherence (AAC)"),
    ANSWERS,
    lazy(
        "share of coherent citations among the judged citations of an answer, mean over "
        "answers, as in the paper"
    ),
)
SKIPPED = {
    "uncited": lazy("segments without a citation"),
    "generated": lazy("segments with the writer's own arguments"),
    "nonexistent": lazy("segments whose cited numbers all match no argument"),
    "unlabelled": lazy("cited arguments without a label"),
    "no_arguments": lazy("answers without arguments"),
    "no_labels": lazy("answers without a labelled argument"),
    "no_relevant": lazy("answers without a relevant argument"),
    "no_citations": lazy("answers without a citation that counts"),
}
MODES = {
    "sound": lazy(
        "Sound: segments are statements and citations as a reader sees them. The words of each "
        "statement are compared with those of the arguments it cites, ignoring case and "
        "punctuation."
    ),
    "paper": lazy(
        "As in the paper: segments run from a capital letter to the next bracket, each segment "
        "is compared with all arguments, and some forms of citation and label are missed. Use "
        "only for comparison with the published figures."
    ),
}
INTERVALS = lazy(
    "In brackets: 95 % intervals over whole questions (t, corrected for skewness, for 10 or "
    "more questions)."
)


def measures_of(mode: str, groups: Sequence[GroupFigures] = ()) -> dict[str, Measure]:
    """Return a mode's measures for which a group has a value; coherence differs between modes."""
    every = MEASURES | ({COHERENCE: COHERENCE_OF_TEXTS} if mode == "paper" else {})
    has = {name for group in groups for name in every if group.measures[name].value is not None}
    return {name: measure for name, measure in every.items() if name in has or not groups}


def skipped_in_words(skipped: dict[str, int]) -> list[tuple[int, str]]:
    """Return the reasons for leaving something out, with counts, most frequent first."""
    most_first = sorted(skipped.items(), key=lambda pair: -pair[1])
    return [(count, str(SKIPPED.get(name, name))) for name, count in most_first]


def text_of_group(group: GroupFigures) -> str:
    name = group.condition_name
    return _("%s, edited by experts") % name if group.is_edited else name


def faithfulness_table(
    study: Study, groups: Sequence[GroupFigures], choice: FaithfulnessSelection, state: str
) -> TableData:
    """Return one row per group with every measure, its interval and its sample size."""
    mode = choice.mode
    columns = [
        Column(_("System"), "name"),
        Column(_("Condition"), text_of_group),
        Column(_("Answers n"), "n_answers"),
        Column(_("Questions n"), "n_questions"),
        Column(_("Segments n"), "n_segments"),
    ]
    for name, measure in measures_of(mode).items():
        columns.append(EstimateColumn(measure.title, f"measures.{name}"))
        columns.append(Column(f"{measure.title}, {measure.unit} n", f"measures.{name}.n_values"))
    columns += [
        Column(_("Left out"), _left_out),
        Column(_("Cited numbers that match no argument"), "out_of_range"),
        Column(_("Malformed citations"), "malformed"),
    ]
    where = _("Study “%(study)s”, state %(state)s.") % {"study": study.name, "state": state}
    return table_of(
        columns,
        groups,
        caption=f"{_('Faithfulness of answers to their arguments.')} {where}",
        note=f"{MODES[mode]} {INTERVALS} {_('Labels:')} {labels_name(study, choice.labels)}.",
        name=f"faithfulness-{mode}",
    )


def _left_out(group: GroupFigures) -> str:
    return "; ".join(f"{text}: {count}" for count, text in skipped_in_words(group.skipped))


# Charts of faithfulness by system and condition, with text alternatives


def chart_spec(groups: Sequence[GroupFigures], name: str, size: str = "wide") -> Spec:
    """Return the Vega-Lite specification of a chart; raises KeyError for an unknown chart."""
    return intervals(
        chart_rows(groups, name),
        y="who",
        series="measure",
        title=of_all(CHARTS[name][1](), len(_known(groups, name))),
        size=size,
    )


def chart_alt(groups: Sequence[GroupFigures], name: str) -> str:
    """Describe the chart in numbers, as its text alternative."""
    known = [row for row in chart_rows(groups, name) if row["value"] is not None]
    parts = [f"{row['who']}, {row['measure']}: {row['value']:.3f}" for row in known]
    return f"{CHARTS[name][1]()}. {'; '.join(parts)}."


def chart_table(groups: Sequence[GroupFigures], name: str) -> TableData:
    """Return the chart in numbers."""
    columns = (
        Column(_("System, condition"), "who"),
        Column(_("Measure"), "measure"),
        EstimateColumn(_("Mean"), dict),
    )
    caption = str(CHART_TITLES[name])
    return table_of(
        columns, chart_rows(groups, name), caption=caption, name=f"faithfulness-{name}"
    )


def chart_rows(groups: Sequence[GroupFigures], name: str) -> list[dict[str, Any]]:
    """Return a chart's measures for each group that has at least one of them."""
    known = _known(groups, name)[:MOST]
    return [
        {"who": who, "measure": str(MEASURES[measure].title), **bounds_of(group.measures[measure])}
        for who, group in zip(distinct(map(_name, known)), known, strict=True)
        for measure in CHARTS[name][0]
    ]


def _known(groups: Sequence[GroupFigures], name: str) -> list[GroupFigures]:
    """Return the groups with at least one of a chart's measures."""
    return [
        group
        for group in groups
        if any(group.measures[measure].value is not None for measure in CHARTS[name][0])
    ]


def _name(group: GroupFigures) -> str:
    where = f" {group.scenario}" if group.scenario else ""
    if not group.is_plain:
        where = f" · {group.condition_name}"
    return f"{group.name}{where}{' ' + _('edited') if group.is_edited else ''}"


CHART_TITLES = {
    "relevance": lazy("Cited and relevant arguments"),
    "coherence": lazy("Coherence of citations"),
}
# Measures shown side by side in a chart, and the title of its axis
CHARTS: dict[str, tuple[tuple[str, ...], Callable[[], str]]] = {
    "relevance": (("precision", "recall"), lambda: _("Mean, 95 % interval")),
    "coherence": ((COHERENCE,), lambda: _("Share, 95 % interval")),
}

SORTED = (*MEASURES, "segments", "out_of_range", "malformed")
ROW_TITLES = {name: measure.title for name, measure in MEASURES.items()} | {
    "segments": lazy("Segments"),
    "out_of_range": lazy("No such argument"),
    "malformed": lazy("Malformed"),
}
PROBLEMS = ("out_of_range", "malformed", "unscored")


@dataclass(frozen=True, slots=True)
class TextSelection:
    """Filter and order of texts; ``sort`` is a column name, with a minus for descending order."""

    mode: str
    is_edited: bool = False
    system: uuid.UUID | None = None
    scenario: int | None = None
    condition: uuid.UUID | None = None
    problem: str = ""
    sort: str = ""
    # Labels for the scores; if empty, the stored scores are used.
    labels: str = ""

    @classmethod
    def from_query(cls, query: QueryDict, mode: str, labels: str = "") -> Self:
        """Read a selection from a URL query; unknown values are ignored."""
        # This import loads the views of the REST framework, which workers do not need.
        from cqa_site.web.rest.queries import id_from

        scenario, sort = query.get("scenario", ""), query.get("sort", "")
        problem = query.get("problem", "")
        return cls(
            mode=mode,
            is_edited=query.get("texts") == "edited",
            system=id_from(query.get("system", "")),
            scenario=int(scenario) if scenario in map(str, Answer.Scenario.values) else None,
            condition=id_from(query.get("condition", "")),
            problem=problem if problem in PROBLEMS else "",
            sort=sort if sort.removeprefix("-") in SORTED else "",
            labels=labels,
        )


def rows_of(study: Study, wanted: TextSelection, run: Run | None) -> QuerySet[FaithfulnessFigures]:
    """Return figures of single texts, with ``coherence`` as the coherent share in the run."""
    rows = FaithfulnessFigures.objects.filter(mode=wanted.mode)
    path = "revision__sheet__answer" if wanted.is_edited else "answer"
    if wanted.is_edited:
        rows = rows.filter(revision__in=newest_revisions(study).order_by().values("pk"))
        rows = rows.select_related("revision__sheet__rater__user")
    else:
        rows = rows.filter(answer__study=study)
    if wanted.system is not None:
        rows = rows.filter(**{f"{path}__system__public_id": wanted.system})
    if wanted.scenario is not None:
        rows = rows.filter(**{f"{path}__scenario": wanted.scenario})
    if wanted.condition is not None:
        rows = rows.filter(**{f"{path}__condition__public_id": wanted.condition})
    rows = _with_problem(rows, wanted.problem).annotate(coherence=_coherence(run, wanted))
    rows = rows.select_related(
        f"{path}__system", f"{path}__condition", f"{path}__question__comparison"
    )
    return rows.order_by(*_order(wanted.sort), f"{path}__question", f"{path}__choice", "pk")


def relabelled_rows(
    study: Study, wanted: TextSelection, run: Run | None
) -> QuerySet[FaithfulnessFigures] | RelabelledRows:
    """Return figures of single texts, with scores computed from the selected labels."""
    if not wanted.labels:
        return rows_of(study, wanted, run)
    only_unscored = wanted.problem == "unscored"
    by_score = wanted.sort.removeprefix("-") in SCORES
    everything = replace(
        wanted,
        problem="" if only_unscored else wanted.problem,
        sort="" if by_score else wanted.sort,
    )
    return RelabelledRows(
        rows_of(study, everything, run),
        Relabel(study, wanted.mode, wanted.labels),
        path="revision__sheet__answer" if wanted.is_edited else "answer",
        sort=wanted.sort,
        only_unscored=only_unscored,
    )


def _with_problem(rows: QuerySet, problem: str) -> QuerySet:
    if problem == "unscored":
        return rows.filter(f1__isnull=True)
    return rows.filter(**{f"{problem}__gt": 0}) if problem else rows


def _order(sort: str) -> list[Any]:
    if not sort:
        return []
    column = F(sort.removeprefix("-"))
    is_down = sort.startswith("-")
    return [column.desc(nulls_last=True) if is_down else column.asc(nulls_last=True)]


def _coherence(run: Run | None, wanted: TextSelection) -> Subquery:
    verdicts = CoherenceVerdict.objects.filter(run=run, is_coherent__isnull=False)
    if wanted.is_edited:
        same = verdicts.filter(revision=OuterRef("revision"))
    else:
        same = verdicts.filter(answer=OuterRef("answer"), revision__isnull=True)
    avg = Avg(Cast("is_coherent", IntegerField()))
    return Subquery(same.order_by().values("run").annotate(share=avg).values("share"))


def rows_table(rows: QuerySet[FaithfulnessFigures] | RelabelledRows, mode: str) -> TableData:
    """Return every text with its figures, for a file."""
    read = ((row, answer_of(row)) for row in rows.iterator(500))
    return table_of(ROW_COLUMNS, read, name=f"faithfulness-texts-{mode}")


def _left_out_of_text(row: tuple[FaithfulnessFigures, Answer]) -> str:
    return "; ".join(f"{name} {count}" for name, count in row[0].values["skipped"].items())


ROW_COLUMNS = (
    TextColumn(lazy("Answer"), "1.public_id"),
    TextColumn(lazy("Revision"), "0.revision.public_id"),
    Column(lazy("System"), "1.system.name"),
    TextColumn(lazy("Scenario"), "1.scenario"),
    Column(lazy("Condition"), "1.condition.name"),
    TextColumn(lazy("Choice"), "1.choice"),
    Column(lazy("Object 1"), "1.question.comparison.object1"),
    Column(lazy("Object 2"), "1.question.comparison.object2"),
    Column(lazy("Aspect"), "1.question.aspect"),
    Column(lazy("Segments"), "0.segments"),
    *(Column(measure.title, f"0.{name}") for name, measure in MEASURES.items()),
    Column(lazy("Cited"), lambda row: " ".join(map(str, row[0].values["cited"]))),
    Column(
        lazy("Cited numbers that match no argument"),
        lambda row: " ".join(map(str, row[0].values["out_of_range"])),
    ),
    Column(lazy("Malformed citations"), lambda row: " ".join(row[0].values["malformed"])),
    Column(lazy("Left out"), _left_out_of_text),
    Column(lazy("Embedding model"), "0.embedding"),
)


def _citations(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    cited = {call.pk: CitationSubject(*call.subject_ids) for call in calls}
    answers = study.answers.select_related("question__comparison")
    cited_answers = answers.in_bulk({subject.answer for subject in cited.values()})
    revisions = Revision.objects.in_bulk({subject.revision for subject in cited.values()})
    verdicts = CoherenceVerdict.objects.filter(call__in=[call.pk for call in calls])
    judgements = {verdict.call_id: verdict for verdict in verdicts}
    return {
        pk: [
            _citation(
                cited_answers.get(subject.answer),
                revisions.get(subject.revision),
                subject,
                judgements.get(pk),
            )
        ]
        for pk, subject in cited.items()
    }


def _citation(
    answer: Answer | None,
    revision: Revision | None,
    cited: CitationSubject,
    verdict: CoherenceVerdict | None,
) -> RequestItem | None:
    if answer is None or (cited.revision and revision is None):
        return None
    text = (revision or answer).text[cited.start : cited.end]
    context = f"[{cited.number}] · {answer.question}"
    if verdict is None:
        return RequestItem(text, context)
    words = {True: _("coherent"), False: _("not coherent"), None: ""}
    return RequestItem(
        text, context, words[verdict.is_coherent], verdict.rationale, verdict.reason
    )


COHERENCE_CALLS = CallSubjects(
    Titles(lazy("Segment"), lazy("Verdict"), lazy("The judge's reason")), _citations
)

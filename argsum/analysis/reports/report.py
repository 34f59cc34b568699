"""The report of an analysis: key points, quotations, settings and caveats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import Count, QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.methods.statements import different
from argsum.analysis.methods.themes import cut
from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from argsum.datasets.models import CellArgument, Comment
from .analyses import coder_in_words, encoder_of, foreign_language, writer_in_words, writers_of
from .counts import POINTS, CommentCounts, kept
from .extensions import CorrectedShare, PrintedSummary, corrections_of, summary_of
from .groups import GroupComparison, bounds, chosen_column, compared, percents, quoted
from .history import sign_off_in_words, sign_off_of
from .mentions import theme_counts
from .points import best_statements, overview_of
from .themes import MOST_RARE, said_by_few
from .trends import PointTrends, over_time
from .voices import COMMENTS, VOICES, both_in_words, sure_of

if TYPE_CHECKING:
    from argsum.analysis.methods.prevalence import Share


# Maximum number of key points with quotations (files have all), and statements to quote from.
MOST_POINTS, CANDIDATES = 50, 24
QUOTATIONS, USUAL = (0, 1, 2, 3, 4, 5, 10), 3
OF_THE_REST = 3
LONGEST_QUOTATION = 500
MOST_SOURCES = 10


@dataclass(frozen=True)
class ReportRequest:
    """Contents of a report: number of quotations per key point, and comparisons.

    ``attribute`` is a column of the comments, ``period`` is a length of time, ``unit`` is
    comments or voices, and ``view`` is key points or themes.
    """

    quotations: int = USUAL
    attribute: str = ""
    period: str = ""
    unit: str = COMMENTS
    view: str = POINTS


@dataclass(frozen=True)
class ReportedPoint:
    """A key point with its share of all comments and its quotations.

    ``sure`` is the share of comments with a sure statement. ``share`` also includes comments that
    may make the point. ``corrected`` is the share corrected by an audit. ``writer`` is the
    language model that wrote the key point, with its prompt, or empty.
    """

    number: int
    point: FoundPoint
    share: Share
    sure: Share
    quotations: Sequence[str]
    writer: str
    unit: str = COMMENTS
    corrected: CorrectedShare | None = None


@dataclass(frozen=True)
class ReportedTheme:
    """A theme with its share of all comments; see `ReportedPoint`. The name may be empty."""

    name: str
    share: Share
    sure: Share
    mentions: str


@dataclass(frozen=True)
class Edits:
    """Counts of one person's edits, by kind."""

    person: str
    verbs: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class Report:
    """The whole report.

    Attributes
    ----------
    facts
        Names and values: the sources of the comments, and how the key points were found.
    points, beyond
        The most frequent key points, and the number of other key points.
    few
        The most distinctive key points that few people make. They are not in ``points``.
    themes
        All themes, most comments first; empty if no key point has a theme.
    rest, of_the_rest
        The share of statements that fit no key point, and some of these statements.
    groups, time
        The comparison and the trend, if requested.
    summary
        A language model's summary in prose, if there is one.
    """

    analysis: Analysis
    asked: ReportRequest
    says: str
    facts: Sequence[tuple[str, str]]
    points: Sequence[ReportedPoint]
    few: Sequence[ReportedPoint]
    themes: Sequence[ReportedTheme]
    beyond: int
    rest: Share
    of_the_rest: Sequence[str]
    groups: GroupComparison | None
    time: PointTrends | None
    edits: Sequence[Edits]
    undone: int
    caveats: Sequence[str]
    summary: PrintedSummary | None


def report_of(analysis: Analysis, counts: CommentCounts | None, request: ReportRequest) -> Report:
    """Build the report, using about twenty queries for any number of comments.

    ``counts`` may be None if there is no comparison.
    """
    from argsum.analysis.methods.prevalence import Share

    ranking = analysis.points.filter(state=FoundPoint.State.SHOWN).order_by(
        f"-{request.unit}", "position"
    )
    every = list(ranking.select_related("writer__prompt"))
    rare = said_by_few(analysis, every, request.unit)
    frequent = [point for point in every if point not in set(rare)][:MOST_POINTS]
    points = [*frequent, *rare[:MOST_RARE]]
    writers = writers_of(ranking)
    overview = overview_of(analysis)
    shown, covered = overview.shown, overview.covered
    quotations = quotations_of(points, request.quotations)
    rest = analysis.placements.filter(point__isnull=True)
    column = chosen_column(counts, request.attribute) if counts and request.attribute else None
    edits, undone = _edits(analysis)
    coder = coder_in_words(analysis)
    total = max(int(getattr(row, request.unit)) for row in (analysis, *every[:1]))
    # Audits are about comments.
    corrected = corrections_of(analysis) if request.unit == COMMENTS else {}

    def entry(at: int, point: FoundPoint) -> ReportedPoint:
        return ReportedPoint(
            at,
            point,
            Share(getattr(point, request.unit), total),
            Share(sure_of(analysis, point, request.unit), total),
            quotations.get(point.pk, []),
            writer_in_words(point),
            request.unit,
            corrected.get(point.pk),
        )

    reported = list(map(entry, range(1, len(points) + 1), points))
    nowhere = Share(overview.rest, analysis.statements)
    return Report(
        analysis=analysis,
        asked=request,
        says=_says(
            entry(1, every[0]) if every else None, shown, Share(covered, analysis.statements)
        ),
        facts=_facts(analysis, covered, writers, coder),
        points=reported[: len(frequent)],
        few=reported[len(frequent) :],
        themes=_themes(analysis, request.unit, total) if any(p.theme for p in every) else (),
        beyond=shown - len(points),
        rest=nowhere,
        of_the_rest=_some(rest, OF_THE_REST),
        groups=compared(analysis, column, counts) if counts and column else None,
        time=over_time(analysis, counts, request.period) if counts and request.period else None,
        edits=edits,
        undone=undone,
        caveats=caveats(
            analysis,
            is_edited=bool(edits),
            is_written=bool(writers_of(ranking.exclude(origin=FoundPoint.Origin.MODEL))),
            is_proposed=ranking.filter(origin=FoundPoint.Origin.MODEL).exists(),
            is_audited=bool(corrected),
            is_coded=bool(coder),
        ),
        summary=summary_of(analysis),
    )


def _themes(analysis: Analysis, unit: str, total: int) -> list[ReportedTheme]:
    """Return all themes, most comments first, and key points without a theme last."""
    from argsum.analysis.methods.prevalence import Share

    themes = [
        ReportedTheme(
            name,
            Share(int(getattr(counts, unit)), total),
            Share(sure_of(analysis, counts, unit), total),
            both_in_words(analysis, counts, unit),
        )
        for name, counts in theme_counts(analysis).items()
    ]
    return sorted(themes, key=lambda theme: (not theme.name, -theme.share.k, theme.name))


def quotations_of(points: Sequence[FoundPoint], most: int) -> dict[int, list[str]]:
    """Map each key point to its best distinct quotations, using two queries.

    Statements that a person placed come first, then sure ones.
    """
    if not most:
        return {}
    candidates = best_statements([point.pk for point in points], CANDIDATES)
    wanted = [key for own in candidates.values() for key in own]
    texts = dict(CellArgument.objects.filter(pk__in=wanted).values_list("pk", "text"))
    return {pk: _distinct([texts[key] for key in own], most) for pk, own in candidates.items()}


_NOT_AUDITED = lazy(
    "Counts of comments have no interval, because people have not checked enough comments to "
    "measure how many statements are under the wrong key point."
)
_AUDITED = lazy(
    "Counts come from the program and have no interval. Audited shares are "
    "corrected with the answers of people who read a random sample of comments; "
    "their 95 % intervals allow for wrong placements."
)


def caveats(
    analysis: Analysis,
    *,
    is_edited: bool,
    is_written: bool,
    is_audited: bool,
    is_proposed: bool,
    is_coded: bool,
) -> list[str]:
    """Return the limitations that readers must know before using the figures."""
    language = foreign_language(analysis)
    notes = {
        _(
            "Automatic analysis: a program found the key points and decided which "
            "statements belong to each. Shares depend on both. Read the quotations, and "
            "check anything on which you base a decision."
        ): True,
        str(_AUDITED if is_audited else _NOT_AUDITED): True,
        _(
            "Intervals for groups and for differences show only the uncertainty due to chance, if "
            "the comments are a random sample. They do not account for wrong placements, or for "
            "people who did not comment."
        ): True,
        _("A comment can mention several key points, so shares do not add up to 100 %."): True,
        _(
            "Written by a language model: it read some statements under each key point it "
            "worded, and may have left out or added something. Each text was checked against "
            "the statements by match scores only."
        ): is_written,
        _(
            "Proposed by a language model: it read random samples of the statements, so key "
            "points that few people make may be missing."
        ): is_proposed,
        _(
            "Assigned by a language model: it decided which statements belong to the "
            "signed-off key points. “Perhaps” marks those that match scores do not confirm; "
            "the others can also be wrong."
        ): is_coded,
        _(
            "Language: the comments seem to be in %s. The match scorer was trained on English "
            "texts and makes more mistakes in other languages."
        )
        % language: bool(language),
        _("These key points have not been edited by hand."): not is_edited,
    }
    return [note for note, applies in notes.items() if applies]


def _says(first: ReportedPoint | None, number: int, covered: Share) -> str:
    if first is None:
        return _("No key points to show.")
    says = ngettext(
        "%(n)s key point represents %(covered)s of %(total)s different statements. The program "
        "finds the most frequent one in %(share)s of the %(unit)s: %(text)s",
        "%(n)s key points represent %(covered)s of %(total)s different statements. The program "
        "finds the most frequent one in %(share)s of the %(unit)s: %(text)s",
        number,
    )
    return says % {
        "n": f"{number:,}",
        "covered": f"{covered.k:,}",
        "total": f"{covered.n:,}",
        "share": _shares_in_words(first),
        "unit": _("distinct voices") if first.unit == VOICES else _("comments"),
        "text": quoted(first.point.text),
    }


def _facts(
    analysis: Analysis, covered: int, writers: Mapping[str, int], coder: str
) -> list[tuple[str, str]]:
    """Return the sources of the comments and the method of the analysis, as text."""
    sources, out = kept("sources", analysis, partial(_sources, analysis))
    files = [f"{name} ({n:,})" for name, n in sources[:MOST_SOURCES] if name]
    reasons = dict(CellArgument.LeftOut.choices)
    first, last = analysis.facets.get("first"), analysis.facets.get("last")
    scorer, quality = analysis.match_scorer, analysis.quality_scorer
    encoder = encoder_of(analysis)
    facts = [
        (_("Topic"), analysis.cell.topic),
        (_("Dataset"), analysis.cell.dataset.name),
        (_("Comments"), f"{analysis.comments:,}"),
        (_("Distinct voices"), _voices(analysis)),
        (_("Source files"), ", ".join(files) + (" …" if len(sources) > MOST_SOURCES else "")),
        (_("Comment dates"), f"{first} – {last}" if first and last else ""),
        (_("Different statements"), f"{analysis.statements:,}"),
        (_("Left out"), "; ".join(f"{reasons[name]}: {n:,}" for name, n in out)),
        (_("Placed under a key point"), f"{covered:,}"),
        (_("Match scorer"), _scorer(scorer)),
        (_("Encoder"), f"{encoder.title}. {encoder.why}" if encoder.title else ""),
        (_("Quality scorer"), _scorer(quality) if quality else ""),
        (_("Grouping cut-off"), f"{analysis.cutoff:g}" if analysis.cutoff is not None else ""),
        (_("Sign-off"), sign_off_in_words(sign_off_of(analysis))),
        (_("Statements assigned by"), coder),
        (_("Worded by"), "; ".join(f"{words}: {n:,}" for words, n in writers.items())),
        (_("Completed"), date_format(analysis.done_at, "Y-m-d H:i") if analysis.done_at else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _voices(analysis: Analysis) -> str:
    """Return the number of voices as text; empty if every comment is a voice."""
    if analysis.voices == analysis.comments:
        return ""
    text = _("%s: near-duplicate comments, such as copies of a form letter, count as one")
    return text % f"{analysis.voices:,}"


def _sources(analysis: Analysis) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Count comments by file and excluded statements by reason, in two passes over the cell."""
    comments = Comment.objects.filter(cell=analysis.cell_id).order_by().values_list("source")
    counted = comments.annotate(n=Count("pk")).order_by("-n", "source")
    left = analysis.cell.arguments.exclude(left_out="").order_by().values_list("left_out")
    return list(counted[: MOST_SOURCES + 1]), sorted(left.annotate(n=Count("pk")))


def _scorer(scorer: Any) -> str:
    return f"{scorer.name} ({scorer.base_model})" if scorer.base_model else str(scorer.name)


def _some(rows: QuerySet[Placement], most: int) -> list[str]:
    """Return distinct statements, best match scores first."""
    rows = rows.order_by("-score", "argument")
    return _distinct(list(rows.values_list("argument__text", flat=True)[:CANDIDATES]), most)


def _distinct(texts: Sequence[str], most: int) -> list[str]:
    return [cut(texts[at], LONGEST_QUOTATION) for at in different(texts, most)]


_NOT_BY_HAND = ("undone", "placed", "written", "proposed", "coded")


def _edits(analysis: Analysis) -> tuple[list[Edits], int]:
    """Count edits by person and kind, and undone edits separately."""
    rows = analysis.changes.exclude(actor=None).order_by()
    undone = rows.filter(verb=PointChange.Verb.UNDONE).count()
    changes = rows.filter(undone_by=None).exclude(verb__in=_NOT_BY_HAND)
    grouped = changes.values_list("actor__name", "actor__email", "verb").annotate(n=Count("pk"))
    people: dict[str, list[tuple[str, int]]] = {}
    words = dict(PointChange.Verb.choices)
    for name, email, verb, n in sorted(grouped):
        people.setdefault(name or email, []).append((str(words[verb]), n))
    return [Edits(person, verbs) for person, verbs in people.items()], undone


def share_in_words(point: ReportedPoint) -> str:
    """Return the number and share of comments that mention a key point."""
    words = both_in_words(point.point.analysis, point.point, point.unit)
    return f"{words} ({_shares_in_words(point)})"


def theme_note(theme: ReportedTheme) -> str:
    """Return the note below a theme: the number and share of comments that mention it."""
    return f"{theme.mentions} ({_shares_in_words(theme)})"


def _shares_in_words(point: ReportedPoint | ReportedTheme) -> str:
    """Return the sure share of comments, and the share including uncertain ones if it differs."""
    sure, share = percents(point.sure), percents(point.share)
    if point.share.k and not point.sure.k:
        return _("perhaps %s") % share
    return share if sure == share else _("%(sure)s to %(all)s") % {"sure": sure, "all": share}


def note_of(point: ReportedPoint) -> str:
    """Return the note below a key point, with its shares and the language model that wrote it."""
    notes = [share_in_words(point)]
    if point.corrected:
        pairs = ngettext("%s pair", "%s pairs", point.corrected.pairs) % point.corrected.pairs
        share = point.corrected.share
        notes.append(
            _("audited: %(share)s %(bounds)s, %(pairs)s")
            % {"share": percents(share), "bounds": bounds(share), "pairs": pairs}
        )
    if point.writer:
        notes.append(_("written by a language model (%s)") % point.writer)
    return " · ".join(notes)

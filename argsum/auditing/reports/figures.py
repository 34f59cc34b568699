"""Compute results of audits: precision, recall, agreement between people, and corrected shares."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.utils.translation import gettext as _, ngettext

from argsum.analysis.methods.audit import (
    BANDS,
    BEHIND,
    ELSEWHERE,
    PERHAPS,
    SMALLER,
    AnsweredStratum,
    AuditedShare,
    Stratum,
    audited_precision,
    audited_recall,
    corrected_share,
)
from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports.extensions import CorrectedShare
from argsum.auditing.models import DRAWN, AuditPair, AuditRound, AuditSheet
from cqa_site.results.figures import Column, EstimateColumn, TextColumn, table_of
from cqa_site.rounds.models import COUNTED
from cqa_site.stats.estimate import Bounded, Estimate
from cqa_site.web.tables import TableData, one_line
from .frame import PairKey, bands_of, state_of

Answer = AuditSheet.Answer


class AnsweredPair(NamedTuple):
    """A pair with its answers, by rater."""

    key: PairKey
    band: str
    state: str
    answers: dict[int, str]

    @property
    def hit(self) -> float:
        """1 if the comment makes the point, 0 if not, or in between if people disagree."""
        return list(self.answers.values()).count(Answer.MAKES) / len(self.answers)


@dataclass(frozen=True)
class AuditedPoint:
    """One key point, with the machine's count and the corrected count.

    Attributes
    ----------
    machine, perhaps, comments
        Counts of comments at the last draw: assigned to the key point, possibly assigned to it,
        and all.
    precision
        Precision for the comments assigned to the key point.
    count, share
        Shares that make the point, among the comments and in the population they represent.
    """

    point: FoundPoint
    machine: int
    perhaps: int
    comments: int
    precision: AuditedShare
    count: AuditedShare
    share: AuditedShare

    @property
    def answers(self) -> int:
        """Number of answered pairs with the key point."""
        return self.count.answers

    @property
    def machine_share(self) -> float:
        """Share of the comments that the machine assigned to the key point."""
        return self.machine / self.comments

    @property
    def numbers(self) -> tuple[int, int, int] | None:
        """Return the corrected number of comments with its bounds, or None."""
        if self.count.value is None or self.count.low is None or self.count.high is None:
            return None
        shares = (self.count.value, self.count.low, self.count.high)
        number, low, high = (round(share * self.comments) for share in shares)
        return number, low, high


@dataclass(frozen=True)
class AuditFigures:
    """All audit figures for an analysis.

    ``stale`` counts answered pairs whose key point has a new text or is no longer shown. No figure
    uses them. ``moved`` counts pairs that edits have since moved to another band. Precision refers
    to the placements at the time of the draw. ``later`` counts newer comments, and ``unlisted``
    counts key points without separate strata.
    """

    pairs: int
    answered: int
    answers: int
    people: int
    stale: int
    moved: int
    later: int
    unlisted: int
    precision: AuditedShare
    perhaps: AuditedShare
    recall: AuditedShare
    partly: int
    opposite: int
    kappa: Estimate | None
    doubled: int
    points: Sequence[AuditedPoint]

    @property
    def notes(self) -> list[str]:
        """Limits of the figures, in sentences."""
        stale = ngettext(
            "%d answer is about a key point that has since been renamed, merged or hidden, and "
            "is not used.",
            "%d answers are about key points that have since been renamed, merged or hidden, "
            "and are not used.",
            self.stale,
        )
        moved = ngettext(
            "%d answered pair has since been moved by an edit. Precision refers to the placements "
            "at the time of the draw; corrected shares are still valid.",
            "%d answered pairs have since been moved by edits. Precision refers to the placements "
            "at the time of the draw; corrected shares are still valid.",
            self.moved,
        )
        later = ngettext(
            "%d comment has since been added and is not in these figures.",
            "%d comments have since been added and are not in these figures.",
            self.later,
        )
        unlisted = ngettext(
            "%d smaller key point is not listed, because too few of its pairs were drawn. "
            "About one key point is listed for every 10 pairs in a sample.",
            "%d smaller key points are not listed, because too few of their pairs were drawn. "
            "About one key point is listed for every 10 pairs in a sample.",
            self.unlisted,
        )
        texts = (stale, moved, later, unlisted)
        numbers = (self.stale, self.moved, self.later, self.unlisted)
        return [text % n for text, n in zip(texts, numbers, strict=True) if n]


def audit_of(analysis: Analysis) -> AuditFigures | None:
    """Return the figures for an analysis; None before its first round is opened."""
    rounds = list(
        AuditRound.objects.filter(analysis=analysis).exclude(state=AuditRound.State.DRAFT)
    )
    return AuditReading(analysis, rounds).figures() if rounds else None


def corrections(analysis: Analysis) -> dict[int, CorrectedShare]:
    """Map key points to corrected shares of all comments of an analysis, based on audits."""
    figures = audit_of(analysis)
    return {
        audited.point.pk: CorrectedShare(
            Bounded(value=audited.share.value, low=audited.share.low, high=audited.share.high),
            audited.answers,
        )
        for audited in (figures.points if figures else ())
        if audited.share.low is not None and audited.comments == analysis.comments
    }


class AuditReading:
    """The answers of some rounds, by the state of the analysis from which they were drawn."""

    def __init__(self, analysis: Analysis, rounds: Sequence[AuditRound]) -> None:
        self.analysis, self.rounds = analysis, rounds
        # Rounds drawn from the same state differ only in ``own``, so their samples are combined.
        self.frames: dict[str, dict[str, Any]] = {}
        self.own: dict[str, set[int]] = defaultdict(set)
        for round_ in sorted(rounds, key=lambda row: row.pk):
            frame = round_.frame
            self.frames[frame["state"]] = frame
            self.own[frame["state"]] |= set(frame["own"])
        shown = FoundPoint.objects.filter(analysis=analysis, state=FoundPoint.State.SHOWN)
        self.points = shown.in_bulk()
        self.states = {round_.pk: round_.frame["state"] for round_ in rounds}
        self.sheets = AuditSheet.objects.filter(
            COUNTED, round__in=[round_.pk for round_ in rounds], replicate=0
        )

    @cached_property
    def every(self) -> list[tuple[AnsweredPair, str]]:
        """All answered pairs, each with its key point's text at the time of the draw."""
        names = ("round", "pair__point", "pair__band", "pair__text")
        units = ("pair__comment", "pair__argument")
        rows: dict[int, tuple[Any, dict[int, str]]] = {}
        values = self.sheets.order_by("pk").values_list("pair", "rater", "answer", *names, *units)
        for pair, rater, answer, *about in values:
            rows.setdefault(pair, (about, {}))[1][rater] = answer
        return [
            (
                AnsweredPair(
                    (point, comment or argument or 0), band, self.states[round_], answers
                ),
                text,
            )
            for (round_, point, band, text, comment, argument), answers in rows.values()
        ]

    @cached_property
    def pairs(self) -> list[AnsweredPair]:
        """Answered pairs whose key point is still shown with the same text."""
        return [
            pair
            for pair, text in self.every
            if pair.key[0] in self.points and self.points[pair.key[0]].text == text
        ]

    def strata(
        self, bands: Collection[str], point: int | None = None, comments: int | None = None
    ) -> list[list[Any]]:
        """Return the answered strata of each frame: those of all groups, or of one key point.

        With ``comments``, only frames with that number of comments are included.
        """
        return [
            [
                AnsweredStratum(pairs, len(hits), sum(hits))
                for stratum, pairs in self._sizes(state, point).items()
                if stratum.band in bands and pairs
                for hits in [self.hits.get((state, stratum), [])]
            ]
            for state, frame in self.frames.items()
            if point is None or self._is_own(state, point)
            if comments in (None, frame["comments"])
        ]

    def _is_same(self, state: str, point: int) -> bool:
        """Return whether a key point is shown with the same text as in a frame."""
        drawn = self.frames[state]["points"].get(str(point))
        return point in self.points and bool(drawn) and drawn[2] == self.points[point].text

    def _is_own(self, state: str, point: int) -> bool:
        return point in self.own[state] and self._is_same(state, point)

    def _sizes(self, state: str, only: int | None) -> dict[Stratum, int]:
        frame = self.frames[state]
        sizes: dict[Stratum, int] = defaultdict(int)
        for key, (behind, perhaps, _text) in frame["points"].items():
            point = int(key)
            if not self._is_same(state, point) or only not in (None, point):
                continue
            group = point if point in self.own[state] else SMALLER
            sizes[Stratum(group, BEHIND)] += behind
            sizes[Stratum(group, PERHAPS)] += perhaps
            sizes[Stratum(group, ELSEWHERE)] += frame["comments"] - behind - perhaps
        return sizes

    @cached_property
    def hits(self) -> dict[tuple[str, Stratum], list[float]]:
        """Answers in each stratum of each frame, as one number per pair."""
        hits: dict[tuple[str, Stratum], list[float]] = defaultdict(list)
        for pair in self.pairs:
            point = pair.key[0]
            group = point if point in self.own[pair.state] else SMALLER
            hits[pair.state, Stratum(group, pair.band)].append(pair.hit)
        return dict(hits)

    def figures(self) -> AuditFigures:
        """Compute all figures."""
        behind, others = self.strata([BEHIND]), self.strata([PERHAPS, ELSEWHERE])
        first = [pair for pair in self.pairs if pair.band == BEHIND]
        rounds = [round_.pk for round_ in self.rounds]
        drawn = AuditPair.objects.filter(DRAWN, round__in=rounds)
        points = [self._point(point) for point in self._audited()]
        sizes = [row.comments for row in points] or [
            frame["comments"] for frame in self.frames.values()
        ]
        same = [key for key in self.points if any(self._is_same(at, key) for at in self.frames)]
        doubled = sum(len(pair.answers) > 1 for pair in self.pairs)
        return AuditFigures(
            pairs=drawn.count(),
            answered=len(self.every),
            answers=sum(len(pair.answers) for pair, _text in self.every),
            people=self.sheets.values("rater").distinct().count(),
            stale=len(self.every) - len(self.pairs),
            moved=self._moved(),
            later=max(self.analysis.comments - max(sizes), 0),
            unlisted=len(same) - len(points),
            precision=audited_precision(behind),
            perhaps=audited_precision(self.strata([PERHAPS])),
            recall=audited_recall(behind, others),
            partly=_saying(first, Answer.PARTLY),
            opposite=_saying(first, Answer.OPPOSITE),
            kappa=self._kappa() if doubled else None,
            doubled=doubled,
            points=points,
        )

    def _audited(self) -> list[FoundPoint]:
        points = [
            point
            for key, point in self.points.items()
            if any(self._is_own(state, key) for state in self.frames)
        ]
        return sorted(points, key=lambda point: (-point.comments, point.position))

    def _point(self, point: FoundPoint) -> AuditedPoint:
        own = [frame for state, frame in self.frames.items() if self._is_own(state, point.pk)]
        # Results for fewer comments do not apply to more, so use the last number with an interval.
        counts = {
            frame["comments"]: corrected_share(self.strata(BANDS, point.pk, frame["comments"]))
            for frame in own
        }
        last = [comments for comments, count in counts.items() if count.low is not None]
        comments = [*counts, *last][-1]
        machine, perhaps, _text = next(
            frame["points"][str(point.pk)]
            for frame in reversed(own)
            if frame["comments"] == comments
        )
        samples = self.strata(BANDS, point.pk, comments)
        return AuditedPoint(
            point,
            machine=machine,
            perhaps=perhaps,
            comments=comments,
            precision=audited_precision(self.strata([BEHIND], point.pk)),
            count=counts[comments],
            share=corrected_share(samples, comments=comments),
        )

    def _moved(self) -> int:
        """Count answered pairs whose comment is now in another band."""
        asked = {pair.key: pair.band for pair in self.pairs}
        if not asked or list(self.frames) == [state_of(self.analysis)]:
            return 0
        now = bands_of(self.analysis, asked)
        return sum(now[key] != band for key, band in asked.items())

    def _kappa(self) -> Estimate:
        """Return the agreement between people on pairs with two answers."""
        import pandas as pd

        from cqa_site.stats.agreement_coefficients import fleiss_kappa
        from cqa_site.stats.ratings import Ratings

        codes = {answer: float(at) for at, answer in enumerate(Answer.values)}
        rows = [
            (at, rater, codes[answer])
            for at, pair in enumerate(self.pairs)
            if len(pair.answers) > 1
            for rater, answer in pair.answers.items()
        ]
        frame = pd.DataFrame(rows, columns=["item", "rater", "value"])
        return fleiss_kappa(Ratings.from_frame(frame), drop_unequal=True)


def _saying(pairs: Iterable[AnsweredPair], answer: str) -> int:
    """Count pairs with the given answer for which nobody says that the comment makes the point."""
    return sum(answer in pair.answers.values() and not pair.hit for pair in pairs)


def answers_of(analysis: Analysis, point: int) -> Mapping[str, AnsweredStratum]:
    """Return the answers about a key point in the current state of an analysis, by band."""
    state = state_of(analysis)
    rounds = [
        round_
        for round_ in AuditRound.objects.filter(analysis=analysis)
        if round_.frame["state"] == state
    ]
    if not rounds:
        return {}
    reading = AuditReading(analysis, rounds)
    return {
        band: stratum
        for band in BANDS
        for sample in reading.strata([band], point)
        for stratum in sample
    }


def points_table(analysis: Analysis, figures: AuditFigures) -> TableData:
    """Return a row for each key point with separate strata."""
    columns = (
        Column(_("Key point"), "point.text"),
        Column(_("Comments placed"), "machine"),
        Column(_("Placed as “perhaps”"), "perhaps"),
        Column(_("Comments"), "comments"),
        Column(_("Answers"), "answers"),
        Column(_("Answers about placed comments"), "precision.answers"),
        EstimateColumn(_("Precision"), "precision"),
        EstimateColumn(_("Corrected comments"), lambda row: _times(row.count, row.comments)),
        EstimateColumn(_("Corrected share, %"), lambda row: _times(row.share, 100)),
        TextColumn(
            _("Reason for missing interval"), lambda row: row.count.reason or row.precision.reason
        ),
    )
    return table_of(
        columns,
        figures.points,
        caption=_("Corrected shares: %s") % analysis.name,
        note=one_line(recipe_of()),
        name=f"audit-{analysis.number}",
    )


def _times(share: AuditedShare, factor: float) -> Bounded:
    ends = (share.value, share.low, share.high)
    value, low, high = (None if end is None else round(end * factor, 6) for end in ends)
    return Bounded(value=value, low=low, high=high, reason=share.reason)


def recipe_of() -> str:
    """Return named paragraphs on how the figures were computed."""
    parts = [
        _(
            "Precision: share of the comments placed under a key point that make it, according to "
            "people's answers. “Partly” and “says the opposite” do not count as making it. Where "
            "two people disagree, the pair counts as half."
        ),
        _(
            "Corrected comments: each band of a key point (placed under it, perhaps, elsewhere) "
            "contributes its number of comments times its share of “makes this point” "
            "answers. The 95 % interval combines the exact intervals of the bands "
            "(Zou and Donner), widened to whole comments, or is the interval of the "
            "answers alone if that one is narrower. It needs 10 answers, 2 in each band, "
            "and assumes that every answer is right."
        ),
        _(
            "Corrected share: the same figure as a percentage of all comments. Its "
            "interval also allows for the fact that these comments are a sample."
        ),
    ]
    return "\n\n".join(parts)

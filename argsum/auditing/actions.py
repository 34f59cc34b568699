"""Audit rounds: the kind of work, its guideline, and the sample of pairs."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, F, Max, Q
from django.forms import ChoiceField, Field
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.actions.jobs import new_comments
from argsum.analysis.methods.audit import (
    BANDS,
    ELSEWHERE,
    LEAST_ANSWERS,
    SMALLER,
    Stratum,
    allocate,
    answers_needed,
    draw_elsewhere,
    own_groups,
)
from argsum.analysis.models import Analysis
from argsum.auditing.blindness import exclude_editors
from argsum.auditing.models import (
    DRAWN,
    AuditItem,
    AuditPair,
    AuditRound,
    AuditSheet,
    AuditSlot,
    AuditSubmission,
    ConflictingAudit,
)
from argsum.auditing.reports.figures import answers_of
from argsum.auditing.reports.frame import (
    AuditFrame,
    FrameSizes,
    PairKey,
    asked_before,
    frame_of,
    sizes_of,
    state_of,
)
from argsum.datasets.models import CommentStatement
from cqa_site.people.models import Rater, Study, User
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, SheetNotValid, Words
from cqa_site.rounds.lifecycle import OneByOne, locked_round
from cqa_site.rounds.models import COUNTED
from cqa_site.rounds.queue import CHUNK

Answer = AuditSheet.Answer


@dataclass(frozen=True)
class AuditContent:
    """Content of a form: the answer, and an optional note."""

    answer: str = ""
    comment: str = ""


class AuditRoundKind(OneByOne):
    """Round kind that shows one pair at a time, without the machine's placement."""

    name = "audit"
    audit = Audit(round="audit_round", person="auditor")
    words = Words(
        rounds=lazy("Placement audits"),
        about=lazy(
            "People read a comment and a key point and say whether the comment makes the point, "
            "without knowing where the machine placed it."
        ),
        things=lazy("Pairs"),
        results="",
        work=lazy("Answers"),
        new=lazy("New audit"),
    )
    section = "key_points"
    submits_at_once = True
    terms = ("placement audit", "corrected share")
    work_page = "point_check"
    sheet_page = "point_check_form"
    takes_crowd = True
    subject = "pair"
    needed = ("pair__argument", "pair__comment")
    item_needed = ("pair__argument", "pair__comment", "pair__point")
    Round = AuditRound
    Item = AuditItem
    Slot = AuditSlot
    Sheet = AuditSheet
    Event = AuditSubmission
    Conflict = ConflictingAudit
    Content = AuditContent
    settled = ("answer", "comment")
    value = ("answer",)
    figures = {answer: Count("pk", filter=COUNTED & Q(answer=answer)) for answer in Answer.values}

    def begin(self, round_: AuditRound, item: AuditItem, rater: Rater) -> dict[str, Any]:
        """Return no further fields."""
        return {}

    def submitted(self, sheet: AuditSheet) -> AuditContent:
        return AuditContent(sheet.answer, sheet.comment)

    def problem(self, sheet: AuditSheet, content: AuditContent) -> SheetNotValid | None:
        """Return an error if the answer is missing."""
        if content.answer:
            return None
        return SheetNotValid(_("Say whether the comment makes this point."), ["answer"])

    def settle(self, sheet: AuditSheet, content: AuditContent) -> None:
        """Copy the content to the sheet unchanged."""
        sheet.answer, sheet.comment = content.answer, content.comment

    def mark(self, sheet: AuditSheet, key: Mapping[str, Any]) -> tuple[int, int]:
        """Return the score (1 for the known answer, 0 for any other) and the maximum, 1."""
        return int(sheet.answer == key["answer"]), 1

    is_sample = True

    @property
    def likeness(self) -> tuple[str, ...]:
        """Fields that identify a pair across rounds. Every round has its own copies of pairs."""
        return ("pair__point", "pair__comment", "pair__argument")

    def answer_fields(self, round_: AuditRound) -> dict[str, Field]:
        """Return the field for the answer."""
        return {"answer": ChoiceField(label=lazy("Known answer"), choices=Answer.choices)}

    def fits(self, round_: AuditRound) -> Q:
        """Select pairs of the same analysis whose key point still has the same text."""
        return Q(round__analysis=round_.analysis_id, pair__text=F("pair__point__text"))

    def copied(self, round_: AuditRound, row: AuditItem | AuditSheet) -> AuditPair:
        """Return a copy of the pair for this round."""
        pair = row.pair
        pair.pk, pair.round, pair._state.adding = None, round_, True
        pair.save()
        return pair

    def slots(self, round_: AuditRound, items: Iterable[int]) -> dict[int, int]:
        """Return the numbers of slots: two for a random share of the pairs, one for the others."""
        keys = list(items)
        rng = random.Random(round_.seed)  # noqa: S311  an order, not a secret
        twice = set(rng.sample(keys, doubled(len(keys), round_.double_share)))
        return {key: 1 + (key in twice) for key in keys}

    def make_slots(self, round_: AuditRound) -> None:
        """Create the slots, and exclude experts who edited or signed off the analysis."""
        super().make_slots(round_)
        exclude_editors(round_)

    def card(self, done: int) -> Card:
        """Return the texts for a person's start page."""
        return Card(
            text=_(
                "Say whether a comment makes a point, one comment at a time, with a single key "
                "press."
            ),
            button=_("Continue checking") if done else _("Start checking"),
            badge=ngettext("%d checked by you", "%d checked by you", done) % done if done else "",
        )

    def check(self) -> Iterator[str]:
        """Yield pairs that belong to a different analysis from their round."""
        strange = AuditPair.objects.exclude(point__analysis=F("round__analysis"))
        for pk in strange.values_list("pk", flat=True):
            yield f"audit pair {pk} does not belong to the analysis of its round"


AUDITING = AuditRoundKind()


def doubled(pairs: int, share: float) -> int:
    """Return how many of the pairs are answered by two people, rounded up."""
    return min(ceil(pairs * share - 1e-9), pairs)


GUIDE = """\
You see a comment and one point. Say whether the comment makes the point. Only the meaning counts,
not the wording. One sentence is marked as a place to begin: read the whole comment.

- **Makes this point**: the person who wrote the comment would agree that they said this.
- **Partly**: the comment makes a part of the point, or something more general that includes it.
- **Does not**: the comment is about something else, or only about the same topic.
- **Says the opposite**: the comment speaks against the point.

Point: *The new bikes are comfortable to ride.* The comments are invented.

| Comment | Answer |
|---|---|
| The new ones ride smoothly, and the saddles are soft. | makes this point |
| The saddles are fine. | partly |
| I could not find a free bike near the station. | does not |
| Every ride on them hurts my back. | says the opposite |
"""

# A rater's order contains all remaining pairs, and more would make serving slow.
MOST_PAIRS = 2_000
USUAL_PAIRS = 60
TARGET_POINTS = 10
SETTINGS = (
    "name", "seed", "instructions", "analysis", "double_share", "repeat_share", "lease_minutes",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """All settings for drawing the pairs and assigning them to people.

    ``target`` replaces the size: the `TARGET_POINTS` largest key points get enough pairs for the
    intervals of their counts to stay within this many percentage points of the estimates.
    """

    name: str
    seed: int
    analysis: Analysis
    size: int = USUAL_PAIRS
    target: float | None = None
    double_share: float = 0.2
    repeat_share: float = 0.0
    lease_minutes: int = 120
    instructions: str = GUIDE


@dataclass(frozen=True)
class AuditSample:
    """How many pairs to draw from each stratum of a frame, and which were drawn before."""

    frame: FrameSizes
    own: tuple[int, ...]
    free: Mapping[Stratum, int]
    drawn: Mapping[Stratum, int]
    before: Mapping[PairKey, str]

    @property
    def size(self) -> int:
        """Number of pairs."""
        return sum(self.drawn.values())


@transaction.atomic
def plan_round(
    *, study: Study, plan: AuditPlan, actor: User, round_: AuditRound | None = None
) -> AuditRound:
    """Create a draft round with its pairs, or redraw a draft's pairs; raises RoundNotReady."""
    planned = locked_round(round_, AuditRound.State.DRAFT) if round_ else None
    planned = planned or AuditRound(study=study, created_by=actor)
    # Edits have to wait, so that the pairs read below match the sizes.
    held = Analysis.objects.select_for_update().get(pk=plan.analysis.pk)
    plan = replace(plan, analysis=held)
    sample = sample_of(plan, round_)
    if not sample.size:
        is_done = not any(sample.free.values())
        raise RoundNotReady(
            _("All pairs of this analysis have already been drawn.")
            if is_done
            else _("Enough pairs have already been drawn for this target.")
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    planned.frame = sample.frame.stored(plan.analysis, sample.own)
    planned.recipe = {"size": plan.size, "target": plan.target, "own": len(sample.own)}
    planned.save()
    examples = planned.items.filter(key_points__isnull=False, pair__point__analysis=held)
    planned.items.exclude(pk__in=list(examples.values_list("pk", flat=True))).delete()
    planned.pairs.filter(items=None).delete()
    planned.items.update(is_drawn=False)
    _draw(planned, sample)
    return planned


def sample_of(plan: AuditPlan, round_: AuditRound | None = None) -> AuditSample:
    """Return how many pairs a plan draws from each stratum; raises RoundNotReady."""
    analysis = plan.analysis
    if analysis.state != Analysis.State.DONE:
        raise RoundNotReady(_("The analysis is not finished yet."))
    if new_comments(analysis):
        raise RoundNotReady(_("Some comments have not been placed yet. Place them first."))
    frame = sizes_of(analysis)
    if not frame.texts:
        raise RoundNotReady(_("The analysis has no key points to check."))
    before = asked_before(analysis, round_)
    if plan.target is not None:
        own = tuple(frame.texts)[:TARGET_POINTS]
        free = _free(frame, own, before)
        return AuditSample(frame, own, free, _wanted(plan, frame, own, free, round_), before)
    own = tuple(frame.texts)[: own_groups(plan.size, len(frame.texts))]
    free = _free(frame, own, before)
    return AuditSample(frame, own, free, allocate(free, plan.size), before)


def _free(
    frame: FrameSizes, own: tuple[int, ...], before: Mapping[PairKey, str]
) -> dict[Stratum, int]:
    """Return how many pairs of each stratum have not been drawn before."""
    sizes = frame.strata(own)
    for (point, _unit), band in before.items():
        sizes[Stratum(point if point in own else SMALLER, band)] -= 1
    return sizes


def _wanted(
    plan: AuditPlan,
    frame: FrameSizes,
    own: tuple[int, ...],
    free: Mapping[Stratum, int],
    round_: AuditRound | None,
) -> dict[Stratum, int]:
    """Return how many more pairs the target needs, plus a few for the smaller key points."""
    smaller = {stratum: n for stratum, n in free.items() if stratum.group == SMALLER}
    is_new = smaller == {
        stratum: n for stratum, n in frame.strata(own).items() if stratum.group == SMALLER
    }
    # Without these, there would be no figures for all placements.
    drawn = dict(allocate(smaller, LEAST_ANSWERS)) if is_new else {}
    waiting = _waiting(plan.analysis, round_)
    for point in own:
        known = answers_of(plan.analysis, point)
        pairs = {band: frame.size(point, band) for band in BANDS}
        needed = answers_needed(pairs, (plan.target or 0) / 100, known)
        for band, n in needed.items():
            so_far = known[band].answers if band in known else 0
            more = min(n - so_far - waiting[point, band], free[Stratum(point, band)])
            if more > 0:
                drawn[Stratum(point, band)] = more
    return drawn


def _waiting(analysis: Analysis, but: AuditRound | None) -> Counter[tuple[int, str]]:
    """Count unanswered pairs in open rounds drawn from the current state of the analysis."""
    rows = AuditPair.objects.filter(
        round__analysis=analysis,
        round__frame__state=state_of(analysis),
        round__state=AuditRound.State.OPEN,
    )
    rows = rows.filter(DRAWN).exclude(sheets__state=AuditSheet.State.SUBMITTED)
    if but is not None and but.pk:
        rows = rows.exclude(round=but)
    return Counter(rows.values_list("point", "band"))


def _draw(planned: AuditRound, sample: AuditSample) -> None:
    """Draw the pairs of a round and store them in random order."""
    generator = np.random.default_rng(planned.seed)
    frame, own = frame_of(planned.analysis), sample.own
    smaller = [point for point in frame.texts if point not in own]
    place = {unit: at for at, unit in enumerate(frame.units)}
    before = {(point, place[unit]) for point, unit in sample.before}
    drawn: list[tuple[int, int, str, float]] = []
    for stratum, n in sample.drawn.items():
        points = smaller if stratum.group == SMALLER else [stratum.group]
        chance = n / sample.free[stratum] if n else 0.0
        keys = _drawn_keys(frame, points, stratum.band, n, before, generator)
        drawn += [(point, at, stratum.band, chance) for point, at in keys]
    order = generator.permutation(len(drawn))
    examples = planned.pairs.values_list("point", "comment", "argument")
    trained = {(point, place.get(comment or argument)) for point, comment, argument in examples}
    drawn = [drawn[at] for at in order if drawn[at][:2] not in trained]
    marked = _marked(frame, [(point, at) for point, at, _band, _chance in drawn])
    pairs = AuditPair.objects.bulk_create(
        [
            AuditPair(
                round=planned,
                point_id=point,
                comment_id=frame.units[at] if frame.has_comments else None,
                argument_id=marked.get((point, at)),
                text=frame.texts[point],
                band=band,
            )
            for point, at, band, _chance in drawn
        ],
        batch_size=CHUNK,
    )
    last = planned.items.aggregate(last=Max("position"))["last"] or 0
    AuditItem.objects.bulk_create(
        [
            AuditItem(round=planned, pair=pair, position=position, probability=chance)
            for position, (pair, (*_key, chance)) in enumerate(
                zip(pairs, drawn, strict=True), start=last + 1
            )
        ],
        batch_size=CHUNK,
    )


def _drawn_keys(
    frame: AuditFrame,
    points: list[int],
    band: str,
    n: int,
    before: set[tuple[int, int]],
    generator: np.random.Generator,
) -> list[tuple[int, int]]:
    """Draw n pairs of a key point and a position from a stratum, excluding those drawn before."""
    if band == ELSEWHERE:
        counted = [
            np.array(
                sorted(
                    {at for places in frame.counted[point].values() for at in places.tolist()}
                    | {at for other, at in before if other == point}
                ),
                dtype=np.int64,
            )
            for point in points
        ]
        pairs = draw_elsewhere(len(frame.units), counted, n, generator)
        return [(points[number], at) for number, at in pairs]
    free = [
        (point, at)
        for point in points
        for at in frame.counted[point][band].tolist()
        if (point, at) not in before
    ]
    return [free[at] for at in generator.permutation(len(free))[:n]]


def _marked(frame: AuditFrame, keys: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the statement to mark in each pair: the one placed there, or the most similar.

    Every pair has a mark, so that marks do not reveal where the machine placed a comment.
    """
    marked = {key: frame.statements[key] for key in keys if key in frame.statements}
    rest = [key for key in keys if key not in marked]
    if not frame.has_comments:
        return marked | {key: frame.units[key[1]] for key in rest}
    of_comments: dict[int, list[tuple[int, str]]] = {}
    comments = {frame.units[at] for _point, at in rest}
    rows = CommentStatement.objects.filter(comment__in=comments).order_by("comment", "position")
    for comment, argument, text in rows.values_list("comment", "argument", "argument__text"):
        of_comments.setdefault(comment, []).append((argument, text))
    for point, at in rest:
        words, statements = _words(frame.texts[point]), of_comments.get(frame.units[at])
        if statements:
            marked[point, at] = max(statements, key=lambda own: len(words & _words(own[1])))[0]
    return marked


def _words(text: str) -> set[str]:
    return {word.strip(".,;:!?\"'()") for word in text.casefold().split() if len(word) > 3}

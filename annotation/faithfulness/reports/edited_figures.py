"""What editing changed: figures before and after, over all texts."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median

from django.utils.translation import gettext_lazy as lazy

from annotation.editing.reports.checks import TITLES as CHECK_TITLES
from cqa_site.people.models import Study
from cqa_site.stats.clustered import clustered_mean
from cqa_site.stats.estimate import Estimate

from .edited_pairs import DECIMALS, TITLES, Pair

RECIPE = lazy(
    "Every text counts once: figures of segments are means of the text's own segments. The "
    "difference is after minus before, averaged over texts that have both, with a 95 % interval "
    "over whole questions, of this measure alone: t, corrected for skewness, from 10 "
    "questions on. An imported gold text is held against the machine answer to the same question "
    "from which it is the fewest words away."
)


@dataclass(frozen=True, slots=True)
class Change:
    """A measure over all pairs that have it on both sides.

    ``by_question`` has the mean difference of each question.
    """

    name: str
    title: str
    n: int
    before: float | None
    after: float | None
    difference: Estimate
    by_question: tuple[float, ...]

    @property
    def decimals(self) -> int:
        """How many to show of a mean."""
        return 1 if self.name in DECIMALS else 3


@dataclass(frozen=True, slots=True)
class Summary:
    """What editing changed.

    Parameters
    ----------
    n, n_revisions, n_gold, n_questions
        Texts in all, those edited here, those imported; questions they answer.
    without_machine
        Imported gold texts to whose question no machine answer with arguments is here.
    seconds
        Median time on a text, with how many have one.
    """

    n: int
    n_revisions: int
    n_gold: int
    n_questions: int
    without_machine: int
    distance: Estimate
    seconds: float | None
    n_timed: int
    changes: list[Change]
    checks: list[Change]

    @property
    def minutes(self) -> float | None:
        """The median time in minutes."""
        return None if self.seconds is None else self.seconds / 60


def summarise(study: Study, pairs: Sequence[Pair]) -> Summary:
    """What editing changed over all texts."""
    edited = [pair.edited for pair in pairs]
    questions = [row.before.question_id for row in edited]
    times = [pair.seconds for pair in pairs if pair.seconds]
    golds = study.answers.filter(
        system__kind="human", argument_list__isnull=False, revision__isnull=True
    )
    return Summary(
        n=len(pairs),
        n_revisions=sum(row.revision_id is not None for row in edited),
        n_gold=sum(row.gold_id is not None for row in edited),
        n_questions=len(set(questions)),
        without_machine=golds.filter(edited_text__isnull=True).count(),
        distance=clustered_mean(
            questions,
            [row.edit_distance for row in edited],
            [1] * len(edited),
            limits=(0.0, math.inf),
        ),
        seconds=median(times) if times else None,
        n_timed=len(times),
        changes=[
            _change(name, str(title), pairs, partial(_figures, name))
            for name, title in TITLES.items()
        ],
        checks=[
            _change(name, str(title), pairs, partial(_checked, name))
            for name, title in CHECK_TITLES.items()
        ],
    )


def _figures(name: str, pair: Pair) -> tuple[float | None, float | None]:
    return pair.before[name], pair.after[name]


def _checked(name: str, pair: Pair) -> tuple[float | None, float | None]:
    return pair.edited.checks_before.get(name), pair.edited.checks_after.get(name)


def _change(
    name: str,
    title: str,
    pairs: Sequence[Pair],
    values: Callable[[Pair], tuple[float | None, float | None]],
) -> Change:
    known = [
        (pair.edited.before.question_id, before, after)
        for pair in pairs
        for before, after in [values(pair)]
        if before is not None and after is not None
    ]
    differences: dict[int, list[float]] = defaultdict(list)
    for question, before, after in known:
        differences[question].append(after - before)
    return Change(
        name=name,
        title=title,
        n=len(known),
        before=fmean(row[1] for row in known) if known else None,
        after=fmean(row[2] for row in known) if known else None,
        difference=clustered_mean(
            [row[0] for row in known],
            [row[2] - row[1] for row in known],
            [1] * len(known),
        ),
        by_question=tuple(map(fmean, differences.values())),
    )

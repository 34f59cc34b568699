"""Which arguments take part: unique, matched to exactly one key point, one sentence.

Preprocessing of the argument summarization paper (section 4.1) as a recipe of steps, and one more
for comments, whose statements take part if they say something. An argument keeps the first step it
failed, so that each count is a step further down the same funnel. The paper counted rows where we
count key points, and split sentences by rules of its own; both are steps, too, and so is the half
of the arguments that it took of Debate (`halves`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from argsum.datasets.methods.halves import Half, half_of
from argsum.datasets.methods.published_sentences import is_one_published_sentence
from argsum.datasets.methods.sentences import is_one_sentence
from argsum.datasets.methods.statements import says_something

UNIQUE = "unique"
ONE_KEY_POINT = "exactly_one_key_point"
ONE_SENTENCE = "one_sentence"
ONE_ROW = "one_row"
PUBLISHED_SENTENCE = "published_sentence"
SAYS_SOMETHING = "says_something"
HALF = "half"
# In the order in which they are taken; a recipe chooses among them.
ALL_STEPS = (
    UNIQUE,
    ONE_KEY_POINT,
    ONE_ROW,
    ONE_SENTENCE,
    PUBLISHED_SENTENCE,
    SAYS_SOMETHING,
    HALF,
)
# Those that the paper describes, which a dataset usually has; those by which it came to its
# numbers; and those of comments, which the import has split already.
PAPER_STEPS = (UNIQUE, ONE_KEY_POINT, ONE_SENTENCE)
PUBLISHED = (UNIQUE, ONE_ROW, PUBLISHED_SENTENCE)
COMMENT_STEPS = (UNIQUE, SAYS_SOMETHING)
# What is counted before the first step.
READ = "read"

KEPT = ""
NO_KEY_POINT = "no_key_point"
SEVERAL_KEY_POINTS = "key_points"
OTHER_ROWS = "rows"
SEVERAL_SENTENCES = "sentences"
PUBLISHED_SENTENCES = "published"
NOTHING_SAID = "nothing_said"
OTHER_HALF = "other_half"
# Which step leaves an argument out for which reason.
STEP_OF_REASON = {
    NO_KEY_POINT: ONE_KEY_POINT,
    SEVERAL_KEY_POINTS: ONE_KEY_POINT,
    OTHER_ROWS: ONE_ROW,
    SEVERAL_SENTENCES: ONE_SENTENCE,
    PUBLISHED_SENTENCES: PUBLISHED_SENTENCE,
    NOTHING_SAID: SAYS_SOMETHING,
    OTHER_HALF: HALF,
}


@dataclass(frozen=True)
class Prepared:
    """One cell after preprocessing; ``reasons`` run parallel to its arguments ("" is kept)."""

    reasons: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def kept(self) -> tuple[int, ...]:
        """Positions of the arguments that passed every step, from 0."""
        return tuple(place for place, reason in enumerate(self.reasons) if reason == KEPT)


def checked_steps(steps: Iterable[str]) -> tuple[str, ...]:
    """The chosen steps in their fixed order; ``unique`` always belongs to them.

    Raises
    ------
    ValueError
        For a step that does not exist.
    """
    asked = {UNIQUE, *steps}
    unknown = sorted(asked.difference(ALL_STEPS))
    if unknown:
        raise ValueError(f"{unknown[0]!a} is no step; there are {', '.join(ALL_STEPS)}")
    return tuple(step for step in ALL_STEPS if step in asked)


def first_failed(
    text: str,
    key_points: int | None,
    steps: Iterable[str] = PAPER_STEPS,
    *,
    is_again: bool = False,
) -> str:
    """Why an argument is left out.

    Parameters
    ----------
    text : str
        The argument.
    key_points : int or None
        Reference key points that it is labelled as matching; undecided pairs count as no match.
        None where its cell has no reference key points, so that the step does not apply.
    steps : iterable of str
        From `ALL_STEPS`; the half is not drawn for one argument alone.
    is_again : bool
        Whether its file has a match of it in one more row.

    Returns
    -------
    str
        ``no_key_point``, ``key_points`` (several), ``rows`` (not exactly one with a match),
        ``sentences`` (none or several), ``published`` (the same by the paper's rules),
        ``nothing_said``, or "" if it is kept.

    Examples
    --------
    >>> first_failed("It costs too much. Who pays?", 1)
    'sentences'
    >>> first_failed("It costs too much. Who pays?", 2)
    'key_points'
    >>> first_failed("It costs too much.", None)
    ''
    """
    chosen = set(steps)
    if ONE_KEY_POINT in chosen and key_points is not None and key_points != 1:
        return NO_KEY_POINT if key_points == 0 else SEVERAL_KEY_POINTS
    if ONE_ROW in chosen and key_points is not None and (key_points != 1 or is_again):
        return OTHER_ROWS
    if ONE_SENTENCE in chosen and not is_one_sentence(text):
        return SEVERAL_SENTENCES
    if PUBLISHED_SENTENCE in chosen and not is_one_published_sentence(text):
        return PUBLISHED_SENTENCES
    if SAYS_SOMETHING in chosen and not says_something(text):
        return NOTHING_SAID
    return KEPT


def prepare(
    texts: Sequence[str],
    key_points: Sequence[int | None],
    *,
    steps: Iterable[str] = PAPER_STEPS,
    repeats: int = 0,
    again: Collection[int] = (),
    groups: Sequence[str] = (),
    half: Half | None = None,
) -> Prepared:
    """Preprocess the arguments of one cell.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
        Arguments, each text once.
    key_points : sequence of (int or None), shape (n,)
        See `first_failed`.
    steps : iterable of str
        From `ALL_STEPS`.
    repeats : int
        Arguments that were read with a text that was there already.
    again : collection of int
        Positions of those with a match in one more row than they match key points.
    groups, half
        What `half_of` draws by, where the half belongs to the steps.

    Raises
    ------
    ValueError
        For an unknown step, and for sequences of different length.
    """
    chosen = checked_steps(steps)
    reasons = [
        first_failed(text, number, chosen, is_again=place in again)
        for place, (text, number) in enumerate(zip(texts, key_points, strict=True))
    ]
    if HALF in chosen and half is not None:
        kept = [place for place, reason in enumerate(reasons) if reason == KEPT]
        drawn = half_of([(groups[place], texts[place]) for place in kept], half)
        for at in set(range(len(kept))) - drawn:
            reasons[kept[at]] = OTHER_HALF
    return Prepared(tuple(reasons), funnel(Counter(reasons), steps=chosen, repeats=repeats))


def funnel(
    reasons: Mapping[str, int], *, steps: Iterable[str], repeats: int = 0
) -> dict[str, int]:
    """How many arguments are left after each step.

    Parameters
    ----------
    reasons : mapping
        Number of different arguments by why they are left out; "" for those that are kept.
    steps : iterable of str
        From `ALL_STEPS`.
    repeats : int
        Arguments read a second time.

    Returns
    -------
    dict
        ``read`` and then each step of the recipe, in order.

    Examples
    --------
    >>> funnel({"": 4, "key_points": 1, "sentences": 2}, steps=PAPER_STEPS, repeats=3)
    {'read': 10, 'unique': 7, 'exactly_one_key_point': 6, 'one_sentence': 4}
    """
    left = sum(reasons.values())
    counts = {READ: left + repeats}
    for step in checked_steps(steps):
        left -= sum(n for reason, n in reasons.items() if STEP_OF_REASON.get(reason) == step)
        counts[step] = left
    return counts


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up the funnels of several cells; steps keep their order.

    Examples
    --------
    >>> summed([{"read": 2, "unique": 1}, {"read": 3, "unique": 3}])
    {'read': 5, 'unique': 4}
    """
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    order = (READ, *ALL_STEPS)
    return {step: total[step] for step in order if step in total}

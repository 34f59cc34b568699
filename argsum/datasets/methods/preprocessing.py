"""Preprocessing steps: unique, one key point, one sentence, random half."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from argsum.datasets.methods.statements import is_one_sentence, says_something

# The argument summarization paper kept 50 % of the arguments of each reason of Debate without
# listing them. Here a seed determines the arguments, so that everybody draws the same ones, and
# the arguments left by the test half form the dev half.
TEST, DEV = "test", "dev"
PARTS = (TEST, DEV)
LARGEST_SEED = 2**31 - 1


class Half(NamedTuple):
    """The half to keep and the seed for drawing it."""

    part: str
    seed: int = 1


def half_of(arguments: Iterable[tuple[str, str]], half: Half) -> set[int]:
    """Return the positions of the arguments in a half.

    The test half contains half of each group, with halves rounded to even as published, but at
    least one argument; the dev half contains the rest. The draw depends only on the seed, the
    group and its texts, and not on the order of the arguments or on other groups. ``arguments``
    contains the group (such as topic, stance and key point) and text of each argument. Raises
    ValueError for an unknown half.

    Examples
    --------
    >>> cell = [("cost", "a"), ("cost", "b"), ("cost", "c"), ("noise", "d")]
    >>> test, dev = (half_of(cell, Half(part, seed=7)) for part in PARTS)
    >>> len(test), len(dev), sorted(test | dev)
    (3, 1, [0, 1, 2, 3])
    """
    if half.part not in PARTS:
        raise ValueError(f"{half.part!a} is not one of {', '.join(PARTS)}")
    groups: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for place, (group, text) in enumerate(arguments):
        groups[group].append((text, place))
    selection = set()
    for group, members in groups.items():
        draw = random.Random(f"{half.seed}\n{group}")  # noqa: S311  repeatable, nothing secret
        places = [place for _text, place in draw.sample(sorted(members), len(members))]
        size = max(1, round(len(places) / 2))
        selection.update(places[:size] if half.part == TEST else places[size:])
    return selection


# The paper's own rules for a single sentence. With these rules, exactly the arguments of its
# processed files remain: 2,321 of 3,139 of Debate and 4,252 of 4,836 of ArgKP-2021. The rules
# treat a second ``!`` or ``?`` at an end, a mark right before a bracket or a quote, and a full
# stop before a text as ends of sentences, but not dots before a capital letter. `is_one_sentence`,
# the usual rule, keeps "What about school?!" and splits "He left... Nobody knew.".
_LETTER = r"[^\W\d_]"
_MORE_THAN_DOTS = re.compile(r"[^\s.!?…]")
# A mark directly followed by a non-word character ends a sentence.
_INNER = re.compile(r"""(?<!\.)[.!?](?=[)";}\]*:@'({\[!?])(?!["')\]}]+(?:\s|$))""")
_END = re.compile(
    rf"""
    (?: (?<![\w.'’])(?P<initial>{_LETTER})\.
      | (?<![\w.])(?P<initials>(?:[A-Z]\.){{2,}}+)
      | (?<!\w)(?P<versus>vs)\.
      | (?<![.!?…])(?P<dots>\.{{2,}}+|…)(?![.!?…])
      | (?<![.!?…])(?P<mark>[.!?…]++)
    )
    ["'’”»)\]]* \s+ (?P<next>\S)
    """,
    re.VERBOSE,
)


def is_one_published_sentence(text: str) -> bool:
    """Return whether the paper counted an argument as a single sentence.

    Examples
    --------
    >>> is_one_published_sentence("Crime fell... And it stayed low.")
    True
    >>> is_one_published_sentence("What about us??")
    False
    """
    whole = text.strip()
    if whole.startswith(". ") or _INNER.search(whole):
        return False
    at = 0
    while match := _END.search(whole, at):
        at = match.start("next")
        if _ends_sentence(match, whole) and _MORE_THAN_DOTS.search(whole[at:]):
            return False
    return _MORE_THAN_DOTS.search(whole) is not None


def _ends_sentence(match: re.Match[str], text: str) -> bool:
    before_capital = match["next"].isupper()
    if match["initials"]:
        return before_capital
    if match["dots"]:
        # Separate dots end a sentence; dots attached to a word do not.
        return before_capital and text[: match.start("dots")][-1:].isspace()
    return not (match["initial"] or match["versus"])


# Preprocessing of the argument summarization paper (section 4.1) as a recipe of steps, with one
# more step for comments: statements without content are left out. An argument stores the first
# step that it failed, so that all counts form one funnel. The paper counted rows instead of key
# points, and split sentences by its own rules. Both variants are available as steps, and so is the
# half of the Debate arguments that it used (`half_of`).
UNIQUE = "unique"
ONE_KEY_POINT = "exactly_one_key_point"
ONE_SENTENCE = "one_sentence"
ONE_ROW = "one_row"
PUBLISHED_SENTENCE = "published_sentence"
SAYS_SOMETHING = "says_something"
HALF = "half"
# All steps in the order of their application; a recipe selects some of them.
ALL_STEPS = (
    UNIQUE, ONE_KEY_POINT, ONE_ROW, ONE_SENTENCE, PUBLISHED_SENTENCE, SAYS_SOMETHING, HALF,
)  # fmt: skip
# The steps that the paper describes, which are the default; the steps that reproduce its numbers;
# and the steps for comments, which the import has already split.
PAPER_STEPS = (UNIQUE, ONE_KEY_POINT, ONE_SENTENCE)
PUBLISHED = (UNIQUE, ONE_ROW, PUBLISHED_SENTENCE)
COMMENT_STEPS = (UNIQUE, SAYS_SOMETHING)
# Name of the count before the first step.
READ = "read"

KEPT = ""
NO_KEY_POINT = "no_key_point"
SEVERAL_KEY_POINTS = "key_points"
OTHER_ROWS = "rows"
SEVERAL_SENTENCES = "sentences"
PUBLISHED_SENTENCES = "published"
NOTHING_SAID = "nothing_said"
OTHER_HALF = "other_half"
# The step behind each reason for exclusion.
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
class PreprocessedCell:
    """One cell after preprocessing, with a reason per argument; "" means kept."""

    reasons: tuple[str, ...]
    counts: Mapping[str, int]

    @property
    def kept(self) -> tuple[int, ...]:
        """Positions, from 0, of the arguments that passed every step."""
        return tuple(place for place, reason in enumerate(self.reasons) if reason == KEPT)


def checked_steps(steps: Iterable[str]) -> tuple[str, ...]:
    """Return the chosen steps in standard order, always with ``unique``. Raises ValueError."""
    choices = {UNIQUE, *steps}
    unknown = sorted(choices.difference(ALL_STEPS))
    if unknown:
        raise ValueError(f"{unknown[0]!a} is not a step; steps are {', '.join(ALL_STEPS)}")
    return tuple(step for step in ALL_STEPS if step in choices)


def first_failed(
    text: str,
    key_points: int | None,
    steps: Iterable[str] = PAPER_STEPS,
    *,
    is_again: bool = False,
) -> str:
    """Return the reason for leaving an argument out.

    The reasons are ``no_key_point``, ``key_points`` (several), ``rows`` (not exactly one row with
    a match), ``sentences`` (none or several), ``published`` (none or several by the paper's rules)
    and ``nothing_said``; "" means that the argument is kept.

    ``key_points`` is the number of reference key points labelled as matching; undecided pairs do
    not count. If the cell has no reference key points, it is None, and the steps about key points
    do not apply. ``is_again`` means that the argument's match is repeated in another row.

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
) -> PreprocessedCell:
    """Preprocess the arguments of one cell, each text once.

    ``key_points`` contains the numbers described in `first_failed`, one per text. ``repeats``
    counts arguments whose text had already been read. ``again`` contains the positions of
    arguments with more matching rows than matching key points. ``groups`` and ``half`` are passed
    to `half_of` if the steps include the half. Raises ValueError for an unknown step.
    """
    chosen = checked_steps(steps)
    reasons = [
        first_failed(text, number, chosen, is_again=place in again)
        for place, (text, number) in enumerate(zip(texts, key_points, strict=True))
    ]
    if HALF in chosen and half is not None:
        places = [place for place, reason in enumerate(reasons) if reason == KEPT]
        drawn = half_of([(groups[place], texts[place]) for place in places], half)
        for at in set(range(len(places))) - drawn:
            reasons[places[at]] = OTHER_HALF
    return PreprocessedCell(
        tuple(reasons), funnel(Counter(reasons), steps=chosen, repeats=repeats)
    )


def funnel(
    reasons: Mapping[str, int], *, steps: Iterable[str], repeats: int = 0
) -> dict[str, int]:
    """Return the number of arguments that were ``read`` and the number left after each step.

    ``reasons`` counts distinct arguments by reason for exclusion ("" means kept); ``repeats`` is
    the number of repeated arguments.

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
    """Add up the funnels of several cells, keeping the order of the steps.

    Examples
    --------
    >>> summed([{"read": 2, "unique": 1}, {"read": 3, "unique": 3}])
    {'read': 5, 'unique': 4}
    """
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    order = (READ, *ALL_STEPS)
    return {step: total[step] for step in order if step in total}

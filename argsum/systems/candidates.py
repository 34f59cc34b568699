"""Texts that could themselves be key points: arguments, or what a language model wrote.

Source: argument summarization paper, section 3.2 and appendix D.2; Bar-Haim et al. (2020b) for
BarH and Alshomary et al. (2021) for SMatchToPr.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argsum.datasets.methods.sentences import is_one_sentence
from argsum.systems.methods.grids import Parameter
from argsum.systems.methods.scoring import Scores
from cqa_site.stats.arrays import Floats

from .contract import PLAIN, CellData, KeyPoint, Parameters, Summary, Tools, gettext_noop

FILL_UPS = (0.1, 0.3)
FILL_UP = Parameter(
    "fill_up", FILL_UPS, usual=0.1, title=gettext_noop("Least share of candidates"), only=(PLAIN,)
)
NO_CANDIDATES = "No argument qualifies as a candidate."
NO_MATCHES = "No argument matches a candidate above the threshold."

_WORD = re.compile(r"\w+")
# Words that stand for something said before, or only count it; an argument that opens with one
# does not stand alone. The released candidates were chosen with "as" and "there" among them.
_PRONOUNS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
it its itself we us our ours ourselves they them their theirs themselves one oneself
this that these those such same there here as
who whom whose which what whoever whomever whichever whatever whether where whereby wherein
all another any anybody anyone anything both each either enough everybody everyone everything
few fewer less many more most much neither nobody none nothing other others several some somebody
someone something somewhat
"""
PRONOUNS = frozenset(_PRONOUNS.split())


@dataclass(frozen=True)
class CandidateRule:
    """What an argument must be like to be a candidate; the numbers of words are inclusive.

    Attributes
    ----------
    min_tokens, max_tokens
        Fewest and most words.
    min_quality
        The quality must be above it; 0–1.
    bars_pronouns
        Whether the first word must not be a pronoun.
    """

    min_tokens: int
    max_tokens: int
    min_quality: float
    bars_pronouns: bool


@dataclass(frozen=True)
class Candidates:
    """Candidates for key points with their scores; ``own`` are rows of the arguments."""

    texts: Sequence[str]
    match: Scores
    between: Scores
    quality: Scores
    own: Sequence[int | None]

    def first(self, count: int) -> "Candidates":
        """The first of them."""
        return Candidates(
            self.texts[:count],
            self.match[:, :count],
            self.between[:count, :count],
            self.quality[:count],
            self.own[:count],
        )

    def chosen(self, kept: Sequence[int]) -> Summary:
        """The summary in which some of them are the key points."""
        if not kept:
            return Summary(reason=NO_MATCHES)
        return Summary([KeyPoint(self.texts[place]) for place in kept], match=self.match[:, kept])


def find_candidates(
    cell: CellData, parameters: Parameters, tools: Tools, rule: CandidateRule
) -> Candidates:
    """The candidates of one setting, with everything that is scored of them made once a cell."""
    if (texts := cell.written) is not None:
        written: Candidates = tools.shared("candidates", lambda: _written(texts, tools))
        return written
    most: Candidates = tools.shared("candidates", lambda: _picked(cell, tools, rule))
    share = float(parameters["fill_up"])
    if share == max(tools.values("fill_up")):
        return most
    # The first so many: candidates enter in an order that does not depend on the share.
    rows = tools.shared("rows", lambda: _rows(cell, tools, rule, share), by=("fill_up",))
    return most.first(len(rows))


def pick_candidates(
    arguments: Sequence[str], quality: Floats, *, rule: CandidateRule, fill_up: float
) -> list[int]:
    """Positions of the candidates, in the order in which they entered.

    First all arguments that pass the rule, in the order given. Where these are fewer than the
    share `fill_up` of all arguments, the best of those that failed on quality alone follow, then
    the best of those that failed on length or pronoun. Arguments of several sentences never
    enter.

    Parameters
    ----------
    arguments
        n texts of one cell.
    quality : float array, shape (n,)
        0–1; nan is an argument without a quality, and counts as failed and worst.
    rule
        What an argument must be like.
    fill_up
        Least share of the arguments, 0–1, rounded to whole arguments, a half to the even number.

    Raises
    ------
    ValueError
        If the lengths differ or the share is not one.
    """
    if len(arguments) != len(quality):
        raise ValueError(f"{len(arguments)} arguments but {len(quality)} qualities")
    if not 0 <= fill_up <= 1:
        raise ValueError("fill_up must lie between 0 and 1")
    single = [place for place, text in enumerate(arguments) if is_one_sentence(text)]
    formed = [place for place in single if _has_form(arguments[place], rule)]
    good = [place for place in formed if quality[place] > rule.min_quality]
    passed = set(good)
    weak = _best_first([place for place in formed if place not in passed], quality)
    other = _best_first([place for place in single if place not in set(formed)], quality)
    least = max(len(good), round(fill_up * len(arguments)))
    return [*good, *weak, *other][:least]


def word_tokens(text: str) -> list[str]:
    """Runs of letters and digits; an apostrophe or a hyphen separates two words.

    Examples
    --------
    >>> word_tokens("It isn't state-of-the-art.")
    ['It', 'isn', 't', 'state', 'of', 'the', 'art']
    """
    return _WORD.findall(text)


def _picked(cell: CellData, tools: Tools, rule: CandidateRule) -> Candidates:
    """The candidates of the largest share, of which those of the others are a beginning."""
    rows = _rows(cell, tools, rule, max(tools.values("fill_up")))
    texts = [cell.arguments[row] for row in rows]
    match = tools.match(texts)
    return Candidates(texts, match, match[rows], tools.quality[rows], rows)


def _rows(cell: CellData, tools: Tools, rule: CandidateRule, share: float) -> list[int]:
    return pick_candidates(cell.arguments, tools.quality, rule=rule, fill_up=share)


def _written(texts: Sequence[str], tools: Tools) -> Candidates:
    own = [None] * len(texts)
    return Candidates(
        texts, tools.match(texts), tools.between(texts), tools.quality_of(texts), own
    )


def _has_form(text: str, rule: CandidateRule) -> bool:
    words = word_tokens(text)
    if not rule.min_tokens <= len(words) <= rule.max_tokens:
        return False
    return not (rule.bars_pronouns and words[0].lower() in PRONOUNS)


def _best_first(places: list[int], quality: Floats) -> list[int]:
    """By quality; the earlier argument first where equal."""
    return sorted(places, key=lambda place: -np.nan_to_num(quality[place], nan=-np.inf))

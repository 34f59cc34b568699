"""Interface of a summarization system, and the selection of candidates."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from argsum.datasets.methods.statements import is_one_sentence
from argsum.systems.methods.inputs import (
    Grid,
    GridNotValid,
    Parameter,
    Scores,
    Value,
    check_values,
)
from cqa_site.stats.arrays import Floats

# Definition, input and output of a summarization system.
#
# A system reads the texts of one cell and asks its tools for scores. It never sees a database
# row, so a system from another package can be written and tried without a study.

Parameters = Mapping[str, Value]
# Writing variants for systems that pick texts, and for systems that find clusters.
PLAIN, SUMMARIES = "plain", "summaries"
PICKING = (PLAIN, "candidates", SUMMARIES)
CLUSTERING = (PLAIN, "global", "local", "seq2seq")
# Kinds of scores that a system may ask its tools for.
MATCH, QUALITY, VECTORS = "match", "quality", "vectors"
MOST_KEY_POINTS, LONGEST_KEY_POINT = 1_000, 5_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def gettext_noop(text: str) -> str:
    """Mark a text for translation at display time."""
    return text


class SystemNotValid(ValueError):
    """A system or its result breaks the contract; the message says where."""


@dataclass(frozen=True)
class CellData:
    """Data of one topic and stance.

    Attributes
    ----------
    stance
        1 for the topic, -1 against it, 0 neither.
    arguments
        The arguments of the cell, in order; at least one.
    written
        Candidates that a language model wrote for the cell; None if none were requested.
    """

    topic: str
    stance: int
    arguments: tuple[str, ...]
    written: tuple[str, ...] | None = None


@dataclass(frozen=True)
class KeyPoint:
    """A key point, and its cluster if the system has clusters."""

    text: str
    cluster: int | None = None


@dataclass(frozen=True)
class Summary:
    """Result of one setting.

    Attributes
    ----------
    key_points
        In any order; they are sorted by number of arguments for display. Without key points, the
        clusters are summarized by their central arguments or by a language model.
    clusters : length n, or None
        The cluster of each argument; -1 is unclustered. None for a system without clusters.
    match : shape (n, k), or None
        Match scores of arguments with key points, if available.
    reason
        A short reason if there is no result.
    """

    key_points: Sequence[KeyPoint] = ()
    clusters: Sequence[int] | None = None
    match: Scores | None = None
    reason: str = ""

    @property
    def waits(self) -> bool:
        """Whether the clusters still need key points."""
        return self.clusters is not None and not self.key_points and not self.reason

    def check(self, n: int) -> None:
        """Raise `SystemNotValid` unless this is a valid summary of n arguments."""
        if not (self.key_points or self.clusters is not None or self.reason):
            raise SystemNotValid("a summary without key points needs clusters or a reason")
        if len(self.key_points) > MOST_KEY_POINTS:
            raise SystemNotValid(f"more than {MOST_KEY_POINTS:,} key points")
        for key_point in self.key_points:
            if not isinstance(key_point, KeyPoint) or not _is_text(key_point.text):
                raise SystemNotValid("each key point must be a KeyPoint with a text")
        if self.clusters is not None:
            _check_clusters(list(self.clusters), self.key_points, n)
        if self.match is not None and self.match.shape != (n, len(self.key_points)):
            raise SystemNotValid(f"match scores have shape {self.match.shape}")
        if self.match is not None and not np.isfinite(self.match).all():
            raise SystemNotValid("a match score is not a number")


class Tools(Protocol):
    """Tools for a system. Matrices are computed at first use and are read-only."""

    seed: int

    @property
    def pairs(self) -> Scores:
        """Match scores of arguments with arguments, shape (n, n)."""
        ...

    @property
    def quality(self) -> Scores:
        """Quality of the arguments, shape (n,); nan if unknown."""
        ...

    @property
    def vectors(self) -> Scores:
        """Sentence vectors of the arguments, shape (n, d)."""
        ...

    def match(self, texts: Sequence[str]) -> Scores:
        """Return match scores of arguments with k texts, shape (n, k)."""
        ...

    def between(self, texts: Sequence[str]) -> Scores:
        """Return match scores of k texts with each other, shape (k, k)."""
        ...

    def quality_of(self, texts: Sequence[str]) -> Scores:
        """Return the quality of k texts other than arguments, shape (k,)."""
        ...

    def values(self, parameter: str) -> list[float]:
        """Return the grid values of a parameter, ascending."""
        ...

    def shared(self, what: str, make: Callable[[], Any], *, by: Sequence[str] = ()) -> Any:
        """Return a value computed once for all settings of a cell that agree in ``by``.

        The computation time is divided among these settings.
        """
        ...


@dataclass(frozen=True)
class SummarizationSystem:
    """A system and its metadata for forms, the API, workers and pages.

    Attributes
    ----------
    name
        Lower-case letters, digits and underscores; stored with every run.
    title, about, citation
        Display name, description in one sentence, and publication.
    summarize
        Computes one setting of one cell; identical input gives an identical summary.
    needs
        Those of `MATCH`, `QUALITY` and `VECTORS` that the system requests from its tools.
    parameters
        In the order used in the text of a setting.
    variants
        Supported writing variants: ``("plain",)``, `PICKING` or `CLUSTERING`.
    warm_up
        Called with the number of arguments and the settings before any setting is timed.
    chosen
        Given the figures from training the match scorer, returns the chosen grid, or None.
    package
        Name and version of the installed package that provides it; set by the registry.
    """

    name: str
    title: str
    about: str
    citation: str
    summarize: Callable[[CellData, Parameters, Tools], Summary]
    needs: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    variants: tuple[str, ...] = (PLAIN,)
    warm_up: Callable[[int, Sequence[Parameters]], None] | None = None
    chosen: Callable[[Mapping[str, Any]], Grid | None] | None = None
    package: str = ""

    def __post_init__(self) -> None:
        texts = (self.title, self.about, self.citation)
        if not callable(self.summarize) or any(not isinstance(text, str) for text in texts):
            raise SystemNotValid("it needs a title, a description, a citation and a function")
        names = [self.name, *(parameter.name for parameter in self.parameters)]
        if wrong := [name for name in names if not _NAME.fullmatch(name)]:
            raise SystemNotValid(
                f"“{wrong[0]}” is not a valid name: a to z, 0 to 9, _, at most 40"
            )
        if len(set(names[1:])) < len(self.parameters):
            raise SystemNotValid("two parameters have the same name")
        if self.variants not in ((PLAIN,), PICKING, CLUSTERING):
            raise SystemNotValid("variants must be those of PLAIN, PICKING or CLUSTERING")
        if set(self.needs) - {MATCH, QUALITY, VECTORS}:
            raise SystemNotValid("needs can only be match, quality and vectors")
        for param in self.parameters:
            _check_parameter(param)

    def parameters_for(self, variant: str) -> tuple[Parameter, ...]:
        """Return the relevant parameters: none if a language model writes key points directly."""
        if variant == SUMMARIES:
            return ()
        return tuple(
            parameter
            for parameter in self.parameters
            if not parameter.only or variant in parameter.only
        )

    def published_grid(self, variant: str) -> Grid:
        parameters = self.parameters_for(variant)
        return {
            parameter.name: list(parameter.published)
            for parameter in parameters
            if parameter.published
        }

    def usual_grid(self, variant: str) -> Grid:
        """Return the grid of the authors' recommended setting."""
        return {
            parameter.name: [
                parameter.published[0] if parameter.usual is None else parameter.usual
            ]
            for parameter in self.parameters_for(variant)
            if parameter.published
        }

    def in_order(self, grid: Mapping[str, list[Value]]) -> Grid:
        """Return a stored grid in parameter order, which not every database preserves."""
        return {
            parameter.name: grid[parameter.name]
            for parameter in self.parameters
            if parameter.name in grid
        }


def _check_parameter(parameter: Parameter) -> None:
    if parameter.kind not in ("float", "int", "switch"):
        raise SystemNotValid(f"“{parameter.name}”: the kind must be float, int or switch")
    usual = () if parameter.usual is None else (parameter.usual,)
    try:
        for value in (*parameter.published, *usual):
            check_values([value], parameter)
    except GridNotValid as problem:
        raise SystemNotValid(f"“{parameter.name}”: {problem}") from None


def _check_clusters(ids: Sequence[int], key_points: Sequence[KeyPoint], n: int) -> None:
    if len(ids) != n:
        raise SystemNotValid(f"{len(ids)} cluster ids for {n} arguments")
    if any(not isinstance(cluster, int | np.integer) or cluster < -1 for cluster in ids):
        raise SystemNotValid("a cluster id must be a whole number from -1")
    known = {None, *ids}
    for key_point in key_points:
        if key_point.cluster not in known:
            raise SystemNotValid(
                f"a key point of cluster {key_point.cluster}, which does not exist"
            )


def _is_text(value: object) -> bool:
    if not isinstance(value, str) or "\x00" in value:
        return False
    return bool(value.strip()) and len(value) <= LONGEST_KEY_POINT


# Candidate texts for key points: arguments, or texts written by a language model.
#
# Source: argument summarization paper, section 3.2 and appendix D.2; Bar-Haim et al. (2020b) for
# BarH and Alshomary et al. (2021) for SMatchToPr.

FILL_UPS = (0.1, 0.3)
FILL_UP = Parameter(
    "fill_up",
    FILL_UPS,
    usual=0.1,
    title=gettext_noop("Minimum share of candidates"),
    only=(PLAIN,),
)
NO_CANDIDATES = "No argument qualifies as a candidate."
NO_MATCHES = "No argument matches a candidate above the threshold."

_WORD = re.compile(r"\w+")
# Words that refer to something said before or express a quantity; an argument that starts with
# one does not stand alone. The released candidates were chosen with "as" and "there" in the list.
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
    """Requirements for a candidate argument; word limits are inclusive.

    Attributes
    ----------
    min_tokens, max_tokens
        Minimum and maximum number of words.
    min_quality
        The quality must be above this value; 0–1.
    bars_pronouns
        Whether the first word must not be a pronoun.
    """

    min_tokens: int
    max_tokens: int
    min_quality: float
    bars_pronouns: bool


@dataclass(frozen=True)
class Candidates:
    """Candidates for key points with their scores; ``own`` gives the row of each argument."""

    texts: Sequence[str]
    match: Scores
    between: Scores
    quality: Scores
    own: Sequence[int | None]

    def first(self, count: int) -> "Candidates":
        """Return the first ``count`` candidates."""
        return Candidates(
            self.texts[:count],
            self.match[:, :count],
            self.between[:count, :count],
            self.quality[:count],
            self.own[:count],
        )

    def chosen(self, places: Sequence[int]) -> Summary:
        """Return a summary that has the selected candidates as key points."""
        if not places:
            return Summary(reason=NO_MATCHES)
        return Summary(
            [KeyPoint(self.texts[place]) for place in places], match=self.match[:, places]
        )


def find_candidates(
    cell: CellData, parameters: Parameters, tools: Tools, rule: CandidateRule
) -> Candidates:
    """Return the candidates of one setting; their scores are computed once per cell."""
    if (texts := cell.written) is not None:
        written: Candidates = tools.shared("candidates", lambda: _written(texts, tools))
        return written
    most: Candidates = tools.shared("candidates", lambda: _picked(cell, tools, rule))
    share = float(parameters["fill_up"])
    if share == max(tools.values("fill_up")):
        return most
    # Candidates enter in an order that does not depend on the share, so a prefix is enough.
    rows = tools.shared("rows", lambda: _rows(cell, tools, rule, share), by=("fill_up",))
    return most.first(len(rows))


def pick_candidates(
    arguments: Sequence[str], quality: Floats, *, rule: CandidateRule, fill_up: float
) -> list[int]:
    """Return the positions of the candidates, in the order in which they are selected.

    All arguments that pass the rule come first, in the order given. If they make up less than the
    share `fill_up` of all arguments, the best arguments that failed on quality alone follow, then
    the best that failed on length or pronoun. Arguments of several sentences are never candidates.

    Parameters
    ----------
    arguments
        The n texts of one cell.
    quality : float array, shape (n,)
        0–1; nan means unknown, which fails the rule and ranks last.
    rule
        Requirements for an argument.
    fill_up
        Minimum share of the arguments, 0–1; the count is rounded, with halves to even.

    Raises
    ------
    ValueError
        If the lengths differ or the share is not between 0 and 1.
    """
    if len(arguments) != len(quality):
        raise ValueError(f"{len(arguments)} arguments but {len(quality)} qualities")
    if not 0 <= fill_up <= 1:
        raise ValueError("fill_up must be between 0 and 1")
    single = [place for place, text in enumerate(arguments) if is_one_sentence(text)]
    formed = [place for place in single if _has_form(arguments[place], rule)]
    good = [place for place in formed if quality[place] > rule.min_quality]
    passed = set(good)
    weak = _best_first([place for place in formed if place not in passed], quality)
    other = _best_first([place for place in single if place not in set(formed)], quality)
    least = max(len(good), round(fill_up * len(arguments)))
    return [*good, *weak, *other][:least]


def word_tokens(text: str) -> list[str]:
    """Return sequences of letters and digits; an apostrophe or hyphen separates words.

    Examples
    --------
    >>> word_tokens("It isn't state-of-the-art.")
    ['It', 'isn', 't', 'state', 'of', 'the', 'art']
    """
    return _WORD.findall(text)


def _picked(cell: CellData, tools: Tools, rule: CandidateRule) -> Candidates:
    """Return the candidates for the largest share; smaller shares use its first candidates."""
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
    """Sort by quality, best first; ties go to the earlier argument."""
    return sorted(places, key=lambda place: -np.nan_to_num(quality[place], nan=-np.inf))

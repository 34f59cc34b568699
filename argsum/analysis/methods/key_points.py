"""Find key points: cluster statements, and choose the best text of each cluster."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from argsum.datasets.methods.statements import language_of
from argsum.scorers.methods.encoders import CUTOFFS, GroupingCutoffs
from argsum.systems.methods.clusters import MIN_SIZE, merge_clusters
from argsum.systems.methods.inputs import Scores
from cqa_site.stats.arrays import FloatArray, IntArray
from .statements import (
    MOST_COMPARED,
    WORD,
    KnownWords,
    centred,
    distinctness,
    group_at,
    group_means,
    likeness_map,
    mixed_vectors,
    refined,
    spread,
    without_small,
)
from .themes import theme_groups, theme_names

# Without a language model, a key point is one of the statements. The most central statement may be
# half a sentence, a question, or begin with "It", so length and wording count as well.

# Number of words of a statement that reads well on its own.
FEWEST_WORDS, MOST_WORDS = 4, 16
# Words that refer to another sentence.
_LEANING = frozenset(
    """
    it its it's this that these those they them their he she his her him who which and but or so
    because then also too however although though since as if yes no not only same
    """.split()  # noqa: SIM905
)
# Openings addressed to the reader; some count only with a comma, or before a subject.
_OPENERS = re.compile(
    r"""^(?:(?:
        (?: (?:quite\ )?(?:honestly|frankly) | (?:to|let['’]?s)\ be\ (?:honest|frank|fair)
          | in\ (?:all\ )?(?:general|fairness|short|my\ (?:humble\ )?(?:opinion|view|experience))
          | tbh | tbf | imo | imho | overall | also | and | but | personally | for\ me | i\ mean
          | actually | basically | sadly | unfortunately | btw | by\ the\ way | first\ of\ all
          | (?:apart|aside)\ from\ that | other\ than\ that | on\ top\ of\ that | in\ addition
          | (?:ok|okay|and|but)\ so | plus(?!\ size|\ point|\ one|\ \d) )\b
      | (?:well|so|look|listen|yes|yeah|yep|no|nope|sure|okay|ok|anyway|again|still|besides
          |oh|hey|hi|hello|just\ saying|(?:having\ )?(?:said\ that|that\ said)
          |(?:one\ more|another)\ thing)\b(?=\s*[,:;.!…–—])
      | so\b(?=\s+(?:the|a|an|there|it|they|we|i|you|this|that|my|our|please)\b)
    )[\s,:;.!…–—-]*)+""",
    re.IGNORECASE | re.VERBOSE,
)
# Trailing parts without content: smileys, symbols, and words to the reader.
_TRAILS = re.compile(
    r"(?:[\s,;:–—-]+(?:tbh|tbf|imo|imho|lol|rofl|haha+|just\ saying)\b"
    r"| ?(?:[:;=]-?[)(dp/|]+|<3|[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]+))[.!… ]*$",
    re.IGNORECASE,
)
_DASHES = " ,;:–—-"
# Costs, in standard deviations of the centrality of a group's statements.
LEANS, ASKS, SPEAKS_OF_SELF, IS_LOUD = 1.0, 1.0, 0.4, 0.4
HAS_TYPO, IS_NO_SENTENCE, OPENS_OR_TRAILS = 1.0, 0.3, 0.2
PER_WORD = 0.15
MOST_LENGTH = 2.0
QUALITY = 0.4


def wording_cost(text: str, known: KnownWords | None = None) -> float:
    """Return the penalty (at least 0) for a text as a key point. ``known`` detects typos.

    Examples
    --------
    >>> wording_cost("The ticket machines are often broken.")
    0.0
    >>> wording_cost("It is.") > wording_cost("Is it often broken, and who repairs it then?") > 0
    True
    """
    whole = " ".join(text.split())
    plain = bare(whole)
    words = [word.lower() for word in WORD.findall(plain)]
    if not words:
        return 10.0
    away = max(FEWEST_WORDS - len(words), 0) * 3 + max(len(words) - MOST_WORDS, 0)
    cost = min(MOST_LENGTH, PER_WORD * away)
    cost += LEANS * (words[0] in _LEANING)
    cost += ASKS * ("?" in text)
    cost += SPEAKS_OF_SELF * any(word in ("i", "i'm", "i've", "my", "me") for word in words)
    cost += IS_LOUD * ("!!" in text or "..." in text or "…" in text or text.isupper())
    cost += HAS_TYPO * (known is not None and any(map(known.is_typo, words)))
    cost += IS_NO_SENTENCE * ((plain[0].islower() and plain == whole) or plain[-1] not in ".!?")
    cost += OPENS_OR_TRAILS * (plain != whole)
    return round(cost, 6)


def bare(text: str) -> str:
    """Return a text without filler at its start and end.

    Examples
    --------
    >>> bare("Honestly, the food was cold, tbh :(")
    'the food was cold'
    """
    whole = " ".join(text.split())
    plain = _OPENERS.sub("", whole)
    while (shorter := _TRAILS.sub("", plain.rstrip(_DASHES))) != plain:
        plain = shorter
    return plain if WORD.search(plain) else whole


def as_sentence(text: str) -> str:
    """Return a text as a page shows it: without filler, capitalised, with one end mark.

    Examples
    --------
    >>> as_sentence("honestly,  the food was cold!!")
    'The food was cold.'
    >>> as_sentence("iPads for all!")
    'iPads for all!'
    """
    plain = bare(text)
    if not WORD.search(plain):
        return plain or text
    sentence = plain.rstrip(" .!?…")
    end = plain[len(sentence) :].replace(" ", "")
    if sentence.split()[0].islower():
        sentence = sentence[0].upper() + sentence[1:]
    return sentence + ("?" if "?" in end else "!" if end == "!" else ".")


def best_put(
    texts: Sequence[str],
    central: Sequence[float],
    quality: Sequence[float],
    known: KnownWords | None = None,
) -> int:
    """Return the position of the best statement of a group, or the first of those tied.

    ``central`` are mean match scores with the other statements. ``quality`` is 0–1, or nan if
    unknown, which counts as the group's mean. ``known`` are the words of all statements, for
    detecting typos.
    """
    scores = _standard(np.asarray(central, dtype=np.float64))
    scores = scores + QUALITY * _standard(np.asarray(quality, dtype=np.float64))
    costs = np.array([wording_cost(text, known) for text in texts])
    return int((scores - costs).round(9).argmax())


def _standard(values: FloatArray) -> FloatArray:
    """Return values in standard deviations from the mean, or 0 if unknown or if all are equal."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    size = values[known].std()
    if size <= 1e-9:
        return np.zeros(len(values))
    away: FloatArray = (values - values[known].mean()) / size
    return np.where(known, away, 0.0)


# This module does not use the database. The caller passes `AnalysisTools` and receives plain
# numbers and texts.
NONE = -1
# Candidates to represent a group: this share of its statements, the most central, within these
# limits. Scoring the quality of all statements takes minutes for a hundred groups of 200.
CENTRAL, FEWEST_CANDIDATES, MOST_CANDIDATES = 0.3, 3, 50
# Maximum number of statements of a key point to compare when measuring their similarity.
MOST_BEHIND = 200
# Share of the total time after reading and after grouping, measured with 300 comments.
READ, GROUPED = 0.6, 0.65


class AnalysisTools(Protocol):
    """Services that the analysis needs from its caller. ``say`` may raise an exception."""

    @property
    def tells_sides(self) -> bool:
        """Whether vectors encode a text's side (`cqa_site.judging.embedding.SideClassifier`)."""
        ...

    @property
    def encoder_name(self) -> str:
        """A key of `argsum.scorers.methods.encoders.CUTOFFS`, or the match scorer's encoder."""
        ...

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Return sentence vectors of length 1 from the match scorer, shape (n, d)."""
        ...

    @property
    def sure_from(self) -> float | None:
        """The minimum score of a sure placement; None if it is unknown for the scorer."""
        ...

    def quality(self, texts: Sequence[str]) -> Scores:
        """Return the writing quality of each text (about 0–1), shape (n,), or nan if unknown."""
        ...

    def filler(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return which texts are filler, shape (n,)."""
        ...

    def say(self, share: float, what: str, until: float | None = None) -> None:
        """Report the progress (0–1), and the progress to be reached by reading texts."""
        ...


@dataclass(frozen=True)
class ClusteringResult:
    """Key points and placements of statements.

    Attributes
    ----------
    points
        Texts of key points, those with the most statements first.
    placed : length n
        Position of the key point of each statement, or -1.
    scores : length n
        Match score of each statement with its key point, or with the nearest key point.
    sure : length n
        Whether the placement is sure, because the score is high and the side is the same.
    cutoff
        Minimum score for grouping statements.
    themes : length k
        Name of the theme of each key point.
    distinct : length k
        How much better the statements of each key point match each other than those of the
        nearest other key point.
    """

    points: tuple[str, ...]
    placed: tuple[int, ...]
    scores: tuple[float, ...]
    sure: tuple[bool, ...]
    cutoff: float
    themes: tuple[str, ...] = ()
    distinct: tuple[float, ...] = ()


# Chosen on ArgKP's dev split and the dev half of Debate, in which each cell takes one side; with
# sides, on four invented sets of comments and the demo's set (docs/papers/argsum.md). Rows of
# scores have a weight of a quarter; then each statement moves to the group that fits it best.
WEIGHT, USUAL, USUAL_WITH_SIDES = 0.25, 0.275, 0.425
# A key point needs this share of all statements and at least three, or two that surely match.
FEWEST_SHARE, RARE_SIZE = 1 / 2_000, 2
# A new statement fits a key point with at least this mean score, or, if the key point's statements
# are less alike, with the score that this share of them exceeds. This share needs at least five.
FITS, NEARER, FEWEST_BEHIND = 0.4, 0.9, 5


def find_points(
    texts: Sequence[str],
    tools: AnalysisTools,
    *,
    counts: Sequence[int] = (),
    cutoff: float | None = None,
) -> ClusteringResult:
    """Return the key points of distinct statements on one topic.

    ``counts`` are the frequencies of the statements. ``cutoff`` is the minimum score for grouping
    statements; the default depends on the encoder.
    """
    if cutoff is None:
        own = CUTOFFS.get(tools.encoder_name, GroupingCutoffs(USUAL, USUAL_WITH_SIDES))
        cutoff = own.of(tells_sides=tools.tells_sides)
    if not texts:
        return ClusteringResult((), (), (), (), cutoff)
    tools.say(0.0, "reading the statements", READ)
    vectors = np.asarray(tools.vectors(texts), dtype=np.float32)
    sides = sides_of(vectors, tools)
    about = np.flatnonzero(~tools.filler(texts))
    if not len(about):
        nowhere = (NONE,) * len(texts), (0.0,) * len(texts), (False,) * len(texts)
        return ClusteringResult((), *nowhere, cutoff)
    # The last two coordinates encode the side.
    plain = vectors[:, :-2] if tools.tells_sides else vectors
    vectors = centred(vectors, vectors[about].mean(axis=0))
    tools.say(READ, "grouping them")
    ids = np.full(len(texts), NONE)
    ids[about] = _grouped(vectors[about], cutoff, tools.sure_from)
    statements = StatementVectors(texts, vectors, sides, plain)
    return _found(statements, ids, counts, tools, cutoff)


@dataclass(frozen=True)
class StatementVectors:
    """Texts of n statements, their vectors, shape (n, d), and sides: -1, 1, or 0 if unknown.

    ``plain`` are the original vectors, without side coordinates.
    """

    texts: Sequence[str]
    vectors: Scores
    sides: Scores
    plain: Scores


def sides_of(vectors: Scores, tools: AnalysisTools) -> Scores:
    """Return the sides encoded in vectors; see `cqa_site.judging.embedding.SideClassifier`."""
    if not tools.tells_sides:
        return np.zeros(len(vectors), dtype=np.float32)
    sides: Scores = np.sign(vectors[:, -2])
    return sides


def _grouped(vectors: Scores, cutoff: float, sure_from: float | None) -> IntArray:
    """Return the group of each statement, or -1."""
    rows = _sample(len(vectors))
    turned = likeness_map(vectors[rows])
    space = mixed_vectors(vectors[rows], turned, WEIGHT)
    ids = refined(vectors[rows], group_at(space, cutoff))
    if len(rows) < len(vectors):
        ids = spread(mixed_vectors(vectors, turned, WEIGHT), ids, rows, cutoff)
        ids = refined(vectors, ids.tolist())
    least = max(MIN_SIZE, math.ceil(FEWEST_SHARE * len(vectors)))
    ids = without_small(ids, least)
    if least == MIN_SIZE and sure_from is not None:
        _add_rare(vectors, ids, sure_from)
    _fit_others(vectors, ids)
    return ids


def _add_rare(vectors: Scores, ids: IntArray, sure_from: float) -> None:
    """Form rare key points from remaining statements if two or more clearly say the same thing."""
    left = np.flatnonzero(ids == NONE)
    if len(left) < RARE_SIZE:
        return
    match = vectors[left] @ vectors[left].T
    groups = np.array(merge_clusters(match, [sure_from], min_size=RARE_SIZE)[sure_from])
    ids[left] = np.where(groups == NONE, NONE, groups + ids.max(initial=NONE) + 1)


def _fit_others(vectors: Scores, ids: IntArray) -> None:
    """Add ungrouped statements to a key point that they fit (see `FITS`)."""
    k = int(ids.max(initial=NONE)) + 1
    left = np.flatnonzero(ids == NONE)
    if not k or not len(left):
        return
    means, _sizes = group_means(vectors, ids, k)
    least = [_least(vectors[np.flatnonzero(ids == place)]) for place in range(k)]
    placed, _scores = _fitting(vectors[left], means, least)
    ids[left] = placed


def _fitting(new: Scores, means: Scores, least: Sequence[float]) -> tuple[IntArray, Scores]:
    """Return each statement's best-fitting key point with its score, or -1 with the best score."""
    match = new @ means.T
    fits = np.where(match >= np.array(least), match, -np.inf)
    placed = np.where(np.isfinite(fits.max(axis=1)), fits.argmax(axis=1), NONE)
    columns = np.where(placed == NONE, match.argmax(axis=1), placed)
    scores: Scores = match[np.arange(len(new)), columns]
    return placed, scores


def _sample(n: int) -> IntArray:
    """Return the sorted positions of the statements to compare with each other."""
    if n <= MOST_COMPARED:
        return np.arange(n)
    return np.sort(np.random.default_rng(1).permutation(n)[:MOST_COMPARED])


def _found(
    statements: StatementVectors,
    ids: IntArray,
    counts: Sequence[int],
    tools: AnalysisTools,
    cutoff: float,
) -> ClusteringResult:
    """Return groups and their representative statements, most comments first."""
    texts, vectors, sides = statements.texts, statements.vectors, statements.sides
    weights = np.asarray(counts if len(counts) else [1] * len(texts))
    groups = [np.flatnonzero(ids == place) for place in range(int(ids.max(initial=NONE)) + 1)]
    groups.sort(key=lambda rows: (-int(weights[rows].sum()), int(rows[0])))
    placed = np.full(len(texts), NONE, dtype=np.int64)
    scores = np.zeros(len(texts), dtype=np.float32)
    sure = np.zeros(len(texts), dtype=bool)
    known = KnownWords(texts)
    points = []
    for place, rows in enumerate(groups):
        share = GROUPED + (1 - GROUPED) * place / len(groups)
        tools.say(share, f"choosing the key point of group {place + 1} of {len(groups)}")
        best = _stands_for(texts, vectors, rows, tools, known)
        points.append(as_sentence(texts[best]))
        placed[rows] = place
        scores[rows] = vectors[rows] @ vectors[best]
        sure[rows] = is_sure(scores[rows], sides[rows] * sides[best], tools)
    numbers = tuple(placed.tolist()), tuple(scores.tolist()), tuple(sure.tolist())
    themes = theme_groups(statements.plain, placed, len(points))
    names = theme_names(texts, placed.tolist(), points, themes, language_of(texts))
    return ClusteringResult(
        tuple(points),
        *numbers,
        cutoff,
        themes=tuple(names[theme] for theme in themes),
        distinct=tuple(distinctness(vectors, placed, len(points))),
    )


def is_sure(scores: Scores, same_side: Scores, tools: AnalysisTools) -> NDArray[np.bool_]:
    """Return which placements are sure. ``same_side`` is negative for opposite sides."""
    if tools.sure_from is None:
        return np.zeros(scores.shape, dtype=bool)
    # Rounded, because a text's score with itself is 1 except for rounding errors.
    sure: NDArray[np.bool_] = (scores.round(6) >= tools.sure_from) & (same_side >= 0)
    return sure


def _stands_for(
    texts: Sequence[str], vectors: Scores, rows: IntArray, tools: AnalysisTools, known: KnownWords
) -> int:
    """Return the position of the best-written of the most central statements of a group."""
    central = vectors[rows] @ vectors[rows].mean(axis=0)
    candidates = min(MOST_CANDIDATES, max(FEWEST_CANDIDATES, int(CENTRAL * len(rows))))
    near = np.argsort(-central, kind="stable")[:candidates]
    some = [texts[row] for row in rows[near]]
    best = best_put(some, central[near].tolist(), tools.quality(some).tolist(), known)
    return int(rows[near[best]])


def place_new(
    texts: Sequence[str],
    points: Sequence[str],
    behind: Sequence[Sequence[str]],
    tools: AnalysisTools,
) -> tuple[list[int], list[float], list[bool]]:
    """Return the key points of new statements (-1 for none), the scores, and which are sure.

    A statement fits a key point if it matches the key point's statements well enough on average
    (see `FITS`). The placement is sure if the statement also matches the text of the key point, as
    in `find_points`.

    ``points`` are the current texts of key points. ``behind`` are at most about a hundred
    statements of each key point, which represent its meaning if its text was changed.
    """
    if not texts or not points:
        return [NONE] * len(texts), [0.0] * len(texts), [False] * len(texts)
    new, named = (np.asarray(tools.vectors(part), dtype=np.float32) for part in (texts, points))
    new_sides, point_sides = sides_of(new, tools), sides_of(named, tools)
    known = [
        np.asarray(tools.vectors(list(own) or [point]), dtype=np.float32)
        for point, own in zip(points, behind, strict=True)
    ]
    middle = np.concatenate(known).mean(axis=0)
    known = [centred(held, middle) for held in known]
    means = np.stack([held.mean(axis=0) for held in known])
    new, named = centred(new, middle), centred(named, middle)
    placed, scores = _fitting(new, means, [_least(held) for held in known])
    placed[tools.filler(texts)] = NONE
    with_text = np.einsum("nd,nd->n", new, named[placed])
    sure = is_sure(with_text, new_sides * point_sides[placed], tools) & (placed != NONE)
    return placed.tolist(), scores.tolist(), sure.tolist()


def nearest_points(texts: Sequence[str], points: Sequence[str], tools: AnalysisTools) -> list[int]:
    """Return the position of the key point nearest to each text, regardless of stance."""
    if not texts or not points:
        return []
    new, known = (np.asarray(tools.vectors(part), dtype=np.float32) for part in (texts, points))
    if tools.tells_sides:
        new, known = new[:, :-2], known[:, :-2]
    known = known / np.maximum(np.linalg.norm(known, axis=1, keepdims=True), 1e-9)
    nearest: list[int] = (new @ known.T).argmax(axis=1).tolist()
    return nearest


def _least(held: Scores) -> float:
    """Return the minimum mean score that a text needs with the statements in ``held`` to fit."""
    if len(held) < FEWEST_BEHIND:
        return FITS
    held = held[:: max(1, len(held) // MOST_BEHIND)]
    among = held @ held.sum(axis=0) - np.einsum("nd,nd->n", held, held)
    return min(FITS, float(np.quantile(among / (len(held) - 1), 1 - NEARER)))

"""A classifier of ordinal relevance, trained on final labels by regression."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from annotation.judges.methods.features import RelevanceFeatures
from annotation.judges.methods.probabilities import (
    log_loss,
    median_label,
    sharpen,
    shrink,
    softmax,
)
from cqa_site.stats.arrays import FloatArray, IntArray

# Multinomial logistic regression on the principal components of one block of features.
#
# Scaling, components and regression are all linear, so the fitted model is one matrix.

# Score of a level without labels in the training part.
_NEVER = -30.0


@dataclass(frozen=True, eq=False)
class LinearMember:
    """Linear model: scores are ``block @ weights + offsets``, and probabilities are their softmax.

    Attributes
    ----------
    weights : float array, shape (d, k)
    offsets : float array, shape (k,)
    """

    weights: FloatArray
    offsets: FloatArray

    def predict_proba(self, block: NDArray[np.floating]) -> FloatArray:
        """Return probabilities, shape (n, k), for features of shape (n, d)."""
        return softmax(np.asarray(block @ self.weights, dtype=np.float64) + self.offsets)


@dataclass(frozen=True, eq=False)
class Components:
    """A block of features, shape (n, d), projected to its m strongest components.

    Attributes
    ----------
    values : float array, shape (n, m)
    centre : float array, shape (d,); the mean of each feature
    basis : float array, shape (d, m); ``(block - centre) @ basis`` gives `values`
    """

    values: FloatArray
    centre: FloatArray
    basis: FloatArray


def find_components(block: NDArray[np.floating], at_most: int) -> Components:
    """Scale every feature to variance 1/d, and keep the strongest directions.

    Labels are not used. If all directions are kept, this is a rotation, which does not change a
    regression with a ridge penalty.
    """
    block = np.asarray(block, dtype=np.float64)
    centre, spread = block.mean(axis=0), block.std(axis=0)
    # Constant features are uninformative; scaling must not inflate their rounding errors.
    scale = np.where(spread > 1e-9, spread, np.inf) * np.sqrt(block.shape[1])
    scaled = (block - centre) / scale
    directions = _strongest_directions(scaled, at_most)
    return Components(scaled @ directions, centre, directions / scale[:, None])


def fit_member(
    components: Components, rows: IntArray, codes: IntArray, n_levels: int, inverse_penalty: float
) -> LinearMember:
    """Fit a regression to the selected rows.

    Parameters
    ----------
    components
        Components of all rows.
    rows
        Positions of the rows to learn from.
    codes
        Position of each row's label on the scale, for all rows of `components`.
    n_levels
        k; levels without labels among the rows get practically no probability.
    inverse_penalty
        scikit-learn's ``C`` for features whose variances sum to about 1.
    """
    seen = np.unique(codes[rows])
    inner = np.zeros((components.values.shape[1], n_levels))
    offsets = np.full(n_levels, _NEVER)
    offsets[seen] = 0.0
    if len(seen) > 1:
        inner[:, seen], offsets[seen] = _regress(
            components.values[rows], codes[rows], inverse_penalty
        )
    weights = components.basis @ inner
    return LinearMember(weights, offsets - components.centre @ weights)


def _regress(
    values: FloatArray, codes: IntArray, inverse_penalty: float
) -> tuple[FloatArray, FloatArray]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=inverse_penalty, max_iter=2000).fit(values, codes)
    if len(model.classes_) > 2:
        return model.coef_.T, model.intercept_
    # For two classes, scikit-learn only returns the score of the second.
    return np.vstack([-model.coef_, model.coef_]).T / 2, np.array([-1, 1]) * model.intercept_ / 2


def _strongest_directions(scaled: FloatArray, at_most: int) -> FloatArray:
    """Return orthonormal columns, shape (d, m), strongest first; m is limited by rank."""
    from scipy.linalg import eigh

    n, d = scaled.shape
    is_wide = d > n
    gram = scaled @ scaled.T if is_wide else scaled.T @ scaled
    last = len(gram) - 1
    strengths, directions = eigh(gram, subset_by_index=[max(0, last + 1 - at_most), last])
    mask = strengths > strengths[-1] * 1e-10
    mask[-1] = True  # constant features still get one (empty) direction
    strengths, directions = strengths[mask][::-1], directions[:, mask][:, ::-1]
    return np.asarray(
        (scaled.T @ directions) / np.sqrt(np.maximum(strengths, 1e-12)) if is_wide else directions
    )


# Classifier of ordinal relevance
#
# The classifier consists of logistic regressions, one per block of `features` (lexical; mention
# vectors). Their probabilities are averaged with a weight, sharpened or softened by a temperature,
# and shrunk slightly. The weight and the temperature are chosen on folds within the training part.
# The predicted label is the median of the probabilities, which respects the order of the levels
# and minimises the expected absolute error.
#
# All learned parts are linear, so a fitted model is a few small matrices. Prediction needs only
# numpy, and storage needs no pickle.
#
# Measured on the 1,688 distinct text units of the relevance paper's release with all-MiniLM-L6-v2,
# 10 folds grouped by pair, fold seeds 0-7, mean (standard deviation over the seeds). The design
# was chosen on the same units, but with other fold seeds. tests/golden/test_trained_judge.py
# checks the first two rows.
#
# ==================  =============  ==============  ===========  ========
# features            ordinal alpha  interval alpha  exact match  log loss
# ==================  =============  ==============  ===========  ========
# lexical             .498 (.006)    .495 (.005)     .624 (.003)  .942
# lexical + mentions  .553 (.003)    .538 (.003)     .659 (.003)  .895
# mentions            .560 (.005)    .544 (.005)     .663 (.003)  .895
# ==================  =============  ==============  ===========  ========
#
# With this amount of data, the lexical block adds no agreement to the vectors; it serves as the
# fallback without an embedder. Leaving out training sentences whose text also occurs in the test
# fold changes little (.554 / .539 / .660, seeds 0-2).
#
# When trained on n labels from the other folds and tested on a fifth of the pairs (mean of three
# draws), lexical + mentions has an ordinal alpha of .27 at n = 50, .43 at 100, .46 at 200, .54 at
# 400, and .56 at 800. The untrained rule has .475 on all units, so it is better below about 300
# labels.

Progress = Callable[[int, int], None]

MIN_LABELS, MIN_CLASSES, MIN_GROUPS = 30, 2, 5
# The matrices are so small that a second thread of linear algebra costs more than it saves.
THREADS = 1
LEXICAL, MENTIONS = "lexical", "mentions"
# The same settings for every study, chosen on folds with seeds 100 and 101, where the ordinal
# alpha of the mention member varied by .011 between 0.6 and 2.5.
INVERSE_PENALTY = {LEXICAL: 0.3, MENTIONS: 0.8}
MAX_COMPONENTS = {LEXICAL: 1000, MENTIONS: 128}
MENTION_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
TEMPERATURES = tuple(float(value) for value in np.geomspace(0.5, 2.0, 25))
INNER_FOLDS = 5


class TooFewLabelsError(ValueError):
    """There is too little data for training; the message states what is missing."""


class OtherFeaturesError(ValueError):
    """The features differ from those used in training."""


@dataclass(frozen=True, eq=False)
class RelevanceClassifier:
    """A fitted relevance classifier.

    Attributes
    ----------
    levels : tuple of int
        The k levels of the scale in ascending order.
    members : dict of LinearMember
        Members by block of features: "lexical" and, if vectors were available, "mentions".
    mention_weight : float
        Weight of the mention member in the average, 0 to 1.
    temperature : float
        Divisor of the averaged logarithms; values above 1 soften the probabilities.
    embedding_model : str
        Name of the model that made the mention vectors; empty if there are no vectors.
    n_labels, seed : int
        Number of labels and seed used for the training.
    """

    levels: tuple[int, ...]
    members: dict[str, LinearMember]
    mention_weight: float
    temperature: float
    embedding_model: str
    n_labels: int
    seed: int

    @property
    def uses_embeddings(self) -> bool:
        """Whether embeddings are used; False for a model based on words and positions only."""
        return MENTIONS in self.members

    def predict_proba(self, features: RelevanceFeatures) -> FloatArray:
        """Return the probability of each level, shape (n, k); rows sum to 1, all above 0.

        Raises
        ------
        OtherFeaturesError
            If the features differ from those used in training.
        """
        self._check(features)
        parts = {
            name: member.predict_proba(_block(features, name))
            for name, member in self.members.items()
        }
        mixed = _mix(parts, self.mention_weight)
        return shrink(sharpen(mixed, self.temperature), self.n_labels)

    def predict(self, features: RelevanceFeatures) -> IntArray:
        """Return the median label of each row, shape (n,)."""
        return median_label(self.predict_proba(features), self.levels)

    def _check(self, features: RelevanceFeatures) -> None:
        if self.uses_embeddings and features.embedding_model != self.embedding_model:
            raise OtherFeaturesError(
                f"This judge was trained with the embeddings of {self.embedding_model}; "
                f"these features have {features.embedding_model or 'none'}."
            )
        for name, member in self.members.items():
            if _block(features, name).shape[1] != len(member.weights):
                raise OtherFeaturesError(
                    "This judge was trained with another version of the features; train it again."
                )


def fit(
    features: RelevanceFeatures,
    labels: Sequence[int] | IntArray,
    groups: Sequence[Hashable],
    *,
    levels: Sequence[int] = (0, 1, 2, 3),
    seed: int = 0,
) -> RelevanceClassifier:
    """Train on labelled sentences.

    Parameters
    ----------
    features
        n rows.
    labels
        n final labels, all in `levels`. Levels without labels are allowed, but they get a small
        probability and are practically never predicted.
    groups
        n keys; rows with the same key (see `pair_key`) are always in the same fold.
    levels
        The scale in ascending order, 2 to 10 whole numbers.
    seed
        Seed of the inner folds; the same input and seed give the same model.

    Raises
    ------
    TooFewLabelsError
        If there are fewer than 30 labels, 2 different labels or 5 groups.
    ValueError
        If lengths differ, the scale is not valid, or a label is not on the scale.
    """
    codes, group_codes = _checked(features, labels, groups, levels)
    with threadpool_limits(THREADS):
        return _train(features, codes, group_codes, tuple(int(level) for level in levels), seed)


def grouped_out_of_fold(
    features: RelevanceFeatures,
    labels: Sequence[int] | IntArray,
    groups: Sequence[Hashable],
    *,
    levels: Sequence[int] = (0, 1, 2, 3),
    n_folds: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> FloatArray:
    """Return each row's probabilities from a model trained without its group.

    Weight and temperature are chosen within the training part of each fold, so the label of a row
    never affects its own prediction.

    Parameters
    ----------
    features, labels, groups, levels, seed
        As for `fit`.
    n_folds
        Number of folds, limited to the number of groups.
    progress
        Called with (done, total) after each fold; raises an exception to stop.

    Returns
    -------
    float array, shape (n, k)

    Raises
    ------
    TooFewLabelsError, ValueError
        As for `fit`.
    """
    codes, group_codes = _checked(features, labels, groups, levels)
    scale = tuple(int(level) for level in levels)
    folds = grouped_folds(group_codes, n_folds, seed)
    probabilities = np.zeros((len(codes), len(levels)))
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        with threadpool_limits(THREADS):
            model = _train(features.take(train), codes[train], group_codes[train], scale, seed)
        probabilities[test] = model.predict_proba(features.take(test))
        if progress is not None:
            progress(fold + 1, n_folds)
    return probabilities


def grouped_folds(groups: Sequence[Hashable] | IntArray, n_folds: int, seed: int) -> IntArray:
    """Return each row's fold, shape (n,); groups stay whole, and folds have similar sizes.

    Groups are assigned to the smallest fold so far, largest group first; groups of equal size
    are in random order. There are at most as many folds as groups.
    """
    names = list(dict.fromkeys(groups))
    place = {name: code for code, name in enumerate(names)}
    codes = np.array([place[name] for name in groups], dtype=np.int64)
    sizes = np.bincount(codes, minlength=len(names))
    random = np.random.default_rng(seed)
    shuffled = random.permutation(len(names))
    fold_of = np.zeros(len(names), dtype=np.int64)
    filled = np.zeros(max(1, min(n_folds, len(names))), dtype=np.int64)
    for group in sorted(shuffled, key=lambda code: -int(sizes[code])):
        fold = random.choice(np.flatnonzero(filled == filled.min()))
        fold_of[group] = fold
        filled[fold] += sizes[group]
    return fold_of[codes]


def _train(
    features: RelevanceFeatures,
    codes: IntArray,
    groups: IntArray,
    levels: tuple[int, ...],
    seed: int,
) -> RelevanceClassifier:
    """Fit to all rows; weight and temperature are chosen on folds within them."""
    k, everything = len(levels), np.arange(len(codes))
    names = [LEXICAL] if features.mentions is None else [LEXICAL, MENTIONS]
    folds = grouped_folds(groups.tolist(), INNER_FOLDS, seed)
    members, held_out = {}, {}
    for name in names:
        block = _block(features, name)
        # Computed once for all rows, because the components do not use labels.
        components = find_components(block, MAX_COMPONENTS[name])
        penalty = INVERSE_PENALTY[name]
        members[name] = fit_member(components, everything, codes, k, penalty)
        held_out[name] = np.zeros((len(codes), k))
        for fold in range(int(folds.max()) + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            member = fit_member(components, train, codes, k, penalty)
            held_out[name][test] = member.predict_proba(block[test])
    weight, temperature = _calibrate(held_out, codes)
    return RelevanceClassifier(
        levels, members, weight, temperature, features.embedding_model, len(codes), seed
    )


def _calibrate(parts: dict[str, FloatArray], codes: IntArray) -> tuple[float, float]:
    """Return the weight and temperature with the smallest log loss on held-out rows."""
    weights = MENTION_WEIGHTS if MENTIONS in parts else (0.0,)
    losses = [log_loss(shrink(_mix(parts, weight), len(codes)), codes) for weight in weights]
    weight = weights[int(np.argmin(losses))]
    mixed = _mix(parts, weight)
    losses = [
        log_loss(shrink(sharpen(mixed, temperature), len(codes)), codes)
        for temperature in TEMPERATURES
    ]
    return weight, TEMPERATURES[int(np.argmin(losses))]


def _mix(parts: dict[str, FloatArray], mention_weight: float) -> FloatArray:
    if MENTIONS not in parts:
        return parts[LEXICAL]
    return (1 - mention_weight) * parts[LEXICAL] + mention_weight * parts[MENTIONS]


def _block(features: RelevanceFeatures, name: str) -> NDArray[np.floating]:
    if name == LEXICAL or features.mentions is None:
        return features.lexical
    return features.mentions


def _checked(
    features: RelevanceFeatures,
    labels: Sequence[int] | IntArray,
    groups: Sequence[Hashable],
    levels: Sequence[int],
) -> tuple[IntArray, IntArray]:
    scale = np.asarray(levels)
    if not 2 <= len(scale) <= 10 or not (np.diff(scale) > 0).all():
        raise ValueError("a scale has 2 to 10 levels in ascending order")
    values = np.asarray(labels)
    if not len(values) == len(groups) == len(features):
        raise ValueError("features, labels and groups must have the same length")
    if not np.isin(values, scale).all():
        raise ValueError("a label is not one of the levels of the scale")
    names = {name: code for code, name in enumerate(dict.fromkeys(groups))}
    _refuse_too_few(len(values), len(np.unique(values)), len(names))
    codes = np.searchsorted(scale, values).astype(np.int64)
    return codes, np.array([names[name] for name in groups], dtype=np.int64)


def _refuse_too_few(n_labels: int, n_classes: int, n_groups: int) -> None:
    for count, wanted, what in (
        (n_labels, MIN_LABELS, "labelled items"),
        (n_classes, MIN_CLASSES, "different labels"),
        (n_groups, MIN_GROUPS, "different pairs of objects"),
    ):
        if count < wanted:
            raise TooFewLabelsError(f"Training needs at least {wanted} {what}; there are {count}.")

"""What a batch of one cell costs: cross-entropy on scaled cosines, and a contrastive part."""

from __future__ import annotations

from typing import Any

from argsum.scorers.methods.training_cells import (
    MATCH,
    NO_MATCH,
    UNDECIDED,
    Labels,
    shared_key_points,
)
from argsum.scorers.methods.training_recipe import Recipe

# Stands for "not compared" among logits.
NEVER = -1e4


def batch_loss(cosines: Any, labels: Labels, recipe: Recipe, middle: Any) -> Any:
    """The loss of one batch.

    Parameters
    ----------
    cosines : tensor, shape (n + k, n + k)
        Of n arguments, then all k key points.
    labels : shape (n, k)
        See `argsum.scorers.methods.training_cells.TrainingCell`.
    recipe
        Scale, contrast and temperature are read.
    middle
        The cosine at which a match is as likely as not; learned.
    """
    import torch

    n = len(labels)
    same, other = (torch.from_numpy(each) for each in shared_key_points(labels))
    matched, unmatched = torch.from_numpy(labels == MATCH), torch.from_numpy(labels == NO_MATCH)
    loss = 0.0 * middle
    if recipe.entropy:
        logits = recipe.scale * (cosines - middle)
        both = _balanced(logits[:n, n:], matched, unmatched)
        both = both + _balanced(logits[:n, :n], same, other)
        loss = loss + recipe.entropy * both
    if recipe.contrast:
        known = torch.from_numpy(labels != UNDECIDED)
        positive = _both_ways(same, matched)
        allowed = _both_ways(same | other, known)
        loss = loss + recipe.contrast * _contrast(cosines / recipe.temperature, positive, allowed)
    return loss


def _balanced(logits: Any, positive: Any, negative: Any) -> Any:
    """Cross-entropy, half of it from pairs that match and half from others."""
    from torch.nn.functional import softplus

    loss = 0.0 * logits.sum()
    if positive.any():
        loss = loss + softplus(-logits[positive]).mean() / 2
    if negative.any():
        loss = loss + softplus(logits[negative]).mean() / 2
    return loss


def _contrast(logits: Any, positive: Any, allowed: Any) -> Any:
    """Each text should find those that match it among all it may be compared with."""
    import torch

    rows = positive.any(dim=1)
    if not rows.any():
        return 0.0 * logits.sum()
    masked = logits.masked_fill(~allowed, NEVER)[rows]
    shares = masked - torch.logsumexp(masked, dim=1, keepdim=True)
    hits = positive[rows]
    return -((shares * hits).sum(dim=1) / hits.sum(dim=1)).mean()


def _both_ways(arguments: Any, against: Any) -> Any:
    """Pairs of all texts from pairs above the diagonal and argument–key point pairs."""
    import torch

    n, k = against.shape
    found = torch.zeros(n + k, n + k, dtype=torch.bool)
    found[:n, :n], found[:n, n:] = arguments, against
    return found | found.T

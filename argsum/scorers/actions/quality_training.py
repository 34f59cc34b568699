"""Train a quality scorer: ridge regression on sentence vectors, penalty chosen on dev."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from argsum.scorers.methods.card import quality_card
from argsum.scorers.methods.ridge import best_penalty, fit_ridge
from argsum.scorers.models import Scorer

from .match_training import put_in_place
from .models import BiEncoder, resolve, trained_folder, weights_hash
from .training_data import DEV, TRAIN, Rated, require_rated

Say = Callable[[int, int, str], None]


def train_quality(scorer: Scorer, rated: dict[str, Rated], say: Say) -> dict[str, Any]:
    """Train; returns what the row of the scorer keeps. Weights lie in its folder afterwards.

    Raises ScorerRefused without enough arguments, EmbeddingsUnavailable without the model.
    """
    require_rated(rated)
    begun, cpu = time.monotonic(), time.process_time()
    source = resolve(scorer.base_model)
    embedding = BiEncoder(source, weights_hash(source))
    known = {}
    for done, (split, each) in enumerate(rated.items()):
        say(done, len(rated) + 1, f"reading {split}")
        known[split] = (embedding.vectors(each.texts), np.array(each.values))
    penalty = best_penalty(known[TRAIN], known[DEV])
    weights, bias = fit_ridge(*known[TRAIN], penalty)
    figures: dict[str, Any] = {
        split: _figures(vectors @ weights + bias, values)
        for split, (vectors, values) in known.items()
        if split
    }
    figures |= {
        "penalty": penalty,
        "seconds": round(time.monotonic() - begun, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    trained_on = scorer.trained_on.name if scorer.trained_on else ""
    card = quality_card(
        scorer.name, figures, {"base": scorer.base_model, "trained_on": trained_on}
    )
    folder = trained_folder(scorer)

    def save(place: Path) -> None:
        content = io.BytesIO()
        np.savez(content, weights=weights, bias=np.array(bias))
        (place / "regressor.npz").write_bytes(content.getvalue())

    return {
        "folder": folder.name,
        "sha256": put_in_place(folder, save, card),
        "recipe": {"penalty": penalty},
        "figures": figures,
        "card": card,
    }


def _figures(said: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Pearson correlation, Spearman correlation and mean absolute error, with n."""
    from scipy.stats import pearsonr, spearmanr

    # Without variance on either side there is no correlation to speak of.
    is_defined = len(known) > 1 and np.ptp(said) > 0 and np.ptp(known) > 0
    return {
        "n": len(known),
        "pearson": float(pearsonr(said, known).statistic) if is_defined else None,
        "spearman": float(spearmanr(said, known).statistic) if is_defined else None,
        "absolute_error": float(np.abs(said - known).mean()),
    }

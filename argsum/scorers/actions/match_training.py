"""Train a match scorer, choose its thresholds on dev, and write its weights and card."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from argsum.scorers.methods.card import match_card
from argsum.scorers.methods.figures import ScoredCell, accuracy, cluster_cells
from argsum.scorers.methods.pair_ranking import same_point_precision
from argsum.scorers.methods.training_recipe import Recipe
from argsum.scorers.models import Scorer
from argsum.systems.methods.scoring import Scores

from .judging import chosen_on_dev, scored_cells, split_figures
from .models import checkpoint_of, resolve, trained_folder, weights_hash
from .training_data import DEV, TEST, TRAIN, Splits

if TYPE_CHECKING:
    from .training_torch import Progress

Say = Callable[[int, int, str], None]
Encode = Callable[[Sequence[str]], Scores]
CARD = "MODEL_CARD.md"


def train_match(scorer: Scorer, cells: Splits, recipe: Recipe, say: Say) -> dict[str, Any]:
    """Train; returns what the row of the scorer keeps. Weights lie in its folder afterwards.

    Raises EmbeddingsUnavailable if the base model cannot be loaded.
    """
    from .training_average import AveragedTraining

    begun, cpu = time.monotonic(), time.process_time()
    folder = trained_folder(scorer)
    averaged = AveragedTraining(
        resolve(scorer.base_model),
        cells[TRAIN],
        recipe,
        lambda encode: look_at_dev(cells, encode, recipe),
        checkpoint_of(scorer),
    )
    training = averaged.run(say)
    say(averaged.total, averaged.total, "judging")
    dev = scored_cells(cells[DEV], training.encode, uses_topic=recipe.uses_topic)
    chosen = chosen_on_dev(dev)
    figures: dict[str, Any] = {"chosen": chosen, "dev": split_figures(dev, chosen)}
    if test := cells.get(TEST):
        scored = scored_cells(test, training.encode, uses_topic=recipe.uses_topic)
        figures["test"] = split_figures(scored, chosen)
    figures |= _course(averaged.members, recipe)
    figures |= {
        "averaged_precision": pair_precision(dev),
        "seconds": round(time.monotonic() - begun, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    facts = {
        "base": scorer.base_model,
        "trained_on": scorer.trained_on.name if scorer.trained_on else "",
        "recipe": recipe.as_dict(),
    }
    card = match_card(scorer.name, figures, facts)
    sha256 = put_in_place(folder, training.save, card)
    return {
        "folder": folder.name,
        "sha256": sha256,
        "threshold": chosen["threshold"],
        "figures": figures,
        "card": card,
    }


def look_at_dev(cells: Splits, encode: Encode, recipe: Recipe) -> tuple[dict[str, Any], float]:
    """Figures of the dev split, and the one that chooses: average precision of pairs, by cells.

    The adjusted Rand index of a handful of cells moves by chance from one look to the next; how
    well pairs of arguments are ranked does not.
    """
    dev = scored_cells(cells[DEV], encode, uses_topic=recipe.uses_topic)
    excluding, including = cluster_cells(dev).oracle()
    figures = {
        "excluding": excluding.mean,
        "cells_clustered": excluding.n,
        "including": including.mean,
        "accuracy": accuracy(dev),
    }
    return figures, pair_precision(dev)


def pair_precision(cells: Sequence[ScoredCell]) -> float:
    """Average precision of argument pairs that share a key point, mean over cells."""
    found = (same_point_precision(cell.match, cell.reference) for cell in cells)
    precisions = [each for each in found if each is not None]
    return float(np.mean(precisions)) if precisions else 0.0


def put_in_place(folder: Path, save: Callable[[Path], None], card: str) -> str:
    """Write a folder of weights beside its place, then rename it; returns the weights' hash."""
    unfinished = folder.with_name(f"{folder.name}-{uuid4().hex}.part")
    unfinished.mkdir(mode=0o700, parents=True)
    try:
        save(unfinished)
        (unfinished / CARD).write_text(card, encoding="utf-8")
        sha256 = weights_hash(str(unfinished))
        # A job that was taken over may have finished before: its weights are the same.
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return sha256


def _course(members: Sequence[Progress], recipe: Recipe) -> dict[str, Any]:
    """Looks at dev and losses of all members; steps are counted on from one to the next."""
    looks: list[dict[str, Any]] = []
    chosen = []
    for number, each in enumerate(members):
        chosen.append(len(looks) + each.best_look)
        before = number * recipe.steps
        looks += [look | {"step": look["step"] + before, "member": number} for look in each.looks]
    return {
        "looks": looks,
        "chosen_looks": chosen,
        "losses": thinned([loss for each in members for loss in each.losses]),
        "steps": sum(each.step for each in members),
    }


def thinned(losses: Sequence[float], most: int = 100) -> list[dict[str, float]]:
    """Means of the losses over equal stretches, with the step at which each ends."""
    parts = np.array_split(np.array(losses), min(most, len(losses))) if losses else []
    ends = np.cumsum([len(part) for part in parts])
    return [
        {"step": int(end), "loss": round(float(part.mean()), 4)}
        for end, part in zip(ends, parts, strict=True)
    ]

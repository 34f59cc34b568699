"""Train a match scorer, a quality scorer or a writer, and write its weights and card."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from argsum.scorers.methods.card import match_card, quality_card, writer_card
from argsum.scorers.methods.training import ScorerRecipe, WritingRecipe, best_penalty, fit_ridge
from argsum.scorers.models import Scorer
from cqa_site.judging.training import Say, TrainingProgress, alone
from .models import BiEncoder, checkpoint_of, resolve, trained_folder, weights_hash
from .torch_training import WriterTraining, train_members
from .training_data import (
    DEV,
    TEST,
    TRAIN,
    Examples,
    Rated,
    Splits,
    chosen_on_dev,
    pair_precision,
    scored_cells,
    split_figures,
)

CARD = "MODEL_CARD.md"
# Functions that write weights to a folder, and a card from the name, the figures and the facts.
Save = Callable[[Path], object]
WriteCard = Callable[[str, dict[str, Any], dict[str, Any]], str]
# Fields of the row, and the functions that write weights and card.
Trained = tuple[dict[str, Any], Save, WriteCard]


def train(scorer: Scorer, data: Any, say: Say) -> dict[str, Any]:
    """Train on data from `training_data.data_of`, and return the fields to store.

    The weights are written to the scorer's folder. Raises EmbeddingsUnavailable if the base model
    cannot be loaded.
    """
    started = (time.monotonic(), time.process_time())
    fields, save, write_card = TRAINERS[scorer.task](scorer, data, say)
    fields["figures"] |= {
        "seconds": round(time.monotonic() - started[0], 1),
        "cpu_seconds": round(time.process_time() - started[1], 1),
    }
    facts = {
        "base": scorer.base_model,
        "trained_on": scorer.trained_on.name if scorer.trained_on else "",
        "recipe": fields["recipe"],
    }
    card = write_card(scorer.name, fields["figures"], facts)
    folder = trained_folder(scorer)
    sha256 = _put_in_place(folder, save, card)
    return {"folder": folder.name, "sha256": sha256, "card": card, **fields}


def _match(scorer: Scorer, cells: Splits, say: Say) -> Trained:
    """Train a match scorer and choose its thresholds on dev."""
    recipe = ScorerRecipe.stored(scorer.recipe)
    training, members = train_members(
        resolve(scorer.base_model), cells, recipe, checkpoint_of(scorer), say
    )
    total = recipe.members * recipe.steps
    say(total, total, "judging")
    scored = {
        split: scored_cells(cells[split], training.encode, uses_topic=recipe.uses_topic)
        for split in (DEV, TEST)
        if cells.get(split)
    }
    chosen = chosen_on_dev(scored[DEV])
    figures: dict[str, Any] = {split: split_figures(own, chosen) for split, own in scored.items()}
    figures |= {"chosen": chosen, "averaged_precision": pair_precision(scored[DEV])}
    figures |= _course(members, recipe)
    fields = {"recipe": asdict(recipe), "threshold": chosen["threshold"], "figures": figures}
    return fields, training.save, match_card


def _course(members: Sequence[TrainingProgress], recipe: ScorerRecipe) -> dict[str, Any]:
    """Return dev checks and losses of all members, with steps numbered consecutively."""
    looks: list[dict[str, Any]] = []
    chosen = []
    for number, member in enumerate(members):
        chosen.append(len(looks) + member.best_look)
        before = number * recipe.steps
        looks += [
            look | {"step": look["step"] + before, "member": number} for look in member.looks
        ]
    return {
        "looks": looks,
        "chosen_looks": chosen,
        "losses": _thinned([loss for progress in members for loss in progress.losses]),
        "steps": sum(progress.step for progress in members),
    }


def _thinned(losses: Sequence[float], most: int = 100) -> list[dict[str, float]]:
    """Return mean losses over equal parts of the training run, each with its last step."""
    parts = np.array_split(np.array(losses), min(most, len(losses))) if losses else []
    ends = np.cumsum([len(part) for part in parts])
    return [
        {"step": int(end), "loss": round(float(part.mean()), 4)}
        for end, part in zip(ends, parts, strict=True)
    ]


def _quality(scorer: Scorer, rated: Rated, say: Say) -> Trained:
    """Fit a ridge regression on sentence vectors; the penalty is chosen on dev."""
    source = resolve(scorer.base_model)
    embedding = BiEncoder(source, weights_hash(source))
    known = {}
    splits = [split for split in (TRAIN, DEV, TEST) if split in rated]
    for done, split in enumerate(splits):
        say(done, len(splits) + 1, f"reading {split}")
        texts, values = zip(*rated[split], strict=True)
        known[split] = (embedding.vectors(texts), np.array(values))
    penalty = best_penalty(known[TRAIN], known[DEV])
    weights, bias = fit_ridge(*known[TRAIN], penalty)
    figures: dict[str, Any] = {
        split: _errors(vectors @ weights + bias, values)
        for split, (vectors, values) in known.items()
    }

    def save(place: Path) -> None:
        content = io.BytesIO()
        np.savez(content, weights=weights, bias=np.array(bias))
        (place / "regressor.npz").write_bytes(content.getvalue())

    fields = {"recipe": {"penalty": penalty}, "figures": figures | {"penalty": penalty}}
    return fields, save, quality_card


def _errors(predictions: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Return the Pearson and Spearman correlations and the mean absolute error, with n."""
    from scipy.stats import pearsonr, spearmanr

    # A correlation is undefined if either side has no variance.
    is_defined = len(known) > 1 and np.ptp(predictions) > 0 and np.ptp(known) > 0
    return {
        "n": len(known),
        "pearson": float(pearsonr(predictions, known).statistic) if is_defined else None,
        "spearman": float(spearmanr(predictions, known).statistic) if is_defined else None,
        "absolute_error": float(np.abs(predictions - known).mean()),
    }


def _writer(scorer: Scorer, examples: Examples, say: Say) -> Trained:
    """Train a writer of key points; the epoch is chosen on dev."""
    recipe = WritingRecipe.stored(scorer.recipe)
    checkpoint = checkpoint_of(scorer) / "training.pt"
    test = examples.get(TEST, [])
    with alone(say, recipe.epochs):
        training = WriterTraining(
            resolve(scorer.base_model), examples[TRAIN], examples[DEV], recipe, checkpoint
        )
        # Unknown for a resumed training run.
        before = training.loss_on(test) if test and not checkpoint.exists() else None
        progress = training.run(say)
    say(training.steps, training.steps, "judging")
    epochs = [look["loss"] for look in progress.looks]
    figures: dict[str, Any] = {
        TRAIN: {"n": len(examples[TRAIN]), "loss": training.loss_on(examples[TRAIN])},
        DEV: {"n": len(examples[DEV]), "loss": min(epochs), "loss_before": epochs[0]},
        "epochs": epochs,
        "best_epoch": progress.best_look,
        "losses": _thinned(progress.losses),
        "steps": progress.step,
    }
    if test:
        figures[TEST] = {"n": len(test), "loss": training.loss_on(test), "loss_before": before}
    return {"recipe": asdict(recipe), "figures": figures}, training.save, writer_card


TRAINERS: dict[str, Callable[[Scorer, Any, Say], Trained]] = {
    Scorer.Task.MATCH: _match,
    Scorer.Task.QUALITY: _quality,
    Scorer.Task.WRITE: _writer,
}


def _put_in_place(folder: Path, save: Save, card: str) -> str:
    """Write the weights and card to a temporary folder, rename it, and return the hash."""
    unfinished = folder.with_name(f"{folder.name}-{uuid4().hex}.part")
    unfinished.mkdir(mode=0o700, parents=True)
    try:
        save(unfinished)
        (unfinished / CARD).write_text(card, encoding="utf-8")
        sha256 = weights_hash(str(unfinished))
        # A duplicate job may already have finished with the same weights.
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return sha256

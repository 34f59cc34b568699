"""Train a match scorer, a quality scorer or a writer, with weights and card."""

from __future__ import annotations

import io
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from argsum.scorers.methods.card import match_card, quality_card, writer_card
from argsum.scorers.methods.figures import (
    ScoredCell,
    accuracy,
    cluster_cells,
    same_point_precision,
)
from argsum.scorers.methods.training import (
    ScorerRecipe,
    TrainingCell,
    WritingRecipe,
    best_penalty,
    fit_ridge,
)
from argsum.scorers.models import Scorer
from argsum.systems.methods.inputs import Scores

from .encoder_training import Check, EncoderProgress, MatchTraining, load, read, write
from .models import BiEncoder, checkpoint_of, resolve, trained_folder, weights_hash
from .seq2seq_training import Examples, require_examples
from .training_data import (
    DEV,
    TEST,
    TRAIN,
    RatedArguments,
    Splits,
    chosen_on_dev,
    require_rated,
    scored_cells,
    split_figures,
)

# Train a match scorer, choose its thresholds on dev, and write its weights and card.


Say = Callable[[int, int, str], None]
Encode = Callable[[Sequence[str]], Scores]
CARD = "MODEL_CARD.md"


def train_match(scorer: Scorer, cells: Splits, recipe: ScorerRecipe, say: Say) -> dict[str, Any]:
    """Train and return the fields to store; the weights are in the scorer's folder afterwards.

    Raises EmbeddingsUnavailable if the base model cannot be loaded.
    """
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


def look_at_dev(
    cells: Splits, encode: Encode, recipe: ScorerRecipe
) -> tuple[dict[str, Any], float]:
    """Return dev figures, and the one that chooses: average precision of pairs, by cells.

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
    """Return average precision of argument pairs with the same key point, mean over cells."""
    same_point_precisions = (same_point_precision(cell.match, cell.reference) for cell in cells)
    precisions = [precision for precision in same_point_precisions if precision is not None]
    return float(np.mean(precisions)) if precisions else 0.0


def put_in_place(folder: Path, save: Callable[[Path], None], card: str) -> str:
    """Write weights to a temporary folder, then rename it; return the weights' hash."""
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


def _course(members: Sequence[EncoderProgress], recipe: ScorerRecipe) -> dict[str, Any]:
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
        "losses": thinned([loss for progress in members for loss in progress.losses]),
        "steps": sum(progress.step for progress in members),
    }


def thinned(losses: Sequence[float], most: int = 100) -> list[dict[str, float]]:
    """Return mean losses over equal stretches, each with its last step."""
    parts = np.array_split(np.array(losses), min(most, len(losses))) if losses else []
    ends = np.cumsum([len(part) for part in parts])
    return [
        {"step": int(end), "loss": round(float(part.mean()), 4)}
        for end, part in zip(ends, parts, strict=True)
    ]


# Train a quality scorer: ridge regression on sentence vectors, penalty chosen on dev.


def train_quality(scorer: Scorer, rated: dict[str, RatedArguments], say: Say) -> dict[str, Any]:
    """Train and return the fields to store; the weights are in the scorer's folder afterwards.

    Raises ScorerRefused without enough arguments, EmbeddingsUnavailable without the model.
    """
    require_rated(rated)
    begun, cpu = time.monotonic(), time.process_time()
    source = resolve(scorer.base_model)
    embedding = BiEncoder(source, weights_hash(source))
    known = {}
    for done, (split, arguments) in enumerate(rated.items()):
        say(done, len(rated) + 1, f"reading {split}")
        known[split] = (embedding.vectors(arguments.texts), np.array(arguments.values))
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


def _figures(predictions: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """Return Pearson correlation, Spearman correlation and mean absolute error, with n."""
    from scipy.stats import pearsonr, spearmanr

    # Without variance on either side there is no correlation to speak of.
    is_defined = len(known) > 1 and np.ptp(predictions) > 0 and np.ptp(known) > 0
    return {
        "n": len(known),
        "pearson": float(pearsonr(predictions, known).statistic) if is_defined else None,
        "spearman": float(spearmanr(predictions, known).statistic) if is_defined else None,
        "absolute_error": float(np.abs(predictions - known).mean()),
    }


# Several trainings that differ in their seed alone, and the mean of their best weights.
#
# One training ends now here, now there; the mean of a few that began at the same weights lies
# between them and matches more evenly. See docs/papers/argsum.md for what it gains.


# Dropout draws from one generator of the process, so two trainings at once would mix their draws.
ONE_AT_A_TIME = Lock()
# Seconds after which a training that waits says so again, and notices that it was cancelled.
WAITING = 2.0


@contextmanager
def alone(say: Say, total: int) -> Iterator[None]:
    """Wait for another training of this process; ``say`` reports it."""
    while not ONE_AT_A_TIME.acquire(timeout=WAITING):
        say(0, total, "waiting for other training to finish")
    try:
        yield
    finally:
        ONE_AT_A_TIME.release()


class AveragedTraining:
    """Trainings of all members of a recipe, one after the other, and their average.

    Parameters
    ----------
    source, cells, recipe, check
        As of `MatchTraining`; the member n is trained with the seed of the recipe plus n.
    folder
        Where checkpoints are kept. A training that was broken off goes on from there.
    """

    def __init__(
        self,
        source: str,
        cells: Sequence[TrainingCell],
        recipe: ScorerRecipe,
        check: Check,
        folder: Path,
    ) -> None:
        self.source, self.cells, self.recipe, self.check = source, cells, recipe, check
        self.folder = folder
        self.members: list[EncoderProgress] = []
        self._sums: list[Any] = []

    def run(self, say: Say) -> MatchTraining:
        """Train all members; return a training with their mean weights.

        Another training of this process is waited for, and ``say`` is told so.
        """
        with alone(say, self.total):
            return self._run(say)

    def _run(self, say: Say) -> MatchTraining:
        self._resume()
        while len(self.members) < self.recipe.members:
            training = self._member(len(self.members))
            before = len(self.members) * self.recipe.steps
            progress = training.run(_later(say, before, self.total))
            self._add(progress, training.best)
        training = self._member(0)
        load(training.weights, [tensor / len(self.members) for tensor in self._sums])
        return training

    @property
    def total(self) -> int:
        """Steps of all members together."""
        return self.recipe.members * self.recipe.steps

    def _member(self, number: int) -> MatchTraining:
        own = replace(self.recipe, seed=self.recipe.seed + number, members=1)
        checkpoint = self.folder / "member.pt"
        return MatchTraining(self.source, self.cells, own, self.check, checkpoint=checkpoint)

    def _add(self, progress: EncoderProgress, best: Sequence[Any]) -> None:
        self.members.append(progress)
        self._sums = (
            [a + b for a, b in zip(self._sums, best, strict=True)] if self._sums else list(best)
        )
        state = {
            "recipe": self.recipe.as_dict(),
            "members": json.dumps([asdict(member) for member in self.members]),
            "sums": self._sums,
        }
        write(self.folder / "members.pt", state)

    def _resume(self) -> None:
        state = read(self.folder / "members.pt")
        if state is None or state["recipe"] != self.recipe.as_dict():
            return
        self.members = [EncoderProgress(**load) for load in json.loads(state["members"])]
        self._sums = state["sums"]


def _later(say: Say, before: int, total: int) -> Say:
    """Return the callback for a member that begins after some steps of others."""
    return lambda done, _own, note: say(before + done, total, note)


# Train a writer of key points, and write its weights and card.


def train_writer(
    scorer: Scorer, examples: Examples, recipe: WritingRecipe, say: Say
) -> dict[str, Any]:
    """Train and return the fields to store; the weights are in the scorer's folder afterwards.

    Raises ScorerRefused without examples, EmbeddingsUnavailable if the model cannot be loaded.
    """
    from .seq2seq_training import WriterTraining

    require_examples(examples)
    begun, cpu = time.monotonic(), time.process_time()
    folder = trained_folder(scorer)
    checkpoint = checkpoint_of(scorer) / "writer.pt"
    source = resolve(scorer.base_model)
    test = examples.get(TEST, [])
    with alone(say, recipe.epochs):
        training = WriterTraining(source, examples[TRAIN], examples[DEV], recipe, checkpoint)
        # Unknown where a training goes on.
        before = training.loss_on(test) if test and not checkpoint.exists() else None
        progress = training.run(say)
    say(training.steps, training.steps, "judging")
    figures: dict[str, Any] = {
        TRAIN: {"n": len(examples[TRAIN]), "loss": training.loss_on(examples[TRAIN])},
        DEV: {
            "n": len(examples[DEV]),
            "loss": min(progress.dev),
            "loss_before": progress.dev[0],
        },
        "epochs": progress.dev,
        "best_epoch": progress.best_epoch,
        "losses": thinned(progress.losses),
        "steps": progress.step,
    }
    if test:
        figures[TEST] = {"n": len(test), "loss": training.loss_on(test), "loss_before": before}
    figures |= {
        "seconds": round(time.monotonic() - begun, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    facts = {
        "base": scorer.base_model,
        "trained_on": scorer.trained_on.name if scorer.trained_on else "",
        "recipe": recipe.as_dict(),
    }
    card = writer_card(scorer.name, figures, facts)
    return {
        "folder": folder.name,
        "sha256": put_in_place(folder, training.save, card),
        "figures": figures,
        "card": card,
    }

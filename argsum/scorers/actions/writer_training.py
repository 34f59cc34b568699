"""Train a writer of key points, and write its weights and card."""

from __future__ import annotations

import time
from typing import Any

from argsum.scorers.methods.card import writer_card
from argsum.scorers.methods.writing_recipe import WritingRecipe
from argsum.scorers.models import Scorer

from .match_training import Say, put_in_place, thinned
from .models import checkpoint_of, resolve, trained_folder
from .training_average import alone
from .training_data import DEV, TEST, TRAIN
from .writing_data import Examples, require_examples


def train_writer(
    scorer: Scorer, examples: Examples, recipe: WritingRecipe, say: Say
) -> dict[str, Any]:
    """Train; returns what the row keeps. Weights lie in its folder afterwards.

    Raises ScorerRefused without examples, EmbeddingsUnavailable if the model cannot be loaded.
    """
    from .writing_torch import WriterTraining

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

"""Training jobs of scorers, and the training of the shipped scorers."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from argsum.datasets.models import Dataset
from argsum.scorers.methods.training import ScorerRecipe, WritingRecipe, both_stances
from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY, Scorer
from argsum.scorers.reports import shown_state
from cqa_site.judging.embedding import (
    DIFFERENCE_FILE,
    PACKAGED_MODEL,
    SIDE,
    EmbeddingsUnavailable,
    SideClassifier,
    packaged_weights,
)
from cqa_site.judging.training import Say
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, cancel, enqueue, refusing
from cqa_site.runs.models import Job
from .models import (
    SHIPPED,
    SUMS,
    WEIGHTS as WEIGHT_FILES,
    ScorerRefused,
    checkpoint_of,
    resolve,
    trained_folder,
)
from .scorers import keep_new
from .torch_training import train_members
from .trainers import CARD, train
from .training_data import (
    DEV,
    TRAIN,
    Rated,
    Splits,
    Statements,
    data_of,
    statement_cells,
    statements_in,
)

if TYPE_CHECKING:
    import numpy as np


# Training of a scorer: requested on a page, run in the background, stored with its card.

JOB = "train_scorer"
TRAINED = {
    Scorer.Task.MATCH: Scorer.Kind.BI_ENCODER,
    Scorer.Task.QUALITY: Scorer.Kind.REGRESSOR,
    Scorer.Task.WRITE: Scorer.Kind.SEQ2SEQ,
}


def request_training(
    *,
    study: Study,
    name: str,
    task: str,
    dataset: Dataset,
    actor: User | None,
    base_model: str = PACKAGED_MODEL,
    recipe: ScorerRecipe | WritingRecipe | None = None,
) -> Scorer:
    """Create a scorer or writer and queue its training.

    Raises
    ------
    ScorerRefused
        If the name is taken, the model name is invalid, or the dataset belongs to another study or
        contains nothing to learn from.
    """
    if dataset.study_id != study.pk:
        raise ScorerRefused(_("The dataset belongs to another study."))
    resolve(base_model)
    # This reads the whole dataset, so it happens before the transaction.
    data_of(task, dataset)
    usual = WritingRecipe() if task == Scorer.Task.WRITE else ScorerRecipe()
    numbers = {} if task == Scorer.Task.QUALITY else asdict(recipe or usual)
    scorer = Scorer(
        study=study,
        name=name,
        task=task,
        kind=TRAINED[Scorer.Task(task)],
        base_model=base_model,
        state=Scorer.State.TRAINING,
        recipe=numbers,
        uses_topic=numbers.get("uses_topic", False),
        trained_on=dataset,
        created_by=actor,
    )
    with transaction.atomic():
        keep_new(scorer)
        _enqueue(scorer, actor)
        record(
            study=study, actor=actor, verb="scorer_training", subject=name, dataset=dataset.name
        )
    return scorer


@transaction.atomic
def resume_training(*, scorer: Scorer, actor: User | None) -> Scorer:
    """Resume a failed or cancelled training run from its last checkpoint."""
    held = Scorer.objects.select_for_update(of=("self",)).get(pk=scorer.pk)
    if held.trained_on is None or shown_state(held) not in (
        Scorer.State.FAILED,
        Scorer.State.CANCELLED,
    ):
        raise ScorerRefused(_("Only failed or cancelled training can be resumed."))
    held.state, held.error = Scorer.State.TRAINING, ""
    held.save(update_fields=["state", "error"])
    _enqueue(held, actor)
    record(study=held.study, actor=actor, verb="scorer_resumed", subject=held.name)
    return held


@transaction.atomic
def cancel_training(*, scorer: Scorer, actor: User) -> bool:
    """Cancel a queued or running training job; the worker stops at its next step."""
    changed = Scorer.objects.filter(pk=scorer.pk, state=Scorer.State.TRAINING).update(
        state=Scorer.State.CANCELLED
    )
    cancel(Job.objects.filter(pk__in=[scorer.job_id]))
    if changed:
        record(study=scorer.study, actor=actor, verb="scorer_cancelled", subject=scorer.name)
    return bool(changed)


@transaction.atomic
def delete_scorer(*, scorer: Scorer, actor: User) -> None:
    """Delete an unused scorer with its weights. Raises ScorerRefused."""
    if shown_state(scorer) == Scorer.State.TRAINING:
        raise ScorerRefused(_("Cancel the training first."))
    folder, name, study = trained_folder(scorer), scorer.name, scorer.study
    checkpoint = checkpoint_of(scorer)
    if scorer.metric_scores.exists():
        raise ScorerRefused(_("This scorer is used by a metric and cannot be deleted."))
    # Runs store the name of their writer, which may be a model that was not trained here.
    if scorer.task == Scorer.Task.WRITE and study.system_runs.filter(writer_model=name).exists():
        raise ScorerRefused(_("This writer is used by a run and cannot be deleted."))
    try:
        with transaction.atomic():
            scorer.delete()
    except ProtectedError:
        raise ScorerRefused(_("This scorer is used by a run and cannot be deleted.")) from None
    record(study=study, actor=actor, verb="scorer_deleted", subject=name)
    transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))
    transaction.on_commit(lambda: shutil.rmtree(checkpoint, ignore_errors=True))


def make_scorer(work: JobContext) -> None:
    """Handle a job: train a scorer, or resume from a lost worker's checkpoint."""
    scorer = Scorer.objects.select_related("study", "trained_on").get(
        study=work.study, public_id=work.payload["scorer"]
    )
    if scorer.state != Scorer.State.TRAINING:
        return
    with refusing((ScorerRefused, EmbeddingsUnavailable), partial(fail, scorer)):
        if scorer.trained_on is None:
            raise ScorerRefused(_("The dataset no longer exists."))
        fields = train(scorer, data_of(scorer.task, scorer.trained_on), work.progress)
    with transaction.atomic():
        # Same order of locks as in cancelling: the scorer, then its job.
        Scorer.objects.select_for_update().get(pk=scorer.pk)
        work.finish()
        store(scorer, fields)
    # Only now, because a training run can resume from its checkpoint until the scorer is ready.
    shutil.rmtree(checkpoint_of(scorer), ignore_errors=True)


def store(scorer: Scorer, fields: dict[str, Any]) -> None:
    """Mark the scorer as ready, with the fields that `trainers.train` returned."""
    fields |= {"state": Scorer.State.READY, "error": "", "ready_at": timezone.now()}
    for name, value in fields.items():
        setattr(scorer, name, value)
    scorer.save(update_fields=fields)


def _enqueue(scorer: Scorer, actor: User | None) -> None:
    scorer.job = enqueue(
        study=scorer.study,
        kind=JOB,
        key=scorer.public_id.hex,
        actor=actor,
        scorer=str(scorer.public_id),
    )
    Scorer.objects.filter(pk=scorer.pk).update(job=scorer.job)


def fail(scorer: Scorer, error: str) -> None:
    """Mark the training run as failed, unless it was cancelled."""
    Scorer.objects.filter(pk=scorer.pk, state=Scorer.State.TRAINING).update(
        state=Scorer.State.FAILED, error=error
    )


# Scorers shipped with the site: small, trained once, and reproduced by one command.
#
# A match scorer is the packaged model and a low-rank difference from it, which needs a thirtieth
# of the space of the full weights. A quality scorer is a linear regression on vectors of the
# packaged model.

STATEMENTS = SHIPPED[SHIPPED_MATCH].parent / "statements"
# File of sentences without content, and the number of statements they are contrasted with.
FILLER_SENTENCES, MOST_STATEMENTS = "filler.txt", 5_000
# Number of topics whose statements are not trained on, but used to choose the weights.
HELD_OUT = 8
# Three of six layers are trained, so that the difference can have a higher rank.
RECIPE = ScorerRecipe(
    steps=2_600,
    batch=96,
    learning_rate=2e-4,
    temperature=0.07,
    frozen=4,
    averaging=0.995,
    checks=6,
    patience=6,
    members=1,
    uses_topic=False,
    quick=True,
)
# Rank of each matrix of the difference: 2.7 MB in total, in half precision.
RANK = 64
# Share of the trained difference that is added. Between the packaged and the trained weights,
# texts on topics unlike the training topics are distinguished better.
ADDED_SHARE = 0.7
# Weight of the side that a text takes in a match score.
SIDE_SHARE = 0.05
SIDES = ("for", "against")
SIDE_STRENGTH = 10.0
WEIGHTS = "model.safetensors"
TRAINED_ON = "arguments of ArgKP-2021 with the qualities of the released processed file"


def shipping_cells(argkp: Splits, points: Sequence[Statements]) -> Splits:
    """Return the cells for training the match scorer and for choosing its weights.

    Arguments of both stances on a topic share a batch, and so do statements from opposite sides,
    because texts on opposite sides do not match.
    """
    learned, held = split_statements(points)
    train = [*both_stances(argkp[TRAIN]), *statement_cells(learned)]
    return {TRAIN: train, DEV: [*argkp[DEV], *statement_cells(held)]}


def split_statements(points: Sequence[Statements]) -> tuple[list[Statements], list[Statements]]:
    """Return the statements for training and the statements on held-out topics."""
    topics = sorted({point.topic for point in points})
    random.Random(1).shuffle(topics)  # noqa: S311  an order, not a secret
    held = set(topics[:HELD_OUT])
    return (
        [point for point in points if point.topic not in held],
        [point for point in points if point.topic in held],
    )


def ship_match(
    argkp: Splits, recipe: ScorerRecipe, work: Path, say: Say
) -> tuple[Path, list[dict[str, Any]]]:
    """Train the match scorer, and store with the code its difference from the packaged model.

    Parameters
    ----------
    argkp
        Cells from `argsum.scorers.actions.training_data.cells_in`.
    recipe
        Usually `RECIPE`.
    work
        Folder for checkpoints and full weights; an interrupted run resumes from it.
    say
        Called with the progress.

    Returns
    -------
    Path
        File of the difference.
    list of dict
        Checks on dev with ``step``, ``weights`` and ``value``, the average precision of pairs. The
        last entry is the accuracy of the predicted side of statements on held-out topics.
    """
    points = statements_in(STATEMENTS)
    cells = shipping_cells(argkp, points)
    training, members = train_members(PACKAGED_MODEL, cells, recipe, work / "checkpoint", say)
    training.save(work / "weights")
    looks = [look for member in members for look in member.looks]
    path = write_difference(work / "weights", SHIPPED[SHIPPED_MATCH])
    side, right = side_of(path.parent, points)
    add_side(path, side)
    write_sums(path.parent)
    return path, [*looks, {"sides": right}]


def ship_filler_classifier() -> Path:
    """Fit the filler classifier to the shipped statements and store it with the match scorer."""
    from argsum.scorers.methods.encoders import fit_filler_classifier, store_filler_classifier
    from cqa_site.judging.embedding import SentenceEmbedder

    folder = SHIPPED[SHIPPED_MATCH]
    filler = (STATEMENTS / FILLER_SENTENCES).read_text(encoding="utf-8").splitlines()
    texts = [text for statements in statements_in(STATEMENTS) for text in statements.texts]
    random.Random(1).shuffle(texts)  # noqa: S311  an order, not a secret
    del texts[MOST_STATEMENTS:]
    vectors = SentenceEmbedder(str(folder), quick=True).encode([*filler, *texts])
    return store_filler_classifier(fit_filler_classifier(filler, texts, vectors), folder)


def side_of(folder: Path, points: Sequence[Statements]) -> tuple[SideClassifier, float]:
    """Return the classifier of sides, and its accuracy on held-out statements, 0–1."""
    from sklearn.linear_model import LogisticRegression

    from cqa_site.judging.embedding import SentenceEmbedder

    embedder = SentenceEmbedder(str(folder), quick=True)
    learned, held = (
        [
            (text, statements.side)
            for statements in part
            if statements.side in SIDES
            for text in statements.texts
        ]
        for part in split_statements(points)
    )
    vectors, unseen = (embedder.encode([text for text, _side in part]) for part in (learned, held))
    line = LogisticRegression(C=SIDE_STRENGTH, max_iter=1_000)
    line.fit(vectors, [side == SIDES[0] for _text, side in learned])
    right = float(line.score(unseen, [side == SIDES[0] for _text, side in held]))
    return SideClassifier(line.coef_[0], float(line.intercept_[0]), SIDE_SHARE), right


def ship_quality(rated: Rated, say: Say) -> Path:
    """Fit the regression to imported qualities and store it with the code."""
    scorer = Scorer(
        name="Counterpoint quality", task=Scorer.Task.QUALITY, base_model=PACKAGED_MODEL
    )
    fields = train(scorer, rated, say)
    folder = SHIPPED[SHIPPED_QUALITY]
    folder.mkdir(exist_ok=True)
    for name in ("regressor.npz", CARD):
        shutil.copyfile(trained_folder(scorer) / name, folder / name)
    shutil.rmtree(trained_folder(scorer))
    card = fields["card"].replace("Trained on: files.", f"Trained on: {TRAINED_ON}.")
    (folder / CARD).write_text(card, encoding="utf-8")
    write_sums(folder)
    return folder


def write_sums(folder: Path) -> None:
    """Write the checksums of the weights next to them, in ``sha256sum`` format."""
    files = sorted(file for pattern in WEIGHT_FILES for file in folder.glob(pattern))
    lines = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines), encoding="ascii")


def write_difference(trained: Path, folder: Path, rank: int = RANK) -> Path:
    """Write the difference of trained weights from the packaged model as matrix factors.

    Parameters
    ----------
    trained
        Folder of weights that were trained from the packaged model.
    folder
        Folder in which `DIFFERENCE_FILE` is written.
    rank
        Rank of each matrix; smaller matrices are stored whole.

    Raises
    ------
    ValueError
        If the weights have another architecture.
    """
    import numpy as np
    from safetensors.numpy import load_file, save_file

    before, after = (
        {name: part for name, part in load_file(at / WEIGHTS).items() if part.dtype.kind == "f"}
        for at in (Path(packaged_weights()), trained)
    )
    if before.keys() != after.keys():
        raise ValueError(f"{trained.name} was not trained from {PACKAGED_MODEL}.")
    factors: dict[str, np.ndarray] = {}
    for name, weights in after.items():
        factors |= _factors(name, ADDED_SHARE * (weights.astype(np.float32) - before[name]), rank)
    path = folder / DIFFERENCE_FILE
    save_file(factors, path)
    return path


def add_side(path: Path, side: SideClassifier) -> None:
    """Store a classifier of sides in a difference file."""
    import numpy as np
    from safetensors.numpy import load_file, save_file

    parts = {"weight": side.weight, "bias": [side.bias], "share": [side.share]}
    own = {f"{SIDE}{name}": np.array(part, np.float32) for name, part in parts.items()}
    save_file(load_file(path) | own, path)


def _factors(name: str, change: np.ndarray, rank: int) -> dict[str, np.ndarray]:
    import numpy as np

    if not change.any():
        return {}
    if change.ndim < 2 or min(change.shape) <= rank:
        return {name: change.astype(np.float16)}
    left, sizes, right = np.linalg.svd(change, full_matrices=False)
    root = np.sqrt(sizes[:rank])
    return {
        f"{name}.a": np.ascontiguousarray(left[:, :rank] * root).astype(np.float16),
        f"{name}.b": np.ascontiguousarray(root[:, None] * right[:rank]).astype(np.float16),
    }

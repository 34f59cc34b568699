"""Training a scorer: asked for from a page, done in the background, kept with its card."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from argsum.datasets.models import Dataset
from argsum.scorers.methods.training_recipe import Recipe, recipe_from
from argsum.scorers.methods.writing_recipe import WritingRecipe, writing_recipe_from
from argsum.scorers.models import Scorer
from argsum.scorers.reports import shown_state
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobRefused, StaleWorker, Work, enqueue
from cqa_site.runs.models import Job

from .models import ScorerRefused, checkpoint_of, resolve, trained_folder
from .scorers import keep_new
from .training_data import cells_of, rated_of, require_match_data, require_rated
from .writing_data import examples_of, require_examples

JOB = "train_scorer"
ACTIVE = (Job.State.READY, Job.State.LEASED)
TRAINED = {
    Scorer.Task.MATCH: Scorer.Kind.BI_ENCODER,
    Scorer.Task.QUALITY: Scorer.Kind.REGRESSOR,
    Scorer.Task.WRITE: Scorer.Kind.SEQ2SEQ,
}
Say = Callable[[int, int, str], None]


def request_training(
    *,
    study: Study,
    name: str,
    task: str,
    dataset: Dataset,
    actor: User | None,
    base_model: str = PACKAGED_MODEL,
    recipe: Recipe | WritingRecipe | None = None,
) -> Scorer:
    """A new scorer or writer that is trained in the background.

    Raises
    ------
    ScorerRefused
        If the name is taken, the model has no valid name, the dataset is another study's, or
        nothing can be learned from it.
    """
    if dataset.study_id != study.pk:
        raise ScorerRefused(_("The dataset belongs to another study."))
    resolve(base_model)
    # Before the transaction: it reads the whole dataset.
    _require_data(task, dataset)
    recipe = recipe or (WritingRecipe() if task == Scorer.Task.WRITE else Recipe())
    scorer = Scorer(
        study=study,
        name=name,
        task=task,
        kind=TRAINED[Scorer.Task(task)],
        base_model=base_model,
        state=Scorer.State.TRAINING,
        recipe={} if task == Scorer.Task.QUALITY else recipe.as_dict(),
        uses_topic=isinstance(recipe, Recipe) and task == Scorer.Task.MATCH and recipe.uses_topic,
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
    """Go on with a training that failed or was cancelled, from its last checkpoint."""
    held = Scorer.objects.select_for_update(of=("self",)).get(pk=scorer.pk)
    if held.trained_on is None or shown_state(held) not in (
        Scorer.State.FAILED,
        Scorer.State.CANCELLED,
    ):
        raise ScorerRefused(_("Only a training that failed or was cancelled can go on."))
    held.state, held.error = Scorer.State.TRAINING, ""
    held.save(update_fields=["state", "error"])
    _enqueue(held, actor)
    record(study=held.study, actor=actor, verb="scorer_resumed", subject=held.name)
    return held


@transaction.atomic
def cancel_training(*, scorer: Scorer, actor: User) -> bool:
    """End a training that waits or runs; the worker notices at its next step."""
    changed = Scorer.objects.filter(pk=scorer.pk, state=Scorer.State.TRAINING).update(
        state=Scorer.State.CANCELLED
    )
    Job.objects.filter(pk__in=[scorer.job_id], state__in=ACTIVE).update(
        state=Job.State.FAILED, lease_until=None, finished_at=Now(), error=_("Cancelled.")
    )
    if changed:
        record(study=scorer.study, actor=actor, verb="scorer_cancelled", subject=scorer.name)
    return bool(changed)


@transaction.atomic
def delete_scorer(*, scorer: Scorer, actor: User) -> None:
    """Forget a scorer that no run used, with its weights; raises ScorerRefused."""
    if shown_state(scorer) == Scorer.State.TRAINING:
        raise ScorerRefused(_("Cancel the training first."))
    folder, name, study = trained_folder(scorer), scorer.name, scorer.study
    checkpoint = checkpoint_of(scorer)
    if scorer.metric_scores.exists():
        raise ScorerRefused(_("A metric used this scorer, so it stays."))
    # Runs name their writer, as it may be a model that nobody trained here.
    if scorer.task == Scorer.Task.WRITE and study.system_runs.filter(writer_model=name).exists():
        raise ScorerRefused(_("A run used this writer, so it stays."))
    try:
        with transaction.atomic():
            scorer.delete()
    except ProtectedError:
        raise ScorerRefused(_("A run used this scorer, so it stays.")) from None
    record(study=study, actor=actor, verb="scorer_deleted", subject=name)
    transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))
    transaction.on_commit(lambda: shutil.rmtree(checkpoint, ignore_errors=True))


def make_scorer(work: Work) -> None:
    """Handle a job: train, or go on from the checkpoint that a lost worker left."""
    scorer = Scorer.objects.select_related("study", "trained_on").get(
        study=work.study, public_id=work.payload["scorer"]
    )
    if scorer.state != Scorer.State.TRAINING:
        return
    try:
        made = _train(scorer, work.progress)
    except (ScorerRefused, EmbeddingsUnavailable) as reason:
        _fail(scorer, str(reason))
        raise JobRefused(str(reason)) from reason
    except StaleWorker:
        raise
    except Exception:
        _fail(scorer, _("An unexpected error; the server's log has the details."))
        raise
    with transaction.atomic():
        # Whoever cancels locks the scorer before its job, too.
        Scorer.objects.select_for_update().get(pk=scorer.pk)
        work.finish()
        store(scorer, made)
    # Only now: before the row says that it is ready, a training can still go on from there.
    shutil.rmtree(checkpoint_of(scorer), ignore_errors=True)


def store(scorer: Scorer, made: dict[str, Any]) -> None:
    """The trained scorer is ready; ``made`` as `match_training.train_match` returns it."""
    for name, value in made.items():
        setattr(scorer, name, value)
    scorer.state, scorer.ready_at = Scorer.State.READY, timezone.now()
    scorer.save(update_fields=[*made, "state", "ready_at"])


def _train(scorer: Scorer, say: Say) -> dict[str, Any]:
    dataset = scorer.trained_on
    if dataset is None:
        raise ScorerRefused(_("The dataset is gone."))
    if scorer.task == Scorer.Task.MATCH:
        from .match_training import train_match

        cells = cells_of(dataset)
        require_match_data(cells)
        return train_match(scorer, cells, recipe_from(scorer.recipe), say)
    if scorer.task == Scorer.Task.WRITE:
        from .writer_training import train_writer

        recipe = writing_recipe_from(scorer.recipe)
        return train_writer(scorer, examples_of(dataset), recipe, say)
    from .quality_training import train_quality

    return train_quality(scorer, rated_of(dataset), say)


def _require_data(task: str, dataset: Dataset) -> None:
    if task == Scorer.Task.MATCH:
        require_match_data(cells_of(dataset))
    elif task == Scorer.Task.WRITE:
        require_examples(examples_of(dataset))
    else:
        require_rated(rated_of(dataset))


def _enqueue(scorer: Scorer, actor: User | None) -> None:
    scorer.job = enqueue(
        study=scorer.study,
        kind=JOB,
        key=scorer.public_id.hex,
        actor=actor,
        scorer=str(scorer.public_id),
    )
    Scorer.objects.filter(pk=scorer.pk).update(job=scorer.job)


def _fail(scorer: Scorer, error: str) -> None:
    Scorer.objects.filter(pk=scorer.pk, state=Scorer.State.TRAINING).update(
        state=Scorer.State.FAILED, error=error
    )

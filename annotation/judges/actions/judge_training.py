"""Training of one version of the judge, from final labels to figures."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import pandas as pd
from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.corpus.actions import StoredVectors
from annotation.corpus.methods.generic_table import RELEVANCE_SCALE
from annotation.corpus.models import Argument
from annotation.judges.methods.classifier import TooFewLabelsError, fit, grouped_out_of_fold
from annotation.judges.methods.features import describe_sentences, lexical_features, pair_key
from annotation.judges.methods.probabilities import (
    LevelDescription,
    median_label,
    rule_probabilities,
    similarity_probabilities,
)
from annotation.judges.methods.storage import load_model, save_model
from annotation.judges.models import JudgeLabel, TrainedJudge
from annotation.judges.reports.agreement import final_labels_of, label_rows, paired
from annotation.judges.reports.results import TrainedFigures
from annotation.labelling.models import LabelRound
from cqa_site.judging.embedding import (
    EmbeddingsUnavailable,
    SentenceEmbedder,
    embeddings_available,
    require_packages,
)
from cqa_site.judging.training import Say
from cqa_site.runs.jobs import JobRefused, refusing
from cqa_site.stats.agreement import confusion, krippendorff_alpha
from cqa_site.stats.arrays import FloatArray

FOLDS = 10
# Arguments processed together; the vectors of each take 12 kB.
TOGETHER = 2_000
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "sentence-transformers")


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """The parts of a version that `trained_judge.store` stores."""

    kind: str
    model: bytes
    sha256: str
    recipe: dict[str, Any]
    figures: TrainedFigures
    labels: list[JudgeLabel]


@dataclass(frozen=True, kw_only=True)
class Task:
    """Input of a training.

    Attributes
    ----------
    units
        One row per argument, indexed by its key: ``text``, ``pair`` (of objects), ``group`` (the
        same for a pair in any order and letter case), ``is_own`` (in the round to be labelled) and
        ``final`` (missing without a final label).
    embedder
        None if the packages are missing.
    say
        Called with (done, total, name of the step); raises an exception to stop.
    """

    label_round: LabelRound
    source: LabelRound
    units: pd.DataFrame
    embedder: StoredVectors | None
    say: Say

    @property
    def levels(self) -> list[int]:
        """Labels of the scale in ascending order."""
        return self.label_round.guideline.values

    @property
    def labelled(self) -> pd.DataFrame:
        """Arguments with a final label."""
        return self.units[self.units["final"].notna()]

    def saying(self, note: str) -> Callable[[int, int], None]:
        """Return a progress callback for one named step."""
        return lambda done, total: self.say(done, total, note)


def train(label_round: LabelRound, source: LabelRound, say: Say) -> TrainingResult:
    """Train on the final labels of ``source``, and label the arguments of ``label_round``.

    If there are no final labels, the judge is a cold start; see `_cold`.

    Raises
    ------
    JobRefused
        If there are too few labels, or if embeddings are required but not available.
    """
    embedder = StoredVectors(SentenceEmbedder()) if embeddings_available() else None
    units = _units(label_round, source)
    task = Task(label_round=label_round, source=source, units=units, embedder=embedder, say=say)
    with refusing((TooFewLabelsError, EmbeddingsUnavailable)):
        return _cold(task) if task.labelled.empty else _trained(task)


def _units(label_round: LabelRound, source: LabelRound) -> pd.DataFrame:
    """Return the round's arguments and the source's labelled ones, without blank sentences."""
    final = final_labels_of(source)
    own = set(label_round.items.values_list("argument", flat=True))
    rows = Argument.objects.filter(Q(items__round=label_round) | Q(items__round=source))
    columns = ("pk", "text", "comparison__object1", "comparison__object2")
    records = [
        (pk, text, (first, second), pair_key(first, second), pk in own)
        for pk, text, first, second in rows.order_by("pk").distinct().values_list(*columns)
        if text.strip()
    ]
    table = pd.DataFrame(records, columns=["argument", "text", "pair", "group", "is_own"])
    table = table.set_index("argument").assign(final=lambda units: final.reindex(units.index))
    return table[table["is_own"] | table["final"].notna()]


def _trained(task: Task) -> TrainingResult:
    require_packages()
    labelled = task.labelled
    labels, groups = labelled["final"].astype(int).tolist(), labelled["group"].tolist()
    features = _describe(task, labelled)
    seed = task.label_round.seed % 2**32
    settings: dict[str, Any] = {"levels": task.levels, "seed": seed}
    held_out = grouped_out_of_fold(
        features,
        labels,
        groups,
        n_folds=FOLDS,
        progress=task.saying(_("Checking on held-out pairs")),
        **settings,
    )
    task.say(0, 1, _("Training on all labels"))
    content = save_model(fit(features, labels, groups, **settings))
    # The other arguments are labelled by the version exactly as stored.
    stored = load_model(content, sha256(content).hexdigest())
    predicted = _predicted(task, labelled, held_out, is_out_of_fold=True)
    known = set(groups)
    for part in _parts(task.units[task.units["final"].isna()]):
        probabilities = stored.model.predict_proba(_describe(task, part))
        rows = _predicted(task, part, probabilities, is_out_of_fold=False)
        for row, group in zip(rows, part["group"], strict=True):
            # Training included no pair without a label.
            row.is_out_of_fold = group not in known
        predicted += rows
    return TrainingResult(
        kind=TrainedJudge.Kind.TRAINED,
        model=content,
        sha256=stored.sha256,
        recipe=_recipe(task, seed=seed, versions=dict(stored.versions)),
        figures=_figures(task, predicted, folds=min(FOLDS, len(known))),
        labels=[row for row in predicted if task.units.at[row.argument_id, "is_own"]],
    )


def _cold(task: Task) -> TrainingResult:
    """Return a cold start without labels, computed for the whole round at once.

    For the 0-3 relevance scale, the guideline is applied as a rule. On the paper's release this
    rule came close to a trained judge, while similarity was at chance level; see
    `annotation.judges.methods.probabilities`. Other scales use similarity only.
    """
    if task.units.empty:
        raise JobRefused(_("The round has no sentences."))
    has_rule = task.levels == list(RELEVANCE_SCALE)
    probabilities = _by_rule(task) if has_rule else _by_similarity(task)
    predicted = _predicted(task, task.units, probabilities, is_out_of_fold=False)
    works_from = "the guideline as a rule" if has_rule else "similarity to the level descriptions"
    return TrainingResult(
        kind=TrainedJudge.Kind.COLD,
        model=b"",
        sha256="",
        recipe=_recipe(task, seed=None, versions={}) | {"works_from": works_from},
        figures=_figures(task, predicted, folds=0),
        labels=predicted,
    )


def _by_rule(task: Task) -> FloatArray:
    return rule_probabilities(
        lexical_features(task.units["text"].tolist(), task.units["pair"].tolist())
    )


def _by_similarity(task: Task) -> FloatArray:
    levels = [
        LevelDescription(
            level["name"],
            level.get("meaning", ""),
            ((level["example"], "", ""),) if level.get("example") else (),
        )
        for level in task.label_round.guideline.levels
    ]
    return similarity_probabilities(
        task.units["text"].tolist(),
        task.units["pair"].tolist(),
        levels,
        task.embedder or SentenceEmbedder(),
        task.saying(_("Reading sentences")),
    )


def _describe(task: Task, units: pd.DataFrame):
    return describe_sentences(
        units["text"].tolist(),
        units["pair"].tolist(),
        task.embedder,
        task.saying(_("Reading sentences")),
    )


def _parts(units: pd.DataFrame) -> list[pd.DataFrame]:
    return [units.iloc[at : at + TOGETHER] for at in range(0, len(units), TOGETHER)]


def _predicted(
    task: Task, units: pd.DataFrame, probabilities: FloatArray, *, is_out_of_fold: bool
) -> list[JudgeLabel]:
    labels = median_label(probabilities, task.levels).tolist()
    rounded = probabilities.round(6).tolist()
    return [
        JudgeLabel(
            argument_id=int(argument),
            label=label,
            probabilities=row,
            is_out_of_fold=is_out_of_fold,
        )
        for argument, label, row in zip(units.index, labels, rounded, strict=True)
    ]


def _figures(task: Task, predicted: list[JudgeLabel], *, folds: int) -> TrainedFigures:
    """Return the agreement between out-of-fold and final labels, and the number of predictions."""
    labels = pd.Series({row.argument_id: row.label for row in predicted}, dtype=float)
    both = pd.DataFrame({"final": task.labelled["final"], "judge": labels}).dropna()
    table = confusion(both["final"], both["judge"], task.levels)
    pair = paired(both)
    difference = both["judge"] - both["final"]
    own = task.units["is_own"] & task.units["final"].isna()
    return TrainedFigures(
        n=len(both),
        pairs=task.labelled["group"].nunique(),
        folds=folds,
        ordinal=krippendorff_alpha(pair, "ordinal"),
        interval=krippendorff_alpha(pair, "interval"),
        exact=float((difference == 0).mean()) if len(both) else None,
        bias=float(difference.mean()) if len(both) else None,
        per_label=tuple(label_rows(table)),
        predicted=int(own.sum()),
    )


def _recipe(task: Task, *, seed: int | None, versions: dict[str, str]) -> dict[str, Any]:
    used = set(task.labelled.index)
    rows = task.source.final_labels.order_by("argument").values_list("argument", "provenance")
    provenance = Counter(origin for argument, origin in rows if argument in used)
    values = Counter(task.labelled["final"].astype(int))
    return {
        "labels_from": task.source.name,
        "labels_by_value": {str(value): values[value] for value in sorted(values)},
        "labels_by_origin": dict(sorted(provenance.items())),
        "scale": task.levels,
        "guideline": str(task.label_round.guideline),
        "embedding": task.embedder.name if task.embedder else None,
        "held_back": "whole pairs of objects, in either order and any case",
        "label": "median of the probabilities",
        "seed": seed,
        "versions": {name: version(name) for name in PACKAGES if _is_installed(name)} | versions,
    }


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except ModuleNotFoundError:
        return False
    return True

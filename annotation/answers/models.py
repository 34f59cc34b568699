"""Systems, answers and the conditions of answers, and the training data of systems.

Two answers by one system under different conditions are answers to different tasks, so figures
that mix them describe neither task. The seed is not part of a condition; it only affects sampling.
"""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from django.db import models
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_lazy as _

from annotation.corpus.models import ArgumentList, Question
from cqa_site.judging.chat import digest
from cqa_site.people.models import Study
from cqa_site.tabular.cells import text_key

Part = dict[str, Any]

# Default settings of runs and forms.
MOST_ARGUMENTS = 30
FILTERS: Mapping[str, Any] = {
    "relevance": "any",
    "favoured": "any",
    "most_arguments": MOST_ARGUMENTS,
}
# Source of the final labels for ``relevance``: the id of a round, or `NEWEST` for each sentence's
# newest label. It is part of the filters only if it is a round.
LABELS, NEWEST = "labels", "newest"
TOKEN_LIMITS = {"max_completion_tokens": "max_tokens"}
WORDING: Mapping[str, Any] = {"uses_aspect": True, "uses_wording": True}


def filters_of(target: Mapping[str, Any], *, shows_arguments: bool) -> Part:
    """Return the argument filters of a run's target; empty if the prompt shows no arguments."""
    if not shows_arguments:
        return {}
    whose = target.get(LABELS, NEWEST)
    source = {} if whose == NEWEST else {LABELS: whose}
    return {name: target[name] for name in FILTERS} | source


def wording_of(target: Mapping[str, Any]) -> Part:
    """Return the parts of a question that a run's target shows besides the two objects."""
    return {name: target[name] for name in WORDING}


def decoding_of(params: Mapping[str, Any]) -> Part:
    """Return the sampling parameters sent to the model, without the seed.

    The token limit counts as one setting, whatever a server calls it.
    """
    values = {name: value for name, value in params.items() if name != "seed"}
    return {TOKEN_LIMITS.get(name, name): value for name, value in values.items()}


def identity(
    *,
    scenario: int,
    prompt: str,
    filters: Mapping[str, Any],
    wording: Mapping[str, Any],
    decoding: Mapping[str, Any],
) -> str:
    """Return the SHA-256 of a condition's canonical JSON; equal for equivalent conditions.

    ``prompt`` is the hash of the prompt's text, or empty if unknown.
    """
    return digest(
        {
            "scenario": scenario,
            "prompt": prompt,
            "filters": dict(filters),
            "wording": dict(wording),
            "decoding": dict(decoding),
        }
    )


def deviations(filters: Mapping[str, Any], wording: Mapping[str, Any]) -> Part:
    """Return the filters and wording that differ from the defaults; unknown values do not count.

    Examples
    --------
    >>> deviations({"relevance": "0-1", "favoured": "any"}, {"uses_aspect": True})
    {'relevance': '0-1'}
    >>> deviations({}, {})
    {}
    """
    usual = {**FILTERS, **WORDING}
    choices = {**filters, **wording}
    # Sorted here because PostgreSQL returns the keys of a stored object in a different order.
    names = [*usual, *sorted(choices.keys() - usual.keys())]
    known = [name for name in names if name in choices]
    return {name: choices[name] for name in known if choices[name] != usual.get(name)}


class System(models.Model):
    """A source of answers: a model behind an endpoint, an imported source, or people."""

    class Kind(models.TextChoices):
        MODEL = "model", _("Language model")
        IMPORTED = "imported", _("Imported source")
        HUMAN = "human", _("People")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="systems")
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.IMPORTED)
    # The requested name; each answer records the model that actually replied.
    model = models.CharField(_("model"), max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="system_name_once")]

    def __str__(self) -> str:
        return self.name


class Answer(models.Model):
    """One text by a system, stored verbatim and never changed."""

    class Scenario(models.IntegerChoices):
        """One of the four prompts with which an answer can be written."""

        NONE = 0, _("No scenario")
        BARE = 1, _("1: bare")
        ARGUMENTS = 2, _("2: with arguments")
        STRUCTURE = 3, _("3: role, task and structure")
        FULL = 4, _("4: role, task, structure and arguments")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, models.CASCADE, related_name="answers")
    system = models.ForeignKey(System, models.PROTECT, related_name="answers", db_index=False)
    # All settings with which it was written; the scenario is repeated below for searches.
    condition = models.ForeignKey("annotation.Condition", models.PROTECT, related_name="answers")
    scenario = models.PositiveSmallIntegerField(choices=Scenario, default=Scenario.NONE)
    # For an imported answer, its number in the record, from 1. For other answers, the next number
    # among the system's answers to the question under the condition.
    choice = models.PositiveSmallIntegerField(default=1)
    argument_list = models.ForeignKey(
        ArgumentList, models.PROTECT, null=True, related_name="answers"
    )
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64, editable=False)
    # An imported answer is identified by its file and its position there (from 1).
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # A generated answer is identified by its call and choice.
    run = models.ForeignKey("runs.Run", models.CASCADE, null=True, related_name="answers")
    call = models.ForeignKey(
        "runs.Call", models.CASCADE, null=True, related_name="answers", db_index=False
    )
    prompt = models.ForeignKey(
        "runs.PromptVersion", models.PROTECT, null=True, related_name="answers"
    )
    # An answer by experts is identified by its revision; the revision's task has the answer that
    # was edited.
    revision = models.OneToOneField(
        "annotation.Revision", models.PROTECT, null=True, related_name="scored_as"
    )
    # The model named in the reply.
    model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question", "system", "scenario", "choice", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "source", "position", "choice"],
                condition=~Q(source=""),
                name="answer_imported_once",
            ),
            models.UniqueConstraint(
                fields=["call", "choice"],
                condition=Q(call__isnull=False),
                name="answer_generated_once",
            ),
            models.CheckConstraint(
                condition=Q(source="", call__isnull=False, revision__isnull=True)
                | Q(source="", call__isnull=True, revision__isnull=False)
                | (~Q(source="") & Q(call__isnull=True, revision__isnull=True)),
                name="answer_has_one_origin",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "question", "system", "scenario", "choice"]),
            models.Index(fields=["system", "scenario"]),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    def save(self, *args, **kwargs) -> None:
        """Save with the key that matches the text; code that creates rows in bulk sets the key."""
        self.text_sha256 = text_key(self.text)
        super().save(*args, **kwargs)


# Default token limit in the forms; a condition's name gives the limit only if it differs.
USUAL_TOKENS = 1_500
SIDES = {
    "object1": _("only arguments for the first object"),
    "object2": _("only arguments for the second object"),
}
LEFT_OUT = {
    "uses_aspect": _("without the aspect"),
    "uses_wording": _("without the question's own wording"),
}


class Condition(models.Model):
    """Scenario, prompt, filters, wording and decoding; one row per combination in a study.

    The condition of an imported answer has only a scenario. The parts are never changed.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="conditions", db_index=False
    )
    scenario = models.PositiveSmallIntegerField(choices=Answer.Scenario)
    prompt = models.ForeignKey(
        "runs.PromptVersion", models.PROTECT, null=True, related_name="conditions"
    )
    # Number of the prompt, stored here so that names do not need the table with its long texts.
    prompt_number = models.PositiveIntegerField(null=True)
    # See `filters_of`; empty if unknown or if the prompt shows no arguments.
    filters = models.JSONField(default=dict)
    # Name of the round whose labels filter the arguments, stored for the same reason.
    labels_name = models.CharField(max_length=120, blank=True)
    wording = models.JSONField(default=dict)
    decoding = models.JSONField(default=dict)
    # Hash of all parts; see `identity`.
    sha256 = models.CharField(max_length=64, editable=False)
    # Whether filters and wording have the defaults of a run.
    is_plain = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scenario", "-is_plain", "pk"]
        constraints = [models.UniqueConstraint(fields=["study", "sha256"], name="condition_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Short name, unique in the study; default settings are left out."""
        parts = [self._scenario_name(), *self._deviations(), *self._decoding()]
        return " · ".join(parts)

    def _scenario_name(self) -> str:
        if self.scenario == Answer.Scenario.NONE:
            return str(Answer.Scenario.NONE.label)
        name = gettext("Scenario %d") % self.scenario
        return name if self.prompt_number is None else f"{name} · v{self.prompt_number}"

    def _deviations(self) -> list[str]:
        differences = deviations(self.filters, self.wording)
        is_of_one = differences.pop(LABELS, None) is not None
        words = [_words(*difference) for difference in differences.items()]
        return [*words, gettext("labelled in %s") % self.labels_name] if is_of_one else words

    def _decoding(self) -> list[str]:
        parts: list[str] = []
        for name, value in sorted(self.decoding.items()):
            if name == "temperature":
                parts.insert(0, f"T {value:g}")
            elif name != "max_tokens":
                parts.append(f"{name} {value}")
            elif value != USUAL_TOKENS:
                parts.append(gettext("at most %d tokens") % value)
        return parts


def _words(name: str, value: Any) -> str:
    """Return a deviation as a phrase for the condition's name."""
    if name == "relevance":
        return gettext("labels %s") % str(value).replace("-", "–")
    if name == "favoured":
        return str(SIDES[value])
    if name == "most_arguments":
        return gettext("at most %d arguments") % value
    return str(LEFT_OUT[name])


class LearnedComparison(models.Model):
    """A comparison whose answers a system's model saw during training.

    Questions about it are never used to test that system or any other system in the study with
    the same model: runs do not ask them, and boards do not count answers to them.
    """

    system = models.ForeignKey(
        "annotation.System", models.CASCADE, related_name="learned", db_index=False
    )
    comparison = models.ForeignKey(
        "annotation.Comparison", models.CASCADE, related_name="learned_by"
    )
    # The file of pairs, or the person who entered them.
    source = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["system", "comparison"], name="learned_once")
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.comparison}"


# Conditions of a study, and filters by condition

# Choice of all conditions; without any choice, only the plain conditions are used.
ALL = "all"
Rows = TypeVar("Rows", bound=Model)


def used_conditions(study: Study) -> QuerySet[Condition]:
    """Return the conditions with answers in the study, each with ``answer_count``."""
    counted = study.conditions.annotate(answer_count=Count("answers"))
    return counted.filter(answer_count__gt=0).order_by(*Condition._meta.ordering or ())


def under(rows: QuerySet[Rows], chosen: Iterable[str], path: str = "") -> QuerySet[Rows]:
    """Filter rows by chosen conditions: public ids, `ALL`, or nothing for plain conditions.

    ``path`` is the lookup from a row to its answer.
    """
    wanted = list(chosen)
    if ALL in wanted:
        return rows
    if wanted:
        return rows.filter(**{f"{path}condition__public_id__in": wanted})
    return rows.filter(**{f"{path}condition__is_plain": True})


def without_superseded(answers: QuerySet[Answer]) -> QuerySet[Answer]:
    """Leave out answers made from a revision if a newer revision of the text is also an answer."""
    newer = Answer.objects.filter(
        revision__sheet=OuterRef("revision__sheet"),
        revision__number__gt=OuterRef("revision__number"),
    )
    return answers.filter(~Exists(newer))


def names_of(study: Study, chosen: Iterable[str]) -> list[str]:
    """Return the names of the chosen conditions in order; empty for `ALL` or plain conditions."""
    wanted = [key for key in chosen if key != ALL]
    return [condition.name for condition in study.conditions.filter(public_id__in=wanted)]


# Filters for training data, which runs, scores and boards leave out


def is_learned(answer: str = "") -> Exists:
    """Return a filter for answers to learned comparisons; ``answer`` is the prefix of lookups."""
    system, model = OuterRef(f"{answer}system"), OuterRef(f"{answer}system__model")
    same = Q(system=system) | (Q(system__model=model) & ~Q(system__model=""))
    rows = LearnedComparison.objects.filter(
        same,
        comparison=OuterRef(f"{answer}question__comparison"),
        system__study=OuterRef(f"{answer}study"),
    )
    return Exists(rows)


def learned_questions(study: Study, model: str) -> QuerySet[Question]:
    """Return the study's questions on which the model requested by this name was trained."""
    if not model:
        return study.questions.none()
    rows = LearnedComparison.objects.filter(system__study=study, system__model=model)
    return study.questions.filter(comparison__in=rows.values("comparison"))


def count_learned_pairs() -> Coalesce:
    """Return an annotation that counts, for each system, the pairs on which it was trained."""
    rows = LearnedComparison.objects.filter(system=OuterRef("pk")).order_by()
    counted = rows.values("system").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)

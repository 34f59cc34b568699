"""What answers were written under, beside the system that wrote them."""

import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.answers.methods.conditions import LABELS, deviations

from .answers import Answer

# Most tokens of a reply that a form offers; a name says only what differs.
USUAL_TOKENS = 1_500
SIDES = {"object1": _("only for the first object"), "object2": _("only for the second object")}
LEFT_OUT = {"uses_aspect": _("without aspect"), "uses_wording": _("without own wording")}


class Condition(models.Model):
    """Scenario, prompt, filters, wording and decoding; one row for each combination of a study.

    An imported answer's condition knows the scenario alone. The parts are never changed.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="conditions", db_index=False
    )
    scenario = models.PositiveSmallIntegerField(choices=Answer.Scenario)
    prompt = models.ForeignKey(
        "runs.PromptVersion", models.PROTECT, null=True, related_name="conditions"
    )
    # Of the prompt, which has long texts: a name asks for no second table.
    prompt_number = models.PositiveIntegerField(null=True)
    # See answers/methods/conditions.py; empty where nothing is known or nothing is shown.
    filters = models.JSONField(default=dict)
    # Of the campaign whose labels filter the arguments, for the same reason as the number.
    labels_name = models.CharField(max_length=120, blank=True)
    wording = models.JSONField(default=dict)
    decoding = models.JSONField(default=dict)
    # What makes it this condition; see `identity` there.
    sha256 = models.CharField(max_length=64, editable=False)
    # Neither filters nor wording deviate from what a run asks for by default.
    is_plain = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["scenario", "-is_plain", "pk"]
        constraints = [models.UniqueConstraint(fields=["study", "sha256"], name="condition_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Short, and unique in its study: what is usual is not said."""
        parts = [self._scenario_name(), *self._deviations(), *self._decoding()]
        return " · ".join(parts)

    def _scenario_name(self) -> str:
        if self.scenario == Answer.Scenario.NONE:
            return str(Answer.Scenario.NONE.label)
        name = gettext("Scenario %d") % self.scenario
        return name if self.prompt_number is None else f"{name} · v{self.prompt_number}"

    def _deviations(self) -> list[str]:
        found = deviations(self.filters, self.wording)
        is_of_one = found.pop(LABELS, None) is not None
        words = [_words(*each) for each in found.items()]
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
    """A deviation as a name says it."""
    if name == "relevance":
        return gettext("labels %s") % str(value).replace("-", "–")
    if name == "favoured":
        return str(SIDES[value])
    if name == "most_arguments":
        return gettext("at most %d arguments") % value
    return str(LEFT_OUT[name])

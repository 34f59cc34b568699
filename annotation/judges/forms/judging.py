"""The form of a relevance judge's run."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as lazy

from annotation.judges.actions.relevance_judge import BATCH, BATCH_SIZE, KIND, SINGLE, target_of
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.models import User
from cqa_site.runs.forms.plan import PlanForm

LARGEST_BATCH = 100
# Tokens of one entry of a batch: a number, a label and a reason of at most 300 characters.
TIGHT_TOKENS, AMPLE_TOKENS = 60, 100


class RunForm(PlanForm):
    """Everything a person chooses for a judge run over one campaign."""

    kind = KIND
    prompt_kinds = (SINGLE, BATCH)

    choice = forms.ChoiceField(
        label=lazy("Which sentences"),
        choices=[
            ("all", lazy("All of the round")),
            ("final", lazy("Those with a final label")),
            ("undecided", lazy("Those without a final label")),
            ("sample", lazy("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    batch_size = forms.IntegerField(
        label=lazy("Most sentences in one request"),
        initial=BATCH_SIZE,
        min_value=1,
        max_value=LARGEST_BATCH,
        help_text=lazy("Only for prompts with several sentences a request."),
    )

    def __init__(self, *args: Any, campaign: Campaign, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, study=campaign.study, actor=actor, **kwargs)
        self.campaign = campaign

    @property
    def tokens_wanted(self) -> int | None:
        """A limit that would do for a whole batch, if the chosen one is tight; else None."""
        data = self.cleaned_data
        if data["prompt"].kind != BATCH or not data["max_tokens"]:
            return None
        is_tight = data["max_tokens"] < TIGHT_TOKENS * data["batch_size"]
        return AMPLE_TOKENS * data["batch_size"] if is_tight else None

    @property
    def target(self) -> dict[str, Any]:
        """Which sentences of the campaign, on its scale."""
        data = self.cleaned_data
        return target_of(
            self.campaign,
            choice=data["choice"],
            sample=data["sample"] or 0 if data["choice"] == "sample" else 0,
            batch_size=data["batch_size"],
        )

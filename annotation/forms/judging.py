"""Forms of judge runs and of their prompts."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.actions.relevance_judge import BATCH, BATCH_SIZE, KIND, SINGLE, target_of
from annotation.models import Campaign
from cqa_site.judging.prompts import LONGEST_PART, PromptNotValid, PromptParts, check
from cqa_site.people.models import User
from cqa_site.runs.kind_parts import prompt_kinds

from .planning import PlanForm

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
            ("all", lazy("All of the campaign")),
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

    def clean(self) -> dict[str, Any]:
        """What several fields decide together."""
        data = super().clean()
        self.want_sample(data, is_wanted=data.get("choice") == "sample")
        return data

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


class PromptForm(forms.Form):
    """The text of a prompt version; faults are shown at their part and line."""

    name = forms.CharField(label=lazy("Name"), max_length=120)
    system = forms.CharField(
        label=lazy("System text"),
        required=False,
        max_length=LONGEST_PART,
        help_text=lazy("The same in every request. Empty sends no system message."),
        widget=forms.Textarea(attrs={"rows": 18, "class": "mono"}),
    )
    user = forms.CharField(
        label=lazy("User text"),
        max_length=LONGEST_PART,
        help_text=lazy("Ends with what changes from request to request."),
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono"}),
    )
    note = forms.CharField(label=lazy("What changed"), required=False, max_length=300)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.layout = prompt_kinds()[kind].layout

    def clean_system(self) -> str:
        """Line ends as everywhere else: browsers send two characters for one."""
        return _plain_lines(self.cleaned_data["system"])

    def clean_user(self) -> str:
        """Line ends as everywhere else: browsers send two characters for one."""
        return _plain_lines(self.cleaned_data["user"])

    def clean(self) -> dict[str, Any]:
        """Put the first fault of the template at its field."""
        data = super().clean() or {}
        if "system" in data and "user" in data:
            try:
                check(PromptParts(data["system"], data["user"], self.layout))
            except PromptNotValid as fault:
                self.add_error(fault.part or None, fault_text(fault))
        return data

    @property
    def texts(self) -> dict[str, str]:
        """Name, texts and note."""
        return {name: self.cleaned_data[name] for name in ("name", "system", "user", "note")}


def fault_text(fault: PromptNotValid) -> str:
    """A fault of a template with its line."""
    if fault.line:
        return _("Line %(line)d: %(reason)s.") % {"line": fault.line, "reason": fault.reason}
    return f"{fault.reason}."


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")

"""The form of a run in which a model compares pairs of answers."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from benchmark.preferences.judge import KIND, PROMPT, target_of
from benchmark.preferences.models import PreferenceRound
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.web.choices import offer


class PreferringRunForm(PlanForm):
    """Which pairs are compared, and by whom."""

    kind = KIND
    prompt_kinds = (PROMPT,)
    # Their own part of the page, beside the prompt; see `RunFace.asks`.
    asks = ("choice", "preference_round", "sample")

    choice = forms.ChoiceField(
        label=lazy("Which pairs"),
        choices=[
            ("all", lazy("All that rounds hold")),
            ("judged", lazy("Those that people compared")),
            ("round", lazy("Those of one round")),
            ("sample", lazy("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    preference_round: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Round"),
        queryset=None,
        required=False,
        empty_label=lazy("none"),
        help_text=lazy("Only for the pairs of one round. A draft that nobody sees will do."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, study=study, **kwargs)
        offer(self, preference_round=PreferenceRound.objects.filter(study=study))
        # Each pair comes in both orders; several replies in one order would be one verdict.
        vars(self.fields["replicates"]).update(max_value=1)
        self.fields["replicates"].widget = forms.HiddenInput()
        self.fields["max_tokens"].help_text = lazy(
            "Room for a reason of two sentences and a verdict, more for models that think aloud. "
            "A cut reply is asked for once more with twice as many."
        )

    def clean_replicates(self) -> int:
        """One reply in each order."""
        if self.cleaned_data["replicates"] != 1:
            raise forms.ValidationError(_("Each pair is asked about once in each order."))
        return 1

    def clean(self) -> dict[str, Any]:
        """What several fields decide together."""
        data = super().clean()
        if data.get("choice") == "round" and not data.get("preference_round"):
            self.complain("preference_round", _("Say which round."))
        return data

    @property
    def target(self) -> dict[str, Any]:
        """What the run is about, as its spec keeps it."""
        data = self.cleaned_data
        round_ = data["preference_round"]
        return target_of(
            choice=data["choice"],
            round_=round_.public_id if data["choice"] == "round" else "",
            sample=data["sample"] or 0,
        )

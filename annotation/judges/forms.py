"""Forms for starting a relevance judge's run and for training a judge."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.judges.actions.relevance_judge import BATCH, BATCH_SIZE, KIND, SINGLE, target_of
from annotation.labelling.models import LabelRound, label_rounds_of
from cqa_site.people.models import User
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.web.pages import offer

LARGEST_BATCH = 100
# Tokens per entry of a batch: a number, a label and a reason of at most 300 characters.
TIGHT_TOKENS, AMPLE_TOKENS = 60, 100


class RunForm(RunPlanForm):
    kind = KIND
    prompt_kinds = (SINGLE, BATCH)
    advanced = ("replicates", "batch_size", *RunPlanForm.advanced)

    choice = forms.ChoiceField(
        label=_("Sentences"),
        choices=[
            ("all", _("All in the round")),
            ("final", _("With a final label")),
            ("undecided", _("Without a final label")),
            ("sample", _("A random sample")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    batch_size = forms.IntegerField(
        label=_("Maximum sentences per request"),
        initial=BATCH_SIZE,
        min_value=1,
        max_value=LARGEST_BATCH,
        help_text=_("Only for prompts with several sentences per request."),
    )

    def __init__(self, *args: Any, label_round: LabelRound, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, study=label_round.study, actor=actor, **kwargs)
        self.label_round = label_round

    @property
    def tokens_wanted(self) -> int | None:
        """Token limit that suffices for a whole batch; None if the chosen limit suffices."""
        data = self.cleaned_data
        if data["prompt"].kind != BATCH or not data["max_tokens"]:
            return None
        is_tight = data["max_tokens"] < TIGHT_TOKENS * data["batch_size"]
        return AMPLE_TOKENS * data["batch_size"] if is_tight else None

    @property
    def target(self) -> dict[str, Any]:
        """Selected sentences of the round, with its scale."""
        data = self.cleaned_data
        return target_of(
            self.label_round,
            choice=data["choice"],
            sample=data["sample"] or 0 if data["choice"] == "sample" else 0,
            batch_size=data["batch_size"],
        )


class TrainingForm(forms.Form):
    """Form for the source of labels: the round, or another round with the same scale."""

    source = forms.ModelChoiceField(
        label=_("Final labels from"),
        queryset=LabelRound.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text=_(
            "You can use the final labels of another round with the same scale, such as a "
            "pilot round."
        ),
    )

    def __init__(self, *args, label_round: LabelRound, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.label_round = label_round
        others = (
            label_rounds_of(label_round.study)
            .exclude(pk=label_round.pk)
            .select_related("guideline")
        )
        same = [
            other.pk for other in others if other.guideline.values == label_round.guideline.values
        ]
        offer(self, source=LabelRound.objects.filter(pk__in=same))
        vars(self.fields["source"]).update(empty_label=_("this round"))

    def clean_source(self) -> LabelRound:
        """Return the selected round, by default the round itself."""
        return self.cleaned_data["source"] or self.label_round

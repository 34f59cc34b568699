"""Forms for adjudication and final labels."""

import uuid
from datetime import datetime
from types import EllipsisType

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labelling.models import Assignment, LabelRound
from cqa_site.people.models import Rater
from cqa_site.web.pages import offer

MAX_COMMENT = 1_000


class AdjudicationForm(forms.Form):
    argument = forms.UUIDField(widget=forms.HiddenInput)
    label = forms.TypedChoiceField(label=_("Label"), coerce=int)
    comment = forms.CharField(
        label=_("Comment"),
        max_length=MAX_COMMENT,
        required=False,
        help_text=_(
            "What made the decision hard? Your answer is useful for the next version of the "
            "guideline."
        ),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    known = forms.DateTimeField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args, label_round: LabelRound, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        offer(self, label=[(value, value) for value in label_round.guideline.values])

    def clean_known(self) -> datetime | EllipsisType | None:
        """Return the time of the displayed decision; Ellipsis if the form has no such field."""
        return self.cleaned_data["known"] if "known" in self.data else ...


class MoveForm(forms.Form):
    """Form to skip a sentence, or to undo the decision made at the time ``known``."""

    move = forms.ChoiceField(choices=[("skip", "skip"), ("undo", "undo")])
    known = forms.DateTimeField(required=False)


class ConsensusForm(forms.ModelForm):
    """Form for the aggregation method, and for the rounds whose labels overrule the votes."""

    class Meta:
        model = LabelRound
        fields = ["aggregator", "overridden_by"]
        labels = {
            "aggregator": _("Aggregation method"),
            "overridden_by": _("Expert rounds that overrule the votes"),
        }
        help_texts = {
            "overridden_by": _(
                "If several experts gave a label, the most frequent label counts, or the higher "
                "label if labels tie."
            )
        }
        widgets = {"overridden_by": forms.CheckboxSelectMultiple}

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        others = LabelRound.objects.filter(study=self.instance.study_id)
        offer(self, overridden_by=others.exclude(pk=self.instance.pk))


class AdoptForm(forms.Form):
    source = forms.ChoiceField(label=_("Labels from"))
    only_tied = forms.BooleanField(
        label=_("Only where votes are tied"), required=False, initial=True
    )

    def __init__(self, *args, label_round: LabelRound, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        sources = [
            (f"{source}:{rater.public_id}", f"{name} · {rater.described}")
            for source, name, rater in _sources(label_round)
        ]
        offer(self, source=sources)

    @property
    def chosen(self) -> tuple[uuid.UUID, uuid.UUID]:
        """Public ids of the round and the rater."""
        label_round, rater = self.cleaned_data["source"].split(":")
        return uuid.UUID(label_round), uuid.UUID(rater)


def _sources(label_round: LabelRound) -> list[tuple[uuid.UUID, str, Rater]]:
    """Return the study's other rounds with each expert, model or release that labelled them."""
    labels = Assignment.objects.filter(
        round__study=label_round.study_id, state=Assignment.State.ANSWERED
    )
    labels = labels.exclude(round=label_round).exclude(rater__kind=Rater.Kind.PERSON)
    columns = ("round__public_id", "round__name", "rater")
    rows = list(labels.order_by("round__name", "rater").values_list(*columns).distinct())
    raters = Rater.objects.in_bulk({rater for *_label_round, rater in rows})
    return [(source, name, raters[rater]) for source, name, rater in rows]

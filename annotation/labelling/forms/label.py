"""What a label page sends."""

from django import forms

from annotation.labelling.actions.answering import Answer
from annotation.labelling.models.votes import Assignment


class AnswerForm(forms.Form):
    """One answer: a label, or a reason to skip; with or without script the same fields."""

    item = forms.UUIDField()
    client_key = forms.CharField(max_length=64)
    label = forms.IntegerField(min_value=0, max_value=9, required=False)
    skip_reason = forms.ChoiceField(choices=Assignment.SkipReason, required=False)
    comment = forms.CharField(max_length=1_000, required=False)
    flag = forms.BooleanField(required=False)
    active_ms = forms.IntegerField(required=False)
    # The page has items to go on with, so the reply need not bring any.
    has_enough = forms.BooleanField(required=False)
    known = forms.CharField(max_length=64, required=False)

    def answer(self) -> Answer:
        """The cleaned fields as the action takes them."""
        data = self.cleaned_data
        return Answer(
            client_key=data["client_key"],
            label=data["label"],
            skip_reason=data["skip_reason"],
            comment=data["comment"],
            is_flagged=data["flag"],
            active_ms=data["active_ms"],
            known=data["known"] if "known" in self.data else None,
        )

"""Whose final labels a judge is trained on."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.web.choices import offer


class TrainingForm(forms.Form):
    """The campaign itself, or another one of its study with the same label scale."""

    source = forms.ModelChoiceField(
        label=_("Final labels of"),
        queryset=Campaign.objects.none(),
        to_field_name="public_id",
        required=False,
        help_text=_(
            "Other rounds of the study with the same scale can lend their final labels, for "
            "instance a pilot round."
        ),
    )

    def __init__(self, *args, campaign: Campaign, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        others = campaigns_of(campaign.study).exclude(pk=campaign.pk).select_related("guideline")
        same = [each.pk for each in others if each.guideline.values == campaign.guideline.values]
        offer(self, source=Campaign.objects.filter(pk__in=same))
        vars(self.fields["source"]).update(empty_label=_("this round"))

    def clean_source(self) -> Campaign:
        """Nothing chosen means the campaign itself."""
        return self.cleaned_data["source"] or self.campaign

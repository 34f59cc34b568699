"""Forms for exports."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.exports.models import ExportFile
from annotation.exports.reports.answers_export import CONTENTS, FORMATS
from cqa_site.files.actions.exports import ExportOptions
from cqa_site.web.pages import offer


class SnapshotField(forms.ModelChoiceField):
    def label_from_instance(self, snapshot) -> str:
        """Return the snapshot's number, freezing date and note."""
        frozen = snapshot.frozen_at.strftime("%Y-%m-%d") if snapshot.frozen_at else ""
        return " · ".join(part for part in (f"#{snapshot.number}", frozen, snapshot.note) if part)


class ExportForm(forms.Form):
    snapshot = SnapshotField(
        label=_("Snapshot"),
        queryset=None,
        to_field_name="public_id",
        required=False,
        empty_label=_("Current state"),
        help_text=_("A frozen snapshot gives the same rows whenever you export it."),
    )
    contents = forms.MultipleChoiceField(
        label=_("Content"),
        choices=ExportFile.Content.choices,
        initial=[ExportFile.Content.VOTES],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Files created together use the same pseudonyms for annotators."),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        choices=ExportFile.Format.choices,
        initial=ExportFile.Format.CSV,
        widget=forms.RadioSelect,
    )
    with_comments = forms.BooleanField(
        label=_("Include annotators' comments"),
        required=False,
        help_text=_("Free text may reveal who wrote it. Read it before you publish the file."),
    )
    is_raw = forms.BooleanField(
        label=_("CSV exactly as stored"),
        required=False,
        help_text=_(
            "Warning: a sentence that begins with = or + can run as a formula when a "
            "spreadsheet program opens the file. If this option is off, an apostrophe is put "
            "in front of such text."
        ),
    )

    def __init__(self, *args, label_round, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        frozen = label_round.snapshots.filter(frozen_at__isnull=False)
        offer(self, snapshot=frozen.defer("rows", "figures"))

    @property
    def options(self) -> ExportOptions:
        """Selected options other than content and format."""
        return ExportOptions(self.cleaned_data["with_comments"], self.cleaned_data["is_raw"])


class AnswersFileForm(forms.Form):
    content = forms.ChoiceField(label=_("Content"), choices=CONTENTS)
    format = forms.ChoiceField(label=_("Format"), choices=FORMATS)
    with_comments = forms.BooleanField(label=_("With comments"), required=False)
    is_raw = forms.BooleanField(label=_("CSV for programs, not for spreadsheets"), required=False)

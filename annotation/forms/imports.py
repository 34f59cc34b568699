"""Forms of imports: the upload, and which column of a table is what."""

from collections.abc import Sequence

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from annotation.methods.generic_table import FIELDS, REQUIRED_FIELDS, check_mapping
from annotation.models import Answer, Comparison, ImportFile, Rater
from cqa_site.tabular.encodings import ACCEPTED

FILE_TYPES = ".csv,.tsv,.json,.jsonl,.ndjson,.xlsx,.txt,.zip"
FIELD_LABELS = {
    "object1": _("Object 1"),
    "object2": _("Object 2"),
    "text": _("Sentence"),
    "source_url": _("Source address"),
    "external_id": _("Item id"),
    "label": _("Label"),
    "rater": _("Rater"),
    "control_label": _("Control label"),
    "started": _("Time of the answer"),
    "comment": _("Comment"),
    "rater_kind": _("Kind of rater"),
    "state": _("State of the vote"),
    "is_extra": _("Extra vote"),
    "is_excluded": _("Rater excluded"),
    "skip_reason": _("Reason of a skip"),
    "is_flagged": _("Flagged"),
    "active_ms": _("Active time in ms"),
    "block": _("Block"),
    "position": _("Position in the block"),
}
ARGUMENT_FIELDS = ("object1", "object2", "text", "source_url", "external_id")
VOTE_FIELDS = ("label", "rater", "control_label", "started", "comment")
DETAIL_FIELDS = tuple(f for f in FIELDS if f not in (*ARGUMENT_FIELDS, *VOTE_FIELDS))


class OriginForm(forms.Form):
    """Who wrote the answers of a file, and under which of the prompts."""

    system = forms.CharField(
        label=_("System that wrote its answers"),
        required=False,
        max_length=120,
        help_text=_(
            "Empty: as kind and name of the file say. Of no use for files without answers."
        ),
    )
    scenario = forms.TypedChoiceField(
        label=_("Scenario of its answers"),
        required=False,
        choices=[("", _("As kind and name of the file say")), *Answer.Scenario.choices],
        coerce=int,
        empty_value=None,
    )


class UploadForm(OriginForm):
    """A file and what it is."""

    field_order = ("kind", "file", "campaign", "system", "scenario")
    kind = forms.ChoiceField(
        label=_("What is in the file"),
        choices=[*ImportFile.Kind.choices],
        initial=ImportFile.Kind.TABLE,
    )
    file = forms.FileField(label=_("File"), max_length=255)
    campaign = forms.CharField(
        label=_("Name of the campaign for its labels"),
        required=False,
        max_length=100,
        help_text=_("Empty: the file's name. Of no use for files without labels."),
    )

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "CSV, TSV, JSON, JSON Lines or XLSX, for ArgKP a ZIP archive, up to %s. "
            "Nothing is stored in the study before you have seen a dry run."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = FILE_TYPES


class SheetForm(forms.Form):
    """Which sheet of a workbook, or which encoding of a text file, to look at."""

    sheet = forms.ChoiceField(label=_("Sheet"), required=False)
    encoding = forms.ChoiceField(
        label=_("Encoding"),
        required=False,
        choices=[("", _("Recognise")), *((name, name) for name in ACCEPTED)],
    )

    def __init__(self, *args, sheets: Sequence[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sheet"].choices = [(name, name) for name in sheets]
        del self.fields["encoding" if sheets else "sheet"]


class MappingForm(forms.Form):
    """One choice of column per field; label and rater together make the rows votes."""

    campaign = forms.CharField(
        label=_("Campaign for the labels"),
        required=False,
        max_length=100,
        help_text=_("Found by name, or made. Empty: the file's name."),
    )
    rater_kind = forms.ChoiceField(
        label=_("The raters are"), choices=Rater.Kind.choices, initial=Rater.Kind.PERSON
    )
    undo_spreadsheet_marks = forms.BooleanField(
        label=_("Take off the apostrophes that protect spreadsheets from formulas"),
        required=False,
        help_text=_("Right for CSV files exported here, unless they were exported raw."),
    )

    def __init__(self, *args, columns: Sequence[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.columns = list(columns)
        choices = [("", "—"), *((name, name) for name in columns)]
        for field in FIELDS:
            self.fields[f"map_{field}"] = forms.ChoiceField(
                label=FIELD_LABELS[field],
                choices=choices,
                required=field in REQUIRED_FIELDS,
                help_text=_("needed") if field in REQUIRED_FIELDS else "",
            )

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The selects as the page shows them: arguments, votes, details."""
        named = (
            (_("Arguments"), ARGUMENT_FIELDS),
            (_("Labels (both label and rater, or neither)"), VOTE_FIELDS),
            (_("Details of a label, as our own exports have them"), DETAIL_FIELDS),
        )
        return [(name, [self[f"map_{field}"] for field in fields]) for name, fields in named]

    def clean(self) -> dict:
        """Check the choices together, in the words of the reader that will use them."""
        data = super().clean()
        mapping = {field: data[f"map_{field}"] for field in FIELDS if data.get(f"map_{field}")}
        if not self.errors:
            for sentence in check_mapping(self.columns, mapping):
                self.add_error(None, ValidationError(sentence[:1].upper() + sentence[1:] + "."))
        data["mapping"] = mapping
        return data


class ApplyForm(forms.Form):
    """What to do with rows that are rejected or differ."""

    leave_out_rejected = forms.BooleanField(
        label=_("Leave the rejected rows out"),
        required=False,
        # Only the browser insists; without the box the import itself refuses, with the reason.
        widget=forms.CheckboxInput(attrs={"required": True}),
    )
    update_changed = forms.BooleanField(
        label=_("Replace what differs by the file's content"), required=False
    )


class ArgumentSearchForm(forms.Form):
    """Search among the arguments of a study."""

    q = forms.CharField(label=_("Sentence contains"), required=False, max_length=200)
    comparison = forms.ModelChoiceField(
        label=_("Comparison"),
        required=False,
        queryset=Comparison.objects.none(),
        to_field_name="public_id",
        empty_label=_("All comparisons"),
    )

    def __init__(self, *args, study, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["comparison"].queryset = study.comparisons.all()

"""Forms of imports: the upload, and which column of a table is what."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from annotation.answers.models.answers import Answer
from annotation.corpus.methods.generic_table import FIELDS, REQUIRED_FIELDS, check_mapping
from annotation.corpus.models.questions import Comparison
from cqa_site.files.actions import batch_kinds, same_names
from cqa_site.files.actions.registry import known_kinds
from cqa_site.files.models import ImportFile
from cqa_site.people.models import Rater
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


class FilesInput(forms.FileInput):
    """A file input into which several can be chosen or dropped."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several, always as a list."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        """Judge each by itself."""
        return [super(FilesField, self).clean(each, initial) for each in data or [None]]


class SharedForm(OriginForm):
    """What holds for every file of an upload."""

    rater = forms.CharField(
        label=_("Judge or rater who gave its scores"),
        required=False,
        max_length=120,
        help_text=_("Of judged answers, and of score sheets without a column for it."),
    )


class UploadForm(SharedForm):
    """One file or several, and what they are."""

    field_order = ("kind", "file", "rater", "campaign", "system", "scenario")
    kind = forms.ChoiceField(
        label=_("What is in the file"),
        choices=known_kinds,
        initial=ImportFile.Kind.TABLE,
    )
    file = FilesField(label=_("File, or several of this kind"), max_length=255)
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

    def clean(self) -> dict[str, Any]:
        """Several files are of a kind that asks nothing of each, and have names of their own."""
        data = super().clean() or {}
        files = data.get("file") or []
        if len(files) > 1 and data.get("kind") not in dict(batch_kinds()):
            several = _("Files of this kind ask a question each: upload them one by one.")
            self.add_error("file", several)
        if same := same_names(files):
            twice = _("Several of these files have the same name: %s") % ", ".join(same)
            self.add_error("file", twice)
        return data

    @property
    def options(self) -> dict[str, Any]:
        """As the import keeps them."""
        names = ("campaign", "system", "scenario", "rater")
        return {name: self.cleaned_data[name] for name in names}


class BatchApplyForm(forms.Form):
    """Which files to import, and what to do with rows that are rejected or differ."""

    files = forms.TypedMultipleChoiceField(coerce=UUID)
    leave_out_rejected = forms.BooleanField(
        label=_("Leave the rejected rows out of their files"), required=False
    )
    update_changed = forms.BooleanField(
        label=_("Replace what differs by the files' content"), required=False
    )

    def __init__(self, *args: Any, waiting: Sequence[UUID], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["files"].choices = [(str(each), str(each)) for each in waiting]


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
        data = super().clean() or {}
        mapping = {field: data[f"map_{field}"] for field in FIELDS if data.get(f"map_{field}")}
        if not self.errors:
            for sentence in check_mapping(self.columns, mapping):
                self.add_error(None, ValidationError(sentence[:1].upper() + sentence[1:] + "."))
        data["mapping"] = mapping
        return data


class MatchForm(forms.Form):
    """One button's word on one near match, or on all: ``same:17``, ``other:``."""

    said = forms.RegexField(r"^(same|other):([0-9]{0,9})$")

    @property
    def decision(self) -> str:
        """That it is the same answer, or another one."""
        return self.cleaned_data["said"].partition(":")[0]

    @property
    def rows(self) -> list[int] | None:
        """Which row; None for all."""
        row = self.cleaned_data["said"].partition(":")[2]
        return [int(row)] if row else None


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

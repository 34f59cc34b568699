"""Forms of imports: the upload, and which column of a table is what."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Rater
from cqa_site.tabular.encodings import ACCEPTED
from cqa_site.web.choices import offer

from .actions.batches import same_names
from .actions.recognising import of_one_kind
from .formats import batch_kinds, kinds_under_headings
from .options import OptionsForm, asked_with_uploads

FILE_TYPES = ".csv,.tsv,.json,.jsonl,.ndjson,.xlsx,.txt,.zip"


class FilesInput(forms.FileInput):
    """A file input into which several can be chosen or dropped."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several, always as a list."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        """Judge each by itself."""
        return [super(FilesField, self).clean(each, initial) for each in data or [None]]


class UploadForm(OptionsForm):
    """One file or several, and what they are."""

    kind = forms.ChoiceField(
        label=_("What is in the file"),
        required=False,
        help_text=_("You are told what it was taken for and why, and can say otherwise."),
    )
    file = FilesField(label=_("File, or several of this kind"), max_length=255)

    def __init__(self, *args: Any, goal: str, **kwargs: Any) -> None:
        super().__init__(*args, asked=asked_with_uploads(), **kwargs)
        found = ("", _("Find out from its content"))
        offer(self, kind=[found, *kinds_under_headings(goal)])
        self.fields["file"].help_text = _(
            "CSV, TSV, JSON, JSON Lines or XLSX, or a ZIP archive of such files, up to %s. "
            "Nothing is stored in the study before you have seen a dry run."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = FILE_TYPES

    def clean(self) -> dict[str, Any]:
        """Several files are of a kind that asks nothing of each, and have names of their own."""
        data = super().clean() or {}
        files = data.get("file") or []
        if len(files) > 1 and not data.get("kind"):
            data["kind"], problem = of_one_kind(files)
            if problem:
                self.add_error("kind", problem)
        if len(files) > 1 and data.get("kind") and data.get("kind") not in dict(batch_kinds()):
            several = _("Files of this kind ask a question each: upload them one by one.")
            self.add_error("file", several)
        if same := same_names(files):
            twice = _("Several of these files have the same name: %s") % ", ".join(same)
            self.add_error("file", twice)
        return data

    @property
    def options(self) -> dict[str, Any]:
        """As the import keeps them."""
        return {each.name: self.cleaned_data[each.name] for each in asked_with_uploads()}


class KindForm(forms.Form):
    """What a file is, where its content does not say or a person knows better."""

    kind = forms.ChoiceField(label=_("What is in the file"))

    def __init__(self, *args: Any, goal: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, kind=kinds_under_headings(goal))


class BatchApplyForm(forms.Form):
    """Which files to import, and what to do with rows that are rejected or differ."""

    files = forms.TypedMultipleChoiceField(coerce=UUID)  # type: ignore[assignment]  # a field of this name
    leave_out_rejected = forms.BooleanField(
        label=_("Leave the rejected rows out of their files"), required=False
    )
    update_changed = forms.BooleanField(
        label=_("Replace what differs by the files' content"), required=False
    )

    def __init__(self, *args: Any, waiting: Iterable[UUID], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, files=[(str(each), str(each)) for each in waiting])


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
        offer(self, sheet=[(name, name) for name in sheets])
        del self.fields["encoding" if sheets else "sheet"]


class ColumnsForm(forms.Form):
    """One choice of column for each field; a format's own form says which fields there are."""

    # Fields that stand under "How to take it".
    beside: tuple[str, ...] = ("rater_kind",)
    rater_kind = forms.ChoiceField(
        label=_("The raters are"), choices=Rater.Kind.choices, initial=Rater.Kind.PERSON
    )
    undo_spreadsheet_marks = forms.BooleanField(
        label=_("Take off the apostrophes that protect spreadsheets from formulas"),
        required=False,
        help_text=_("Right for CSV files exported here, unless they were exported raw."),
    )

    def __init__(
        self,
        *args: Any,
        columns: Sequence[str],
        labels: Mapping[str, Any],
        required: Collection[str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.columns, self.labels = list(columns), labels
        choices = [("", "—"), *((name, name) for name in columns)]
        for field, label in labels.items():
            self.fields[f"map_{field}"] = forms.ChoiceField(
                label=label,
                choices=choices,
                required=field in required,
                help_text=_("needed") if field in required else "",
            )

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Headings with the fields below them; the last group is folded."""
        raise NotImplementedError

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """What is wrong with the choices together, in the words of the reader that uses them."""
        raise NotImplementedError

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The selects as the page shows them."""
        return [
            (name, [self[f"map_{field}"] for field in fields]) for name, fields in self.grouped()
        ]

    def how(self) -> list[forms.BoundField]:
        """The fields that are no columns."""
        return [self[name] for name in (*self.beside, "undo_spreadsheet_marks")]

    def clean(self) -> dict:
        """Keep the columns that were chosen, as ``mapping``."""
        data = super().clean() or {}
        mapping = {
            field: data[f"map_{field}"] for field in self.labels if data.get(f"map_{field}")
        }
        if not self.errors:
            for sentence in self.check(mapping):
                self.add_error(None, ValidationError(sentence[:1].upper() + sentence[1:] + "."))
        data["mapping"] = mapping
        return data

    @property
    def options(self) -> dict[str, Any]:
        """As the import keeps them."""
        names = (*self.beside, "undo_spreadsheet_marks", "mapping")
        return {name: self.cleaned_data[name] for name in names}


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

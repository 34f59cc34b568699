"""Forms for imports: uploads, questions about a file, and columns of a table."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.template.defaultfilters import filesizeformat
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Rater, Study
from cqa_site.tabular.detection import ACCEPTED
from cqa_site.web.pages import offer
from .actions.import_jobs import same_names
from .actions.imports import READING
from .actions.recognition import guess, of_one_kind, preview_of
from .format_parts import OptionsForm, asked_with_uploads
from .formats import batch_kinds, kinds_under_headings
from .models import ImportFile

FILE_TYPES = ".csv,.tsv,.json,.jsonl,.ndjson,.xlsx,.ods,.xls,.txt,.zip"
LONGEST_TITLE = 70


class FilesInput(forms.FileInput):
    """File input that accepts several chosen or dropped files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Field for one or more files, always as a list."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        """Validate each file separately."""
        return [super(FilesField, self).clean(file, initial) for file in data or [None]]


class UploadForm(OptionsForm):
    kind = forms.ChoiceField(
        label=_("Kind of data"),
        required=False,
        help_text=_("You see the detected kind and the reason for it, and can change the kind."),
    )
    file = FilesField(label=_("One file, or several of the same kind"), max_length=255)

    def __init__(self, *args: Any, goal: str, **kwargs: Any) -> None:
        super().__init__(*args, asked=asked_with_uploads(), **kwargs)
        self.advanced = tuple(option.name for option in asked_with_uploads())
        choice = ("", _("Detect from content"))
        offer(self, kind=[choice, *kinds_under_headings(goal)])
        self.fields["file"].help_text = _(
            "CSV, TSV, JSON, JSON Lines, XLSX, XLS, ODS, or a ZIP archive of them, up to "
            "%s. Nothing is stored in the study before you see a dry run."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = FILE_TYPES

    def clean(self) -> dict[str, Any]:
        """Check that several files have different names and a kind without separate questions."""
        data = super().clean() or {}
        files = data.get("file") or []
        if len(files) > 1 and not data.get("kind"):
            data["kind"], problem = of_one_kind(files)
            if problem:
                self.add_error("kind", problem)
        if len(files) > 1 and data.get("kind") and data.get("kind") not in dict(batch_kinds()):
            several = _(
                "Upload files of this kind one by one, because each file needs its own settings."
            )
            self.add_error("file", several)
        if same := same_names(files):
            twice = _("Several of these files have the same name: %s") % ", ".join(same)
            self.add_error("file", twice)
        return data

    @property
    def options(self) -> dict[str, Any]:
        """Options in the format that the import stores."""
        return {option.name: self.cleaned_data[option.name] for option in asked_with_uploads()}


class KindForm(forms.Form):
    """The kind of a file, if its content is unclear or the detected kind is wrong."""

    kind = forms.ChoiceField(label=_("Kind of data"))

    def __init__(self, *args: Any, goal: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, kind=kinds_under_headings(goal))


class BatchApplyForm(forms.Form):
    """Choice of the files to import, and of how to treat rejected or differing rows."""

    files = forms.TypedMultipleChoiceField(coerce=UUID)  # type: ignore[assignment]  # a field of this name
    leave_out_rejected = forms.BooleanField(label=_("Skip rejected rows"), required=False)
    update_changed = forms.BooleanField(
        label=_("Replace stored values that differ"), required=False
    )

    def __init__(self, *args: Any, waiting: Iterable[UUID], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, files=[(str(file_id), str(file_id)) for file_id in waiting])


ENCODINGS = [(name, name) for name in ACCEPTED]


class SheetForm(forms.Form):
    """Options for opening a table: its sheet or encoding, and the row with the column names."""

    sheet = forms.ChoiceField(label=_("Sheet"), required=False)
    encoding = forms.ChoiceField(
        label=_("Encoding"), required=False, choices=[("", _("Detect")), *ENCODINGS]
    )
    header_row = forms.IntegerField(
        label=_("Header row"), required=False, min_value=1, max_value=100
    )

    def __init__(
        self, *args, sheets: Sequence[str], header_row: int | None = None, **kwargs
    ) -> None:
        super().__init__(*args, **kwargs)
        offer(self, sheet=[(name, name) for name in sheets])
        del self.fields["encoding" if sheets else "sheet"]
        if header_row is None:
            del self.fields["header_row"]
        else:
            self.fields["header_row"].widget.attrs["placeholder"] = str(header_row)


class ReadingForm(forms.Form):
    encoding = forms.ChoiceField(choices=ENCODINGS)


def titled(column: str, title: str) -> str:
    """Return a column name followed by its question."""
    if not title or title in column:
        return column
    return f"{column} · {Truncator(title).chars(LONGEST_TITLE)}"


class ColumnsForm(forms.Form):
    """Choice of a column for each field; each format's form defines the fields."""

    # Fields under "How to take it".
    beside: tuple[str, ...] = ("rater_kind",)
    # Collapsed fields; see `cqa_site.web.templatetags.pages`.
    advanced: tuple[str, ...] = ("undo_spreadsheet_marks",)
    rater_kind = forms.ChoiceField(
        label=_("Type of raters"), choices=Rater.Kind.choices, initial=Rater.Kind.PERSON
    )
    undo_spreadsheet_marks = forms.BooleanField(
        label=_("Remove the apostrophes that protect spreadsheets from formulas"),
        required=False,
        help_text=_("For CSV files exported from this site, unless they were exported raw."),
    )

    def __init__(
        self,
        *args: Any,
        columns: Sequence[str],
        labels: Mapping[str, Any],
        required: Collection[str],
        titles: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Build the fields; ``titles`` contains the questions behind short column names."""
        super().__init__(*args, **kwargs)
        self.columns, self.labels = list(columns), labels
        headings = titles or {}
        choices = [("", "—"), *((name, titled(name, headings.get(name, ""))) for name in columns)]
        for field, label in labels.items():
            self.fields[f"map_{field}"] = forms.ChoiceField(
                label=label,
                choices=choices,
                required=field in required,
                help_text=_("required") if field in required else "",
            )

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Return headings with the fields below them; the last group is collapsed."""
        raise NotImplementedError

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """Return the errors in the combined choices, as worded by the code that reads the file."""
        raise NotImplementedError

    def more_columns(self) -> dict[str, str]:
        """Return the fields and columns that are set without a select element."""
        return {}

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the select elements in page order."""
        return [
            (name, [self[f"map_{field}"] for field in fields]) for name, fields in self.grouped()
        ]

    def how(self) -> list[forms.BoundField]:
        """Return the fields that are neither column choices nor collapsed."""
        return [self[name] for name in self.beside if name not in self.advanced]

    def clean(self) -> dict:
        """Collect the chosen columns as ``mapping``."""
        data = super().clean() or {}
        mapping = {
            field: data[f"map_{field}"] for field in self.labels if data.get(f"map_{field}")
        } | self.more_columns()
        if not self.errors:
            for sentence in self.check(mapping):
                self.add_error(None, ValidationError(sentence[:1].upper() + sentence[1:] + "."))
        data["mapping"] = mapping
        return data

    @property
    def options(self) -> dict[str, Any]:
        """Options in the format that the import stores."""
        names = (*self.beside, "undo_spreadsheet_marks", "mapping")
        return {name: self.cleaned_data[name] for name in names}


class MatchForm(forms.Form):
    """A button's decision about one near match or all of them: ``same:17``, ``other:``."""

    said = forms.RegexField(r"^(same|other):([0-9]{0,9})$")

    @property
    def decision(self) -> str:
        """Decision of the button: same or other."""
        return self.cleaned_data["said"].partition(":")[0]

    @property
    def rows(self) -> list[int] | None:
        """The row that the decision applies to, or None for all rows."""
        row = self.cleaned_data["said"].partition(":")[2]
        return [int(row)] if row else None


class ApplyForm(forms.Form):
    leave_out_rejected = forms.BooleanField(
        label=_("Skip rejected rows"),
        required=False,
        # Only the browser requires the box; without it, the import refuses with the reason.
        widget=forms.CheckboxInput(attrs={"required": True}),
    )
    update_changed = forms.BooleanField(
        label=_("Replace stored values that differ"), required=False
    )


# Questions about a file before the check, on one page for all formats


class ImportForm:
    """Questions about one file; subclasses define them for their format.

    Attributes
    ----------
    title, heading
        Title and heading of the page.
    beside
        A template below the form.
    form_class
        The form with the questions, which takes the study as an argument.
    """

    title: Any = ""
    heading: Any = ""
    beside: str = ""
    # Names of the query parameters that the page accepts.
    seen_names: Sequence[str] = ()
    form_class: type[Any]

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        self.study, self.file, self.seen = study, file, seen

    def note(self) -> Any:
        """Return a hint shown above the form."""
        return ""

    def missing(self) -> tuple[Any, Any] | None:
        """Return a heading and text to show instead of the form while the file is unreadable."""
        return None

    def initial(self) -> dict[str, Any]:
        """Return the earlier answers."""
        return self.file.options

    def form(self, data: Any) -> forms.Form:
        """Return the form with the earlier or guessed answers."""
        return self.form_class(data, study=self.study, initial=self.initial())

    def options(self, form: Any) -> dict[str, Any]:
        """Return the options to store from a valid form."""
        return self.file.options | form.cleaned_data


class ImportColumnsForm(ImportForm):
    """Questions about the columns of a table; raises UnreadableFile if it is not a table."""

    title = _("Columns")
    heading = _("Columns")
    seen_names: tuple[str, ...] = READING
    sheet_class: type[SheetForm] = SheetForm

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        super().__init__(study, file, seen)
        self.preview = preview_of(file, seen)
        self.sheet_form = self.sheet_class(
            initial=seen, sheets=self.preview.sheets, header_row=self.preview.header_row
        )

    @property
    def about_columns(self) -> dict[str, Any]:
        """Form arguments: the columns and their questions."""
        return {"columns": self.preview.columns, "titles": self.preview.titles}

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns to show."""
        return self.preview.columns

    @property
    def headings(self) -> list[tuple[str, str]]:
        """Column names, each with its question."""
        titles = self.preview.titles
        return [(name, titles.get(name, "")) for name in self.columns]

    @property
    def rows(self) -> list[tuple[int, list[Any]]]:
        """Cells of the first rows."""
        names = self.columns
        return [(row.number, [row.values[name] for name in names]) for row in self.preview.rows]

    def initial(self) -> dict[str, Any]:
        """Return the earlier choices, or guesses based on the headers."""
        values = {name: value for name, value in self.file.options.items() if value is not None}
        options = self.file.options | self.seen
        likely = guess(self.file, self.preview, options)
        mapping = values.get("mapping") or {}
        if not mapping or not set(mapping.values()) <= set(self.preview.columns):
            # These choices are from another sheet or header row.
            mapping = likely["mapping"]
        return {
            **likely,
            **values,
            "mapping": mapping,
            **{f"map_{field}": column for field, column in mapping.items()},
        }

    def options(self, form: ColumnsForm) -> dict[str, Any]:
        """Return the columns and the settings with which the table was read."""
        return {**form.options, **self.seen}

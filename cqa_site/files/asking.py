"""What a file is asked about before the first look, on one page for all formats."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Study

from .actions.guessing import preview_of
from .formats import format_of
from .forms import ColumnsForm, SheetForm
from .models import ImportFile


class Asking:
    """Questions about one file; a format's own child says which.

    Attributes
    ----------
    title, heading
        Words of the page.
    beside
        A template below the form.
    """

    title: Any = ""
    heading: Any = ""
    beside: str = ""
    # What the page itself may be asked for by its address.
    seen_names: Sequence[str] = ()

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        self.study, self.file, self.seen = study, file, seen

    def note(self) -> Any:
        """Something good to know, above the form."""
        return ""

    def missing(self) -> tuple[Any, Any] | None:
        """Heading and sentence in place of the form, where the file cannot be taken yet."""
        return None

    def form(self, data: Any) -> forms.Form:
        """The questions, with what was said or can be guessed."""
        raise NotImplementedError

    def options(self, form: Any) -> dict[str, Any]:
        """What is kept of a valid form."""
        return self.file.options | form.cleaned_data


class AskingColumns(Asking):
    """Which column of a table is what; raises UnreadableFile for what is no table."""

    title = _("Columns")
    heading = _("Which column is what?")
    seen_names: tuple[str, ...] = ("sheet", "encoding")

    def __init__(self, study: Study, file: ImportFile, seen: Mapping[str, str]) -> None:
        super().__init__(study, file, seen)
        self.preview = preview_of(file, seen)
        self.sheet_form: forms.Form = SheetForm(initial=seen, sheets=self.preview.sheets)

    @property
    def rows(self) -> list[tuple[int, list[Any]]]:
        """The first rows, cell by cell."""
        names = self.preview.columns
        return [(row.number, [row.values[name] for name in names]) for row in self.preview.rows]

    def initial(self) -> dict[str, Any]:
        """What was chosen before, else a guess from the headers."""
        said = {name: value for name, value in self.file.options.items() if value is not None}
        options = self.file.options | self.seen
        guess = format_of(self.file.kind).guess(self.file, self.preview, options)
        mapping = said.get("mapping") or guess["mapping"]
        return {**guess, **said, **{f"map_{field}": column for field, column in mapping.items()}}

    def options(self, form: ColumnsForm) -> dict[str, Any]:
        """The columns, and how the table was read to find them."""
        return {**form.options, **self.seen}

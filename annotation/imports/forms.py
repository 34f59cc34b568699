"""Forms that match table columns to fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.corpus.methods.column_guess import is_own_export, unread_labels
from annotation.corpus.methods.generic_table import (
    FIELDS,
    LABELS_OF,
    REQUIRED_FIELDS,
    check_mapping,
    labels_by_rater,
)
from cqa_site.files.forms import ColumnsForm, ImportColumnsForm

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
    "skip_reason": _("Reason for a skip"),
    "is_flagged": _("Flagged"),
    "active_ms": _("Active time in ms"),
    "block": _("Block"),
    "position": _("Position in the block"),
}
ARGUMENT_FIELDS = ("object1", "object2", "text", "source_url", "external_id")
VOTE_FIELDS = ("label", "rater", "control_label", "started", "comment")
DETAIL_FIELDS = tuple(f for f in FIELDS if f not in (*ARGUMENT_FIELDS, *VOTE_FIELDS))


class MappingForm(ColumnsForm):
    """Form with one column choice per field; if label and rater are set, each row has a vote."""

    beside = ("label_round", "rater", "rater_kind")
    label_columns = forms.MultipleChoiceField(
        label=_("Or one label column per rater"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Each column name is the name of a rater."),
    )
    rater = forms.CharField(
        label=_("Rater for all rows"),
        required=False,
        max_length=120,
        help_text=_("Needed only if no column identifies the raters."),
    )
    label_round = forms.CharField(
        label=_("Round for the labels"),
        required=False,
        max_length=100,
        help_text=_("Existing or new round. Default: the file name."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, labels=FIELD_LABELS, required=REQUIRED_FIELDS, **kwargs)
        self.fields["label_columns"].choices = [(name, name) for name in self.columns]  # type: ignore[attr-defined]
        wide = labels_by_rater(self.initial.get("mapping") or {})
        self.initial.setdefault("label_columns", list(wide.values()))

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the groups, with the raters' columns below the label column."""
        arguments, (title, votes), *rest = super().groups()
        return [arguments, (title, [*votes, self["label_columns"]]), *rest]

    def more_columns(self) -> dict[str, str]:
        """Return a field for each column that holds one rater's labels."""
        return {
            f"{LABELS_OF}{column}": column for column in self.cleaned_data.get("label_columns", ())
        }

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Return the groups of fields: arguments, votes, details."""
        return (
            (_("Arguments"), ARGUMENT_FIELDS),
            (_("Labels (both label and rater, or neither)"), VOTE_FIELDS),
            (_("Label details, as in this site's exports"), DETAIL_FIELDS),
        )

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """Return the problems with a mapping, as reported by the reader that uses it."""
        has_rater = bool(self.cleaned_data.get("rater"))
        return check_mapping(self.columns, mapping, has_rater=has_rater)


class TableImportForm(ImportColumnsForm):
    """Form step for the columns of arguments, and of votes if label and rater are chosen."""

    def note(self) -> Any:
        """Return a note that everything is set, or that labels need a rater."""
        columns, rows = self.preview.columns, self.preview.rows
        if is_own_export(columns):
            return _(
                "These are the columns of this site's votes export, so everything is already set."
            )
        labels = unread_labels(columns, rows, self.initial()["mapping"])
        if not labels:
            return ""
        text = _(
            "The column “%s” may contain labels, but no column names the raters. To import votes, "
            "choose it as the label and name the rater, or choose one label column per rater."
        )
        return text % labels[0]

    def form(self, data: Any) -> MappingForm:
        """Return the form with one column choice per field."""
        return MappingForm(data, **self.about_columns, initial=self.initial())

"""Which column of a table is what."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.corpus.methods.generic_table import FIELDS, REQUIRED_FIELDS, check_mapping
from cqa_site.files.forms import ColumnsForm

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


class MappingForm(ColumnsForm):
    """One choice of column per field; label and rater together make the rows votes."""

    beside = ("label_round", "rater_kind")
    label_round = forms.CharField(
        label=_("Round for the labels"),
        required=False,
        max_length=100,
        help_text=_("Found by name, or made. Empty: the file's name."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, labels=FIELD_LABELS, required=REQUIRED_FIELDS, **kwargs)

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Arguments, votes, details."""
        return (
            (_("Arguments"), ARGUMENT_FIELDS),
            (_("Labels (both label and rater, or neither)"), VOTE_FIELDS),
            (_("Details of a label, as our own exports have them"), DETAIL_FIELDS),
        )

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """In the words of the reader that will use them."""
        return check_mapping(self.columns, mapping)

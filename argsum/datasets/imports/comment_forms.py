"""What a file of comments is asked: what they are about, and which column is what."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.methods.comment_columns import wrong_columns
from argsum.datasets.methods.dates import Order
from argsum.datasets.methods.raw_cells import LONGEST_TOPIC
from cqa_site.files.forms import ColumnsForm

from .comment_reading import ARE_NEW, ARE_SAME, AS_COMMENT, AS_HEADER
from .entries import LONGEST_NAME

# Datasets named beside the field; all of them are offered while one types.
NAMED = 3
LABELS = {
    "comment": _("Comment"),
    "topic": _("Topic, where it differs from row to row"),
    "id": _("Id"),
    "date": _("Date"),
    "group": _("Group"),
}


class CommentsForm(ColumnsForm):
    """Dataset, topic and columns; a topic is said here or in every row."""

    beside = ("dataset", "topic", "first_row", "date_order", "repeats")
    rater_kind = None  # type: ignore[assignment]  # nobody rates
    dataset = forms.CharField(
        label=_("Name of the dataset"),
        max_length=LONGEST_NAME,
        required=False,
        help_text=_("Found by name and filled up, or made. Empty: the file's name."),
    )
    topic = forms.CharField(
        label=_("What were people asked, or what is it about?"),
        max_length=LONGEST_TOPIC,
        required=False,
        help_text=_("Needed, unless a column says it or the dataset is here with one topic."),
    )
    first_row = forms.ChoiceField(
        label=_("The first row"),
        required=False,
        choices=[(AS_COMMENT, _("is a comment")), (AS_HEADER, _("names the columns"))],
        help_text=_("Only a file of one column can do without names."),
    )
    date_order = forms.ChoiceField(
        label=_("Dates such as 3/4/2024 begin with"),
        required=False,
        choices=[
            (Order.UNKNOWN.value, _("what the column shows")),
            (Order.DAY.value, _("the day")),
            (Order.MONTH.value, _("the month")),
        ],
    )
    repeats = forms.ChoiceField(
        label=_("Rows without id that are here already"),
        required=False,
        choices=[
            (ARE_SAME, _("are the same comments")),
            (ARE_NEW, _("are new comments that say the same")),
        ],
        help_text=_("This very file adds nothing when it comes again, either way."),
    )

    def __init__(
        self, *args: Any, has_topic: bool, names: Sequence[str] = (), **kwargs: Any
    ) -> None:
        """``names`` are those of datasets that the file could go into."""
        super().__init__(*args, labels=LABELS, required=("comment",), **kwargs)
        self.has_topic = has_topic
        if names:
            self.fields["dataset"].widget.attrs["list"] = "dataset-names"
            self.fields["dataset"].help_text = _(
                "A new one, or for a further file the name of one that is here: %s."
            ) % ", ".join(f"“{each}”" for each in names[:NAMED])

    def grouped(self) -> Sequence[tuple[Any, Sequence[str]]]:
        """Comments, and what may stand beside them."""
        return (
            (_("Columns"), ("comment", "id", "date", "group")),
            (_("More than one topic"), ("topic",)),
        )

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """What nobody can know from the file comes first."""
        about = [self["topic"], self["dataset"]]
        return [(str(_("What it is about")), about), *super().groups()]

    def how(self) -> list[forms.BoundField]:
        """The fields that are neither that nor columns."""
        names = ("first_row", "date_order", "repeats", "undo_spreadsheet_marks")
        return [self[name] for name in names]

    def check(self, mapping: Mapping[str, str]) -> list[str]:
        """Columns twice, and no topic."""
        problems = wrong_columns(mapping)
        data = self.cleaned_data
        if not (mapping.get("topic") or data.get("topic") or self.has_topic):
            missing = _("Say what people were asked, or choose a column of topics.")
            self.add_error("topic", str(missing))
        return problems

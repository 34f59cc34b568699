"""What a file of comments is asked about, beside its first rows."""

from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from argsum.datasets.methods.comment_columns import question_of
from argsum.datasets.models import Dataset
from cqa_site.files.asking import AskingColumns

from .asking import MOST_NAMES
from .comment_forms import CommentsForm
from .comment_reading import AS_COMMENT, AS_HEADER, COMMENTS, first_is_comment
from .entries import dataset_name


class AskingComments(AskingColumns):
    """Dataset, topic, and which column is what."""

    title = gettext_lazy("Comments")
    heading = gettext_lazy("What are these comments about?")
    beside = "argsum/datasets/_comment_names.html"

    @cached_property
    def names(self) -> list[tuple[str, list[str]]]:
        """Datasets of comments that are here already, each with its first topics."""
        found = Dataset.objects.filter(study=self.study, recipe__holds=COMMENTS)
        found = found.prefetch_related("cells")[:MOST_NAMES]
        return [(each.name, [cell.topic for cell in each.cells.all()][:3]) for each in found]

    def note(self) -> Any:
        """That the first row was taken as a comment, or what the file does not name."""
        if not first_is_comment(self.preview, self.file.options):
            return ""
        return _("The first row looks like a comment, so it is taken as one.")

    def form(self, data: Any) -> CommentsForm:
        """With what was said, or the file shows."""
        columns = self.preview.columns
        initial = self.initial()
        initial["dataset"] = dataset_name(self.file.options, self.file.name)
        has_first = first_is_comment(self.preview, self.file.options)
        initial["first_row"] = AS_COMMENT if has_first else AS_HEADER
        asked = "" if has_first else question_of(initial.get("map_comment") or columns[0])
        initial["topic"] = self.file.options.get("topic") or asked
        named = (data or {}).get("dataset") or initial["dataset"]
        topics = dict(self.names).get(named.strip(), [])
        return CommentsForm(
            data,
            columns=columns,
            initial=initial,
            has_topic=len(topics) == 1,
            names=[name for name, _topics in self.names],
        )

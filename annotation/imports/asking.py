"""Which column of a table of sentences and votes is what."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.corpus.methods.column_guess import is_own_export
from cqa_site.files.asking import AskingColumns

from .forms import MappingForm


class AskingTable(AskingColumns):
    """Arguments, and votes on them where label and rater are chosen."""

    def note(self) -> Any:
        """That nothing is left to choose."""
        if not is_own_export(self.preview.columns):
            return ""
        return _(
            "These are the columns of a votes export of this site: everything is chosen already."
        )

    def form(self, data: Any) -> MappingForm:
        """One choice of column per field."""
        return MappingForm(data, columns=self.preview.columns, initial=self.initial())

"""What a file of counts is asked about: whose they are, and where their sets go."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from argsum.counting.forms.imports import CountImportForm
from argsum.datasets.imports.asking import AskingDataset

from .entries import dataset_of, rater_of


class AskingCounts(AskingDataset):
    """Dataset and rater."""

    title = _("Counts of one person")
    heading = _("Whose counts, and which dataset?")

    def form(self, data: Any) -> CountImportForm:
        """The only dataset of the study is the likely one."""
        options = self.file.options
        only = self.names[0] if len(self.names) == 1 else dataset_of(options)
        initial = options | {
            "dataset": dataset_of(options) if options.get("dataset") else only,
            "rater": rater_of(options, self.file.name),
        }
        return CountImportForm(data, initial=initial)

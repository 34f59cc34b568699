"""What a file with arguments is asked about: the dataset it goes into."""

from functools import cached_property
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.datasets.forms import DatasetForm
from cqa_site.files.asking import Asking

from .entries import dataset_name

MOST_NAMES = 20


class AskingDataset(Asking):
    """The name of the dataset."""

    title = _("Arguments")
    heading = _("Which dataset is it for?")
    beside = "argsum/datasets/_names.html"

    @cached_property
    def names(self) -> list[str]:
        """Datasets that are here already."""
        return list(self.study.argument_datasets.values_list("name", flat=True)[:MOST_NAMES])

    def form(self, data: Any) -> forms.Form:
        """With what was said, or the file's name says."""
        options = self.file.options
        name = dataset_name(options, self.file.name)
        return DatasetForm(data, initial={**options, "dataset": name})

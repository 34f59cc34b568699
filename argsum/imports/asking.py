"""What a file of stored scores is asked about: its dataset and its system."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.imports.actions.entries import system_of
from cqa_site.files.asking import Asking

from .forms import StoredScoresForm, SystemKeyPointsForm


class AskingScores(Asking):
    """Which dataset the scores are about, and what the system is called."""

    title = _("Stored scores")
    heading = _("Which dataset are the scores about?")

    def missing(self) -> tuple[Any, Any] | None:
        """That there is nothing yet that scores could be about."""
        if self.study.argument_datasets.exists():
            return None
        return _("No dataset yet"), _("Import the arguments, or people's counts, first.")

    def form(self, data: Any) -> forms.Form:
        """With what was said, or the file's name says."""
        options = self.file.options
        initial = options | {"system": system_of(options, self.file.name)}
        return StoredScoresForm(data, study=self.study, initial=initial)


class AskingKeyPoints(AskingScores):
    """Which dataset the key points sum up, and what the file does not say."""

    title = _("Key points of a system")
    heading = _("Which dataset do they sum up?")

    def form(self, data: Any) -> forms.Form:
        """With what was said, or the file's name says."""
        options = self.file.options
        initial = options | {"system": system_of(options, self.file.name)}
        return SystemKeyPointsForm(data, study=self.study, initial=initial)

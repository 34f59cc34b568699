"""Titles of the checks of the answer checklist."""

from django.utils.translation import gettext_lazy as _

# Code of `annotation.answers.methods.checks.CHECKS` → title.
TITLES = {
    "summary_length": _("Length of the summary"),
    "body_length": _("Length of the main part"),
    "aspects_named": _("Named aspects"),
    "choice": _("One-word choice"),
    "length": _("Total length"),
    "argument_count": _("Number of arguments"),
    "citations_exist": _("Valid citations"),
    "generated_marked": _("Source for every aspect"),
    "not_copied": _("No argument copied in full"),
    "repetition": _("No repetition"),
}

"""What the points of the answer checklist are called."""

from django.utils.translation import gettext_lazy as _

# Code of `annotation.answers.methods.checks.CHECKS` → title.
TITLES = {
    "summary_length": _("Length of the summary"),
    "body_length": _("Length of the main part"),
    "aspects_named": _("Aspects with names"),
    "choice": _("Choice in one word"),
    "length": _("Length of everything"),
    "argument_count": _("Number of arguments"),
    "citations_exist": _("Citations that exist"),
    "generated_marked": _("Every aspect has its source"),
    "not_copied": _("Nothing copied whole"),
    "repetition": _("No repetition"),
}

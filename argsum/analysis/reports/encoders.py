"""The encoder of an analysis, in words: its name, why it was chosen, and one that would help."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis
from argsum.datasets.reports.comments import NAMES
from argsum.scorers.methods.encoders import MOST_STATEMENTS, SHIPPED
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.judging.encoders import ENCODERS, MPNET, SentenceEncoder, encoder_for


@dataclass(frozen=True)
class AnalysisEncoder:
    """Name of the encoder and the reason for it; both are empty where the scorer has its own.

    ``better`` reads the language of the comments and was not used; None if there is none.
    """

    name: str = ""
    title: str = ""
    why: str = ""
    better: SentenceEncoder | None = None


def encoder_of(analysis: Analysis) -> AnalysisEncoder:
    """Return the encoder of an analysis."""
    if not (name := str(analysis.options.get("encoder", ""))):
        return AnalysisEncoder()
    better = encoder_for(analysis.language)
    reason = str(analysis.options.get("encoder_reason", ""))
    return AnalysisEncoder(
        name=name,
        title=_title(name),
        why=_why(name, reason, str(NAMES.get(analysis.language, ""))),
        better=None if better is None or better.name in (name, MPNET) else better,
    )


def _title(name: str) -> str:
    if name == SHIPPED:
        return _("the match scorer’s own (%s, trained further)") % PACKAGED_MODEL
    encoder = ENCODERS.get(name)
    title = encoder.title if encoder else name
    return _("the match scorer’s own and %s") % title if name == MPNET else title


def _why(name: str, reason: str, language: str) -> str:
    """Return the reason as one sentence."""
    language = language or _("an unknown language")
    if reason == "asked":
        return _("It was chosen when the analysis was started.")
    if name == MPNET:
        return _("The comments are in English; each score is the mean of both encoders’ scores.")
    if reason == "language":
        why = _(
            "The comments are in %s, which the match scorer does not know; "
            "this encoder separates praise from complaints less well."
        )
        return why % language
    if reason == "many":
        return _("There are more than %s statements, which a larger encoder reads too slowly.") % (
            f"{MOST_STATEMENTS:,}"
        )
    if reason == "debate":
        return _("All are on one side of a debate, as in the training data of the match scorer.")
    if reason == "missing":
        return _("No other encoder for %s was installed.") % language
    return _("There is no other encoder for %s.") % language

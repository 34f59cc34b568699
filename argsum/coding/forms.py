"""Forms for runs in which a language model proposes key points or assigns statements."""

from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy as _

from argsum.analysis.forms import AnalysisRunForm
from argsum.analysis.reports.history import sign_off_of
from argsum.coding.actions import assignment, proposal
from argsum.coding.actions.prompts import ASSIGNMENT_PROMPTS, PROPOSAL_PROMPTS
from cqa_site.runs.forms.plan import differing

# Tokens per entry of a reply: for a key point with its theme, and for a statement with its reason.
POINT_TOKENS, STATEMENT_TOKENS = 80, 100


class PointProposalForm(AnalysisRunForm):
    """Language model, prompt and sizes for a proposal of key points."""

    kind = proposal.KIND
    prompt_kinds = tuple(PROPOSAL_PROMPTS)
    advanced = ("words", *AnalysisRunForm.advanced)
    target_of = staticmethod(proposal.target_of)
    sizes = ("requests", "points", "themes", "words")
    entries = ("points", POINT_TOKENS)

    requests = forms.IntegerField(
        label=_("Maximum samples"),
        initial=proposal.REQUESTS,
        min_value=1,
        max_value=proposal.MOST_REQUESTS,
        help_text=_("Each sample is read in one request."),
    )
    statements = forms.IntegerField(
        label=_("Statements per sample"),
        initial=proposal.SAMPLE,
        min_value=5,
        max_value=proposal.MOST_SAMPLE,
        help_text=_("Drawn at random with the seed. No statement is in more than one sample."),
    )
    points = forms.IntegerField(
        label=_("Maximum key points"),
        initial=proposal.POINTS,
        min_value=2,
        max_value=proposal.MOST_POINTS,
    )
    themes = forms.IntegerField(
        label=_("Maximum themes"), initial=proposal.THEMES, min_value=1, max_value=30
    )
    words = forms.IntegerField(
        label=_("Maximum words per key point"), initial=proposal.WORDS, min_value=3, max_value=60
    )
    max_tokens = differing(
        "max_tokens",
        initial=2_000,
        help_text=_(
            "About 80 for each key point; allow more for models that reason first. A truncated "
            "reply is requested once more with twice as many tokens."
        ),
    )

    @property
    def target(self) -> dict[str, Any]:
        return super().target | {"sample": self.cleaned_data["statements"]}


class PointAssignmentForm(AnalysisRunForm):
    """Language model, prompt and sizes for an assignment of statements to key points."""

    kind = assignment.KIND
    prompt_kinds = tuple(ASSIGNMENT_PROMPTS)
    target_of = staticmethod(assignment.target_of)
    sizes = ("batch_size", "most_codes")
    entries = ("batch_size", STATEMENT_TOKENS)

    batch_size = forms.IntegerField(
        label=_("Statements per request"),
        initial=assignment.BATCH,
        min_value=1,
        max_value=assignment.MOST_BATCH,
        help_text=_(
            "With fewer statements per request, a run costs more, but the model judges "
            "them more carefully."
        ),
    )
    most_codes = forms.IntegerField(
        label=_("Maximum key points per statement"),
        initial=assignment.MOST_CODES,
        min_value=1,
        max_value=assignment.LARGEST_CODES,
    )
    max_tokens = differing(
        "max_tokens",
        initial=1_500,
        help_text=_(
            "About 100 for each statement in a request, more for models that reason. A truncated "
            "reply is requested once more with twice as many tokens."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """Check that the key points have been signed off."""
        data = super().clean()
        analysis = data.get("analysis")
        if analysis is not None:
            state = sign_off_of(analysis)
            if not state.is_valid:
                text = gettext("The key points are not signed off. Sign them off first.")
                self.add_error(None, text)
            elif state.shown > assignment.MOST_POINTS:
                text = gettext("At most %d key points are possible. Hide or merge some.")
                self.add_error(None, text % assignment.MOST_POINTS)
        return data

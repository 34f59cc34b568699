"""The form for a run in which a language model summarizes an analysis in prose."""

from django import forms
from django.utils.translation import gettext_lazy as _

from argsum.analysis.forms import AnalysisRunForm
from cqa_site.runs.forms.plan import differing
from .actions.prompts import PARAGRAPHS, PROMPTS, SENTENCES, STATEMENTS, WORDS, target_of
from .actions.runs import KIND

# Tokens per sentence in a reply, including its citations.
TOKENS = 90


class ProseForm(AnalysisRunForm):
    """Language model, prompt and sizes of a summary in prose."""

    kind = KIND
    prompt_kinds = tuple(PROMPTS)
    target_of = staticmethod(target_of)
    sizes = ("paragraphs", "sentences", "words", "statements")
    entries = ("sentences", TOKENS)

    paragraphs = forms.IntegerField(
        label=_("Maximum paragraphs"),
        initial=PARAGRAPHS,
        min_value=1,
        max_value=50,
        help_text=_("One for each theme, the most frequent first."),
    )
    sentences = forms.IntegerField(
        label=_("Maximum sentences per paragraph"), initial=SENTENCES, min_value=1, max_value=12
    )
    words = forms.IntegerField(
        label=_("Maximum words per sentence"), initial=WORDS, min_value=8, max_value=60
    )
    statements = forms.IntegerField(
        label=_("Maximum statements shown"),
        initial=STATEMENTS,
        min_value=3,
        max_value=100,
        help_text=_(
            "For each paragraph. Statements with different wordings are chosen from all key "
            "points that the paragraph covers."
        ),
    )
    max_tokens = differing(
        "max_tokens",
        initial=900,
        help_text=_(
            "About 90 for each sentence; allow more for models that reason first. A truncated "
            "reply is requested once more with twice as many tokens."
        ),
    )

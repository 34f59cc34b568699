"""The kinds of runs of this app, and where their parts are."""

from django.utils.translation import gettext_lazy as lazy

from cqa_site.runs.kind_parts import Home, KindParts, describe
from cqa_site.runs.kinds import register


def register_kinds() -> None:
    """Tell the engine and the pages about them; nothing is imported yet."""
    register("relevance", "annotation.actions.relevance_judge.RelevanceKind")
    register("answers", "annotation.actions.answer_generation.AnswersKind")
    register("coherence", "annotation.actions.coherence_judge.CoherenceKind")
    for kind, parts in PARTS.items():
        describe(kind, parts)


PARTS = {
    "relevance": KindParts(
        name=lazy("Relevance of sentences"),
        prompts="annotation.actions.relevance_judge.PROMPTS",
        tried_on="annotation.actions.prompt_preview.RELEVANCE",
        subjects="annotation.reports.call_subjects.RELEVANCE",
        page="annotation.views.judge_runs.judge_page",
        start="annotation.api.run_starts.RELEVANCE",
        about="annotation.reports.run_names.campaign_of",
    ),
    "answers": KindParts(
        name=lazy("Generated answers"),
        prompts="annotation.actions.answer_prompts.PROMPTS",
        tried_on="annotation.actions.prompt_preview.ANSWERS",
        subjects="annotation.reports.call_subjects.ANSWERS",
        page="annotation.views.generation_run.page",
        start="annotation.api.run_starts.ANSWERS",
        home=Home("answers", "generations", lazy("Generated answers")),
    ),
    "coherence": KindParts(
        name=lazy("Coherence of citations"),
        prompts="annotation.actions.coherence_judge.PROMPTS",
        tried_on="annotation.actions.prompt_preview.COHERENCE",
        subjects="annotation.reports.call_subjects.COHERENCE",
        page="annotation.views.coherence.run_page",
        start="annotation.api.run_starts.COHERENCE",
        home=Home("answers", "coherence_runs", lazy("Coherence of citations")),
    ),
}

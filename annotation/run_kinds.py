"""The kinds of runs of this app: what the engine asks of them, and what is shown of them."""

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as lazy

from annotation.actions import answer_prompts, coherence_judge, prompt_preview, relevance_judge
from annotation.actions.answer_generation import AnswersKind
from annotation.reports import call_subjects as about_calls
from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.runs.api.starts import Start
from cqa_site.runs.kind_parts import Home, Told
from cqa_site.runs.kinds import RunKind, register
from cqa_site.runs.models import Run


def register_kinds() -> None:
    """Make them known."""
    register(Relevance())
    register(Answers())
    register(Coherence())


class Relevance(relevance_judge.RelevanceKind, RunKind):
    """A language model labels the sentences of a campaign."""

    name = relevance_judge.KIND
    title = lazy("Relevance of sentences")
    home = Home("judges", "runs", lazy("Judges"))
    prompts = relevance_judge.PROMPTS
    tried_on = prompt_preview.RELEVANCE
    call_subjects = about_calls.RELEVANCE
    related = ("relevance__campaign",)
    filters = {"campaign": "relevance__campaign__public_id"}

    def page(self, request: StudyRequest, study: Study, run: Run) -> HttpResponse:
        """Its campaign, and other runs over it."""
        from annotation.views.judge_runs import judge_page

        return judge_page(request, study, run)

    def start(self) -> Start:
        """Over a campaign."""
        from annotation.api.run_starts import RELEVANCE

        return RELEVANCE

    def told(self) -> Told:
        """Its campaign, arguments and labels."""
        from annotation.api.judge_labels import RELEVANCE

        return RELEVANCE

    def about(self, run: Run) -> str:
        """Its campaign."""
        return str(run.relevance.campaign.name)


class Answers(AnswersKind, RunKind):
    """A language model answers questions."""

    name = "answers"
    title = lazy("Generated answers")
    home = Home("answers", "generations", lazy("Generated answers"))
    prompts = answer_prompts.PROMPTS
    tried_on = prompt_preview.ANSWERS
    call_subjects = about_calls.ANSWERS
    related = ("generation__system",)

    def page(self, request: StudyRequest, study: Study, run: Run) -> HttpResponse:
        """What it was asked, and what it wrote."""
        from annotation.views.generation_run import page

        return page(request, study, run)

    def start(self) -> Start:
        """Over questions."""
        from annotation.api.run_starts import ANSWERS

        return ANSWERS

    def told(self) -> Told:
        """Its system and questions."""
        from annotation.api.judge_labels import ANSWERS

        return ANSWERS


class Coherence(coherence_judge.CoherenceKind, RunKind):
    """A language model judges citations."""

    name = coherence_judge.KIND
    title = lazy("Coherence of citations")
    home = Home("answers", "coherence_runs", lazy("Coherence of citations"))
    prompts = coherence_judge.PROMPTS
    tried_on = prompt_preview.COHERENCE
    call_subjects = about_calls.COHERENCE

    def page(self, request: StudyRequest, study: Study, run: Run) -> HttpResponse:
        """What it was asked, and what it said."""
        from annotation.views.coherence import run_page

        return run_page(request, study, run)

    def start(self) -> Start:
        """Over citations."""
        from annotation.api.run_starts import COHERENCE

        return COHERENCE

"""Background work of this app: kinds of runs with their pages, and job handlers."""

from django.utils.translation import gettext_lazy as lazy

from annotation.consensus.actions import consensus
from annotation.exports.actions import EXPORTS
from annotation.faithfulness.actions import coherence, figures
from annotation.faithfulness.actions.coherence import COHERENCE as COHERENCE_PREVIEW
from annotation.faithfulness.reports.tables import COHERENCE_CALLS
from annotation.figures import actions as figure_actions
from annotation.generation.actions import prompts as answer_prompts
from annotation.generation.actions.answer_runs import ANSWERS as ANSWERS_PREVIEW, AnswersKind
from annotation.generation.reports import ANSWERS_CALLS
from annotation.judges.actions import relevance_judge, trained_judge
from annotation.judges.actions.relevance_judge import RELEVANCE as RELEVANCE_PREVIEW
from annotation.judges.reports.results import RELEVANCE_CALLS
from annotation.retrieval.actions import (
    arguments as retrieval_arguments,
    corpora as retrieval_corpora,
)
from cqa_site.files.actions.exports import FOLDERS, register as register_exports
from cqa_site.judging.packages import PackagePart
from cqa_site.runs.jobs import handles
from cqa_site.runs.kinds import Home, RunKind, register
from cqa_site.runs.models import Run
from cqa_site.web.housekeeping import chore


def register_kinds() -> None:
    """Register the kinds of runs in this app."""
    register(Relevance())
    register(Answers())
    register(Coherence())


class Relevance(relevance_judge.RelevanceKind, RunKind):
    """Runs in which a language model labels the sentences of a round."""

    name = relevance_judge.KIND
    title = lazy("Relevance of sentences")
    home = Home("judges", "runs", lazy("Labels by judges"))
    prompts = relevance_judge.PROMPTS
    tried_on = RELEVANCE_PREVIEW
    call_subjects = RELEVANCE_CALLS
    related = ("relevance__label_round",)
    filters = {"label_round": "relevance__label_round__public_id"}
    view_path = "annotation.judges.views.runs.judge_page"
    start_path = "annotation.judges.api.RELEVANCE_START"
    told_path = "annotation.judges.api.RELEVANCE_EXTENSION"

    def about(self, run: Run) -> str:
        """Return the name of the run's round."""
        return str(run.relevance.label_round.name)


class Answers(AnswersKind, RunKind):
    """Runs in which a language model answers questions."""

    name = "answers"
    title = lazy("Generated answers")
    unusable = lazy("Unusable")
    home = Home("answers", "generations", lazy("Generated answers"))
    prompts = answer_prompts.PROMPTS
    tried_on = ANSWERS_PREVIEW
    call_subjects = ANSWERS_CALLS
    related = ("generation__system",)
    view_path = "annotation.generation.views.run_page"
    start_path = "annotation.generation.api.ANSWERS_START"
    told_path = "annotation.generation.api.ANSWERS_EXTENSION"


class Coherence(coherence.CoherenceKind, RunKind):
    """Runs in which a language model judges citations."""

    name = coherence.KIND
    title = lazy("Coherence of citations")
    home = Home("judges", "coherence_runs", lazy("Coherence of citations"))
    prompts = coherence.PROMPTS
    tried_on = COHERENCE_PREVIEW
    call_subjects = COHERENCE_CALLS
    view_path = "annotation.faithfulness.views.faithfulness.run_page"
    start_path = "annotation.faithfulness.api.faithfulness.COHERENCE"


# Job handlers and periodic tasks

handles(figure_actions.JOB)(figure_actions.make_snapshot)
handles(consensus.JOB)(consensus.make_final_labels)
register_exports(EXPORTS)
handles(trained_judge.JOB, needs=PackagePart.LANGUAGE, is_long=True)(
    trained_judge.make_trained_judge
)
handles(figures.JOB, is_long=True)(figures.make_figures)
handles(retrieval_corpora.CHECK_JOB)(retrieval_corpora.check_corpus)
handles(retrieval_corpora.LOAD_JOB, is_long=True)(retrieval_corpora.load_corpus)
handles(retrieval_corpora.DELETE_JOB, is_long=True)(retrieval_corpora.delete_corpus)
handles(retrieval_arguments.JOB, sends=True)(retrieval_arguments.ask_cam)

chore("corpora never loaded")(retrieval_corpora.discard_old_corpora)
FOLDERS[retrieval_corpora.FOLDER] = retrieval_corpora.stored_names

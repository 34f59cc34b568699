"""From questions to the systems that answer them best."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.answers.models.answers import Answer
from benchmark.judges.actions import kind as scoring_judge
from benchmark.preferences import judge
from benchmark.preferences.kind import PREFERRING
from benchmark.scoring.actions.kind import SCORING
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Study
from cqa_site.rounds.models import Round
from cqa_site.runs.models import Run
from cqa_site.web.navigation.paths import Path, Step, step

# With one system there is nothing to rank.
FEWEST = 2


def steps(study: Study) -> list[Step]:
    """Questions, answers of systems, somebody who scores, scores, the leaderboard."""
    questions = study.questions.count()
    systems = (
        Answer.objects.filter(system__study=study).order_by().values("system").distinct().count()
    )
    scored = ScoreSheet.objects.filter(study=study, state="submitted")
    ranked = scored.order_by().values("answer__system").distinct().count()
    n_scored = scored.count()
    rounds = Round.objects.filter(study=study, kind__in=(SCORING.name, PREFERRING.name))
    runs = Run.objects.filter(study=study, kind__in=(scoring_judge.KIND, judge.KIND))
    has_scorers = rounds.exclude(state=Round.State.DRAFT).exists() or runs.exists()
    found = ngettext("%(count)s question is here.", "%(count)s questions are here.", questions)
    named = ngettext(
        "%(count)s system answered. A second one makes a comparison: import what it wrote, or let "
        "a model write here.",
        "%(count)s systems answered.",
        systems,
    )
    return [
        step(
            study,
            title=_("Have questions"),
            text=found % {"count": f"{questions:,}"}
            if questions
            else _(
                "Comparisons of two things, with an aspect if you like: type them or import them."
            ),
            button=_("Questions"),
            page="questions",
            is_done=questions > 0,
        ),
        step(
            study,
            title=_("Have answers of two systems or more"),
            text=named % {"count": systems}
            if systems
            else _(
                "Import what systems wrote, or let models write here, with one prompt for all."
            ),
            button=_("Generate answers"),
            page="generations",
            other=(_("Import answers"), "imports"),
            is_done=systems >= FEWEST,
        ),
        step(
            study,
            title=_("Choose who scores"),
            text=_(
                "People in a round, blind to who wrote what, or a language model by the same "
                "rubric. Scores that were given elsewhere can be imported."
            ),
            button=_("People"),
            page="scoring_rounds",
            other=(_("Language models"), "scoring_runs"),
            is_done=has_scorers or ranked > 0,
        ),
        step(
            study,
            title=_("Let them score"),
            text=ngettext("%(count)s sheet is in.", "%(count)s sheets are in.", n_scored)
            % {"count": f"{n_scored:,}"},
            button=_("Scoring rounds"),
            page="scoring_rounds",
            other=(_("Runs of judges"), "scoring_runs"),
            is_done=ranked >= FEWEST,
        ),
        step(
            study,
            title=_("Read the leaderboard"),
            text=_("Ranks with their intervals, and which differences the questions can show."),
            button=_("Leaderboard"),
            page="scores",
            # It is computed when somebody opens it.
            is_done=ranked >= FEWEST and study.board_snapshots.exists(),
        ),
    ]


ANSWERS = Path(
    "answers",
    lazy("Who writes the best answers?"),
    lazy("Systems answer the same questions; people or judges score them by a rubric."),
    steps,
    place=20,
    terms=("comparative question", "system", "rubric version", "score sheet", "judge"),
)

"""Menu entries, and the steps from questions to the best systems."""

from collections.abc import Iterator

from django.db.models import Count
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.models import Answer
from benchmark.judges.actions import kind
from benchmark.preferences import kind as preferences_judge
from benchmark.preferences.kind import PREFERRING
from benchmark.scoring.actions import SCORING
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.models import Study
from cqa_site.rounds.models import Round
from cqa_site.runs.models import Run
from cqa_site.stats.verdicts import least_to_differ
from cqa_site.web.navigation import Finder, MenuEntry, Path, StudyStep, step
from .rubrics.models import RubricVersion

RUBRICS = Finder(
    lazy("Rubric"), lambda study: RubricVersion.objects.filter(study=study), ("name",), "rubric"
)


def score_entries() -> Iterator[MenuEntry]:
    """Yield the leaderboard entry first, then the entries it depends on."""
    tour = lazy(
        "Which system writes the best answers, and how certain each rank is. Try another judge "
        "or another column."
    )
    export = lazy("export download")
    yield MenuEntry("score", lazy("Score leaderboard"), "scores", 10, tour=tour, also=export)
    tour = lazy("Whether a language model can replace a person, and which data are still missing.")
    yield MenuEntry("score", lazy("Replace annotators?"), "score_replace", place=25, tour=tour)
    yield MenuEntry("score", lazy("Rubrics"), "rubrics", place=60)
    yield MenuEntry("score", lazy("Score snapshots"), "boards", place=70)
    yield MenuEntry("score", lazy("Training data"), "distillation", place=80)
    yield MenuEntry("judges", lazy("Judge leaderboard"), "score_judges", place=60)


# A ranking needs at least two systems.
FEWEST = 2
# Minimum questions to distinguish two systems; more systems need a few more questions.
LEAST = least_to_differ()


def steps(study: Study) -> list[StudyStep]:
    """Return the steps: questions, answers by systems, raters, scores and the leaderboard."""
    questions = study.questions.count()
    systems = (
        Answer.objects.filter(system__study=study).order_by().values("system").distinct().count()
    )
    scored = ScoreSheet.objects.filter(study=study, state="submitted").order_by()
    counts = scored.aggregate(sheets=Count("pk"), systems=Count("answer__system", distinct=True))
    by_question = scored.values("answer__question").annotate(
        systems=Count("answer__system", distinct=True)
    )
    shared = by_question.filter(systems__gte=FEWEST).count()
    rounds = Round.objects.filter(study=study, kind__in=(SCORING.name, PREFERRING.name))
    runs = Run.objects.filter(study=study, kind__in=(kind.KIND, preferences_judge.KIND))
    has_scorers = rounds.exclude(state=Round.State.DRAFT).exists() or runs.exists()
    is_enough = shared >= LEAST
    return [
        _questions(study, questions),
        _answers(study, systems),
        step(
            study,
            title=_("Choose raters"),
            text=_(
                "Have people score in a round, without seeing who wrote the answers, or have a "
                "language model score with the same rubric. You can also import existing scores."
            ),
            button=_("People"),
            page="scoring_rounds",
            other=(_("Language models"), "scoring_runs"),
            is_done=has_scorers or counts["systems"] > 0,
        ),
        step(
            study,
            title=_("Collect scores"),
            text=_sheets_in(counts["sheets"], counts["systems"], shared),
            button=_("Scoring rounds"),
            page="scoring_rounds",
            other=(_("Judge runs"), "scoring_runs"),
            is_done=is_enough,
        ),
        step(
            study,
            title=_("Read the leaderboard"),
            text=_("Ranks with intervals, and the differences that these questions can show."),
            button=_("Leaderboard"),
            page="scores",
            # The leaderboard is computed when it is first opened.
            is_done=is_enough and study.board_snapshots.exists(),
        ),
    ]


def _questions(study: Study, count: int) -> StudyStep:
    sentence = ngettext(
        "%(count)s question in this study", "%(count)s questions in this study", count
    )
    text = sentence % {"count": f"{count:,}"}
    needed = _("; telling two systems apart takes at least %(n)s that both answered") % {
        "n": LEAST
    }
    advice = _(
        "Type or import comparisons of two objects, with an optional aspect. To see a finished "
        "leaderboard, import the sample score sheets on the imports page."
    )
    return step(
        study,
        title=_("Add questions"),
        text=(f"{text}." if count >= LEAST else f"{text}{needed}.") if count else advice,
        button=_("Questions"),
        page="questions",
        other=None if count >= LEAST else (_("Imports and samples"), "imports"),
        is_done=count >= LEAST,
    )


def _answers(study: Study, systems: int) -> StudyStep:
    named = ngettext(
        "%(count)s system has answered. To compare systems, import answers from a second one, or "
        "let a model write them here.",
        "%(count)s systems have answered.",
        systems,
    )
    sentence = _("Import answers, or let models write them here, all with the same prompt.")
    return step(
        study,
        title=_("Add answers from at least two systems"),
        text=named % {"count": systems} if systems else sentence,
        button=_("Generate answers"),
        page="generations",
        other=(_("Import answers"), "imports?kind=answers"),
        is_done=systems >= FEWEST,
    )


def _sheets_in(sheets: int, systems: int, shared: int) -> str:
    """Return the number of sheets, and the number of questions needed to show a difference."""
    text = ngettext("%(count)s sheet submitted", "%(count)s sheets submitted", sheets) % {
        "count": f"{sheets:,}"
    }
    if not sheets or shared >= LEAST:
        return f"{text}."
    if systems < FEWEST:
        return text + _(", all for one system; a ranking needs a second one.")
    more = ngettext(
        "; %(shared)s question has sheets for two systems, and telling them apart takes at least "
        "%(n)s.",
        "; %(shared)s questions have sheets for two systems, and telling them apart takes at "
        "least %(n)s.",
        shared,
    )
    return text + more % {"shared": shared, "n": LEAST}


ANSWERS = Path(
    "answers",
    lazy("Who writes the best answers?"),
    lazy("Systems answer the same questions; people or judges score the answers with a rubric."),
    steps,
    groups=frozenset(("data", "answers", "score", "judges", "study")),
    place=20,
    terms=("comparative question", "system", "rubric version", "score sheet", "judge", "interval"),
)

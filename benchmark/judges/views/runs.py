"""The list of scoring runs, and starting one."""

from collections import Counter

from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from benchmark.judges.actions.kind import KIND, ScoringKind
from benchmark.judges.actions.targets import count_held_out, count_learned, count_other_conditions
from benchmark.judges.forms import ScoringRunForm
from benchmark.judges.reports.calls import CANARY, PLAIN, SWAP, Asked
from benchmark.scoring.models.runs import ScoringRun
from cqa_site.people.models import Study
from cqa_site.runs.actions.runs import draft
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.views.face import Part, RunColumn, RunFace, RunFilter, Taken, run_urls


def _taken(study: Study, form: PlanForm, requests: int) -> Taken:
    """Requests by what they are for, and answers that are left out."""
    spec = (run := draft(form.plan, study)).spec
    asked = [Asked(*subject.ids) for subject in ScoringKind().subjects(run)]
    parts = Counter(each.probe for each in asked)
    answers = len({each.answer for each in asked if each.probe == PLAIN})
    facts = [
        (lazy("Answers"), answers),
        (lazy("Requests for their sheets"), parts[PLAIN] * spec["replicates"]),
        (lazy("Attack canaries"), parts[CANARY] * spec["replicates"]),
        (lazy("With swapped objects"), parts[SWAP] * spec["replicates"]),
        (lazy("Requests in all"), requests),
    ]
    return Taken(facts, _left_out(study, spec["target"]))


def _left_out(study: Study, target: dict) -> list[str]:
    """A sentence for each reason why answers are left out."""
    conditions, learned, held = (
        count(study, target) for count in (count_other_conditions, count_learned, count_held_out)
    )
    notes = (
        (
            conditions,
            ngettext(
                "%(n)s answer is left out because it was written under another condition.",
                "%(n)s answers are left out because they were written under other conditions.",
                conditions,
            ),
        ),
        (
            learned,
            ngettext(
                "%(n)s answer is left out because its system was trained on the question.",
                "%(n)s answers are left out because their systems were trained on the questions.",
                learned,
            ),
        ),
        (
            held,
            ngettext(
                "%(n)s answer is left out because of the examples.",
                "%(n)s answers are left out because of the examples.",
                held,
            ),
        ),
    )
    return [words % {"n": f"{n:,}"} for n, words in notes if n]


FACE = RunFace(
    kind=KIND,
    name="scoring",
    form=ScoringRunForm,
    parts=(
        Part(
            lazy("What is scored"),
            (
                ("rubric",),
                ("choice",),
                ("scoring_round", "sample"),
                ("systems", "scenarios"),
                ("conditions",),
                ("replicates",),
            ),
            summary=lazy("Name single answers"),
            folded=("answers",),
        ),
        Part(lazy("Examples"), (("shots",), ("example1", "example2"), ("holds_out_questions",))),
        Part(lazy("Tests of the judge"), (("canaries", "swap"),)),
    ),
    by=("reasons",),
    has_things=lambda study: study.answers.exists(),
    taken=_taken,
    about=lazy(
        "Language models score answers by the rubric that people use. Every run tests its judge "
        "with planted orders."
    ),
    new=lazy("Score answers by a judge"),
    lead=lazy(
        "A model fills the sheet that people fill: the same rubric, the same question and aspect, "
        "and nothing about who wrote the answer."
    ),
    nothing=lazy(
        "A judge scores the answers of the study. Import some, or let a model write them."
    ),
    starts=(("imports", lazy("Import answers")), ("generation_new", lazy("Generate answers"))),
    columns=(
        RunColumn(lazy("Rubric"), "benchmark/judges/_run_rubric.html"),
        RunColumn(lazy("Canaries"), "benchmark/judges/_run_trust.html"),
    ),
    filters=(
        RunFilter(
            "trust", lazy("Canaries"), lambda *_: ScoringRun.Trust.choices, "scoring__trust"
        ),
    ),
    related=("scoring__rubric", "scoring__rater"),
)
urlpatterns = run_urls(FACE, "scores/judges/runs/")

"""Fill a throw-away site with people, data, and one open round of a kind.

    python -m benchmarks.made_rounds '{"kind": "score", "people": 50, "items": 3000, …}'

Prints the public ids of the study and the round, and the URL of the work page. The people's
e-mail addresses are a0@bench.example and so on.
"""

import json
import sys
from itertools import islice, product
from typing import Any

BATCH = 5_000
SYSTEMS = 8
# Numbers of references and summaries in a set to count.
REFERENCES, SUMMARIES = 4, 5
TEXT = """Summary:
The {one} is lighter than the {other}, which carries more [1]. It depends on the way [{n}].

Main Aspects of Comparison:
- Weight: The {one} is carried by one person without help [1].
- Room: The {other} has space for two, a tent and food for a week [2].
- Speed: On calm water the {one} needs fewer strokes [3].

Best Option:
{one} ({n})"""


def label(wanted: dict[str, Any], study: Any, boss: Any, users: list[Any]) -> Any:
    """Create a round of sentences; the first sentences are control items."""
    from annotation.labelling.actions.rounds import default_guideline
    from annotation.labelling.models import Item, LabelRound

    controls = wanted["controls"]
    label_round = LabelRound.objects.create(
        study=study,
        name="Benchmark",
        guideline=default_guideline(study),
        votes_per_item=wanted["votes"],
        **LabelRound.USUAL,
    )
    rows = _arguments(study, wanted["items"] + controls)
    Item.objects.bulk_create(
        (
            Item(
                round=label_round,
                argument=row,
                external_id=str(row.public_id),
                control_label=2 if n < controls else None,
            )
            for n, row in enumerate(rows)
        ),
        batch_size=BATCH,
    )
    return label_round


def score(wanted: dict[str, Any], study: Any, boss: Any, users: list[Any]) -> Any:
    """Create a round of answers, each scored by several people."""
    from benchmark.rubrics.models import default_rubric
    from benchmark.scoring.actions import ScoringPlan, plan_round

    _answers(study, wanted["items"])
    plan = ScoringPlan(
        name="Benchmark",
        seed=1,
        rubric=default_rubric(study),
        overlap_share=1.0,
        overlap_raters=wanted["votes"],
    )
    return plan_round(study=study, plan=plan, actor=boss)


def prefer(wanted: dict[str, Any], study: Any, boss: Any, users: list[Any]) -> Any:
    """Create a round of answer pairs, each judged by several people."""
    from benchmark.preferences.actions import PreferencePlan, plan_round

    _answers(study, wanted["items"])
    plan = PreferencePlan(name="Benchmark", seed=1, size=wanted["items"], raters=wanted["votes"])
    return plan_round(study=study, plan=plan, actor=boss)


def edit(wanted: dict[str, Any], study: Any, boss: Any, users: list[Any]) -> Any:
    """Create an editing round with the same number of answers for each person."""
    from annotation.editing.actions.rounds import LEAVE_NOTHING, EditingPlan, plan_round

    _answers(study, wanted["items"])
    plan = EditingPlan(
        name="Benchmark",
        seed=1,
        experts=tuple(users),
        calibration=0,
        individual=wanted["items"] // len(users),
        leave=LEAVE_NOTHING,
    )
    return plan_round(study=study, plan=plan, actor=boss)


def count(wanted: dict[str, Any], study: Any, boss: Any, users: list[Any]) -> Any:
    """Create a round of key point sets, each counted by several people."""
    from argsum.counting.actions.rounds import ALL, CountingPlan, plan_round

    _summary_sets(study, wanted["items"])
    plan = CountingPlan(name="Benchmark", seed=1, per_cell=ALL, raters=wanted["votes"])
    return plan_round(study=study, plan=plan, actor=boss)


# Function that creates a round of each kind, and the role of its workers.
KINDS = {
    "label": (label, "annotator"),
    "score": (score, "annotator"),
    "count": (count, "annotator"),
    "prefer": (prefer, "annotator"),
    "edit": (edit, "expert"),
}


def _pairs(study: Any, wanted: int) -> list[Any]:
    from annotation.corpus.models import Comparison

    return Comparison.objects.bulk_create(
        Comparison(study=study, object1=f"thing {n}", object2=f"other {n}") for n in range(wanted)
    )


def _arguments(study: Any, wanted: int) -> list[Any]:
    """Create about fifteen sentences about each pair."""
    from annotation.corpus.models import Argument
    from cqa_site.tabular.cells import text_key

    pairs = _pairs(study, max(1, wanted // 15))

    def argument(n: int) -> Argument:
        pair = pairs[n % len(pairs)]
        text = f"The {pair.object1} is somewhat lighter than the {pair.object2} in case {n}."
        return Argument(study=study, comparison=pair, text=text, text_sha256=text_key(text))

    return Argument.objects.bulk_create((argument(n) for n in range(wanted)), batch_size=BATCH)


def _answers(study: Any, wanted: int) -> None:
    """Create answers of eight systems to each question, with a list of three arguments."""
    from annotation.answers.actions import argument_list
    from annotation.answers.models import Answer, System
    from annotation.corpus.models import Question
    from annotation.generation.actions.answer_runs import condition
    from cqa_site.tabular.cells import text_key

    asked = -(-wanted // SYSTEMS)
    written = condition(study, scenario=4)
    systems = [System.objects.create(study=study, name=f"System {n}") for n in range(SYSTEMS)]
    about: dict[int, list[Any]] = {}
    for argument in _arguments(study, 15 * asked):
        about.setdefault(argument.comparison_id, []).append(argument)
    made = []
    for pair in study.comparisons.order_by("pk")[:asked]:
        question = Question.objects.create(study=study, comparison=pair)
        listed = argument_list(question, list(enumerate(about[pair.pk][:3], 1)), {})
        for n, system in enumerate(systems, 1):
            text = TEXT.format(one=pair.object1, other=pair.object2, n=n)
            made.append(
                Answer(
                    study=study,
                    question=question,
                    system=system,
                    scenario=4,
                    condition=written,
                    argument_list=listed,
                    text=text,
                    text_sha256=text_key(text),
                    source="made.json",
                    position=len(made) + 1,
                )
            )
    Answer.objects.bulk_create(made, batch_size=BATCH)


def _summary_sets(study: Any, wanted: int) -> None:
    """Create twelve cells, each with enough summary sets."""
    from argsum.datasets.models import Cell, Dataset, ReferenceKeyPoint
    from argsum.keypoints.models import SummarySet, SystemSummary
    from cqa_site.tabular.cells import text_key

    dataset = Dataset.objects.create(study=study, name="Benchmark")
    cells = Cell.objects.bulk_create(
        Cell(dataset=dataset, topic=f"Topic {n // 2}", stance=1 - 2 * (n % 2), position=n)
        for n in range(12)
    )
    texts = {n: f"Key point {n} is what many people say" for n in range(1, REFERENCES + 1)}
    ReferenceKeyPoint.objects.bulk_create(
        ReferenceKeyPoint(cell=cell, position=n, text=text, sha256=text_key(text))
        for cell, (n, text) in product(cells, texts.items())
    )
    places = islice(product(range(wanted), cells), wanted)
    sets = SummarySet.objects.bulk_create(
        (
            SummarySet(
                study=study,
                cell=cell,
                system=f"System {n}",
                source=f"{n}.csv",
                position=cell.position,
                state=SummarySet.State.DONE,
            )
            for n, cell in places
        ),
        batch_size=BATCH,
    )
    SystemSummary.objects.bulk_create(
        (
            SystemSummary(summary_set=each, position=n, text=f"Summary {n} of a system", cluster=n)
            for each, n in product(sets, range(SUMMARIES))
        ),
        batch_size=BATCH,
    )


def make(wanted: dict[str, Any]) -> list[str]:
    """Create people and an open round; return the ids of study and round, and the work URL."""
    from django.contrib.auth.hashers import make_password
    from django.urls import reverse

    from cqa_site.people.models import Membership, Study, User
    from cqa_site.rounds.kind import kind_of
    from cqa_site.rounds.lifecycle import open_round

    make_round, role = KINDS[wanted["kind"]]
    study = Study.objects.create(name="Benchmark")
    boss = User.objects.create_user("boss@bench.example", wanted["password"])
    Membership.objects.create(study=study, user=boss, role="researcher")
    hashed = make_password(wanted["password"])
    users = User.objects.bulk_create(
        User(email=f"a{n}@bench.example", password=hashed) for n in range(wanted["people"])
    )
    Membership.objects.bulk_create(Membership(study=study, user=user, role=role) for user in users)
    made = make_round(wanted, study, boss, users)
    open_round(round_=made, actor=boss)
    ids = [str(study.public_id), str(made.public_id)]
    return [*ids, reverse(kind_of(made).work_page, args=ids)]


if __name__ == "__main__":
    import django

    django.setup()

    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    call_command("createcachetable", verbosity=0)
    print(json.dumps(make(json.loads(sys.argv[1]))))

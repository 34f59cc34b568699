"""Demo data: invented answers with simulated scores, and an open scoring round."""

import json
import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.answers.models import Answer, System
from annotation.corpus.models import Comparison, Question
from annotation.generation.actions.answer_runs import condition
from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.methods.rubric import Criterion
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.actions import ScoringPlan, plan_round
from benchmark.scoring.methods import length_points, sentence_places
from benchmark.scoring.models import ScoreSheet
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Membership, Rater, Role, Study, User
from cqa_site.rounds.controls import set_example
from cqa_site.rounds.lifecycle import open_round
from cqa_site.tabular.cells import text_key

SYSTEMS = ("Invented model A", "Invented model B", "Invented model C")
# Aspect, sentence about the first object, sentence about the second object.
Aspect = tuple[str, str, str]
TEXTS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("texts.json").read_text("utf-8"))


def answer_text(system: str, scenario: int, pair: Sequence[str], aspects: list[Aspect]) -> str:
    """Write an invented system's answer: A is thorough, B leaves things out, C repeats itself."""
    points = aspects[:2] if system == SYSTEMS[1] else aspects
    is_thorough = system == SYSTEMS[0]
    lines = [
        f"- {name}: {first} {second}" + f" {name} is seldom all that counts." * is_thorough
        for name, first, second in points
    ]
    if system == SYSTEMS[2]:
        lines.append(lines[0])
    plain = " ".join(f"{first} {second}" for _name, first, second in points)
    winner = pair[len(pair[0]) % 2]
    if scenario == 1:
        choice = "Both are fine." if system == SYSTEMS[2] else f"I would take the {winner}."
        return f"{pair[0].capitalize()} or {pair[1]}? {plain} {choice}"
    names = " and ".join(name.lower() for name, _first, _second in points)
    opening = f"Summary: The {pair[0]} and the {pair[1]} differ in {names}."
    opening += " None of these settles the matter alone." * is_thorough
    ending = "" if system == SYSTEMS[2] else f"\n\nBest option: {winner}"
    return f"{opening}\n\nMain aspects:\n" + "\n".join(lines) + ending


# Scores for the demo study: invented answers, scored by a seeded simulation.
#
# Two members of the demo study and an invented judge use the same rubric. The judge is more
# lenient than people, and some of its replies are unusable, so that every page has something to
# show.

SOURCE = "demo"
SEED = 11
SCENARIOS = (Answer.Scenario.BARE, Answer.Scenario.STRUCTURE)
# Mean share of each criterion's points that an answer deserves.
QUALITY = dict(zip(SYSTEMS, (0.85, 0.65, 0.55), strict=True))
STRUCTURED = 0.12
# How often a person or the judge gives points that differ from what the answer deserves.
SLIPS = {"person": 0.12, "judge": 0.15}
# How often the judge gives one point too many, and how often its reply is unusable.
LENIENCE, UNUSABLE = 0.3, 0.04
Points = dict[str, int]


def add_scores(*, study: Study, users: Mapping[str, User]) -> None:
    """Add answers and score sheets to the demo; leave older answers for people to score."""
    rubric = default_rubric(study, actor=users[Role.RESEARCHER])
    answers = _answers(study)
    people = [_member_rater(study, users[role]) for role in (Role.ANNOTATOR, Role.EXPERT)]
    judge = Rater.objects.create(
        study=study, kind=Rater.Kind.MODEL, external_id="demo-judge", name=_("Invented judge")
    )
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    sheets = []
    for answer in answers:
        deserved = _deserved(rubric, answer, rng)
        sheets += [
            _sheet(rubric, answer, person, _slipped(rubric, deserved, rng)) for person in people
        ]
        sheets.append(_judged(rubric, answer, judge, deserved, rng))
    begun = timezone.now() - timedelta(days=2)
    for place, sheet in enumerate(sheets):
        sheet.submitted_at = begun + timedelta(minutes=5 * place)
    ScoreSheet.objects.bulk_create(sheets)
    request_board(study=study, rubric=rubric)


def _member_rater(study: Study, user: User) -> Rater:
    return rater_for(membership=Membership.objects.get(study=study, user=user))


def _answers(study: Study) -> list[Answer]:
    answers: list[Answer] = []
    systems = {name: _system(study, name) for name in SYSTEMS}
    conditions = {key: condition(study, scenario=key) for key in SCENARIOS}
    for number, written in enumerate(TEXTS):
        pair, aspects = written["objects"], written["aspects"]
        comparison = Comparison.objects.create(study=study, object1=pair[0], object2=pair[1])
        aspect = aspects[0][0].lower() if number % 2 else ""
        question = Question.objects.create(study=study, comparison=comparison, aspect=aspect)
        for name in SYSTEMS:
            for scenario in SCENARIOS:
                text = answer_text(name, scenario, pair, aspects)
                answers.append(
                    Answer(
                        study=study,
                        question=question,
                        system=systems[name],
                        scenario=scenario,
                        condition=conditions[scenario],
                        text=text,
                        text_sha256=text_key(text),
                        source=f"{SOURCE}-scores",
                        position=len(answers) + 1,
                    )
                )
    return Answer.objects.bulk_create(answers)


def _system(study: Study, name: str) -> System:
    system, _is_new = System.objects.get_or_create(
        study=study, name=name, defaults={"kind": System.Kind.MODEL}
    )
    return system


def _deserved(rubric: RubricVersion, answer: Answer, rng: random.Random) -> Points:
    """Return an answer's points: computed for length, and drawn at random for other criteria."""
    structured = STRUCTURED if answer.scenario == Answer.Scenario.STRUCTURE else 0.0
    share = min(0.97, QUALITY[answer.system.name] + structured)
    points = {
        criterion.key: sum(rng.random() < share for _point in range(criterion.maximum))
        for criterion in rubric.rubric.criteria
    }
    counted = length_points(len(sentence_places(answer.text)))
    return points | {
        criterion.key: counted
        for criterion in rubric.rubric.criteria
        if criterion.counted_by == "sentences"
    }


def _slipped(rubric: RubricVersion, deserved: Points, rng: random.Random) -> Points:
    return {
        criterion.key: _other(criterion, deserved[criterion.key], rng)
        if rng.random() < SLIPS["person"]
        else deserved[criterion.key]
        for criterion in rubric.rubric.criteria
    }


def _other(criterion: Criterion, points: int, rng: random.Random) -> int:
    return rng.choice([number for number in range(criterion.maximum + 1) if number != points])


def _judged(
    rubric: RubricVersion, answer: Answer, judge: Rater, deserved: Points, rng: random.Random
) -> ScoreSheet:
    if rng.random() < UNUSABLE:
        reason = rng.choice(("truncated", "missing_keys"))
        sheet = _sheet(rubric, answer, judge, {})
        sheet.state, sheet.reason, sheet.total = ScoreSheet.State.UNSCORED, reason, None
        return sheet
    points = {}
    for criterion in rubric.rubric.criteria:
        score = deserved[criterion.key]
        if rng.random() < SLIPS["judge"]:
            score = _other(criterion, score, rng)
        points[criterion.key] = min(criterion.maximum, score + (rng.random() < LENIENCE))
    return _sheet(rubric, answer, judge, points)


def _sheet(rubric: RubricVersion, answer: Answer, rater: Rater, points: Points) -> ScoreSheet:
    return ScoreSheet(
        study_id=answer.study_id,
        answer=answer,
        rubric=rubric,
        rater=rater,
        source=SOURCE,
        position=answer.position,
        state=ScoreSheet.State.SUBMITTED,
        points=points,
        total=rubric.rubric.total(points) if points else None,
        maximum=rubric.rubric.maximum,
        comment=_("Invented by a simulation for the demo."),
    )


ROUND_SEED = 5
# Our own judgement of the practice answer, for the criteria without full points.
LESS = {"C3": 0, "C9": 1, "C10": 1, "C15": 0}
WHY = {
    "C3": "The introduction begins with details instead of naming the aspects that follow.",
    "C9": "Most arguments bear on the choice; how green tea is spoiled hardly does.",
    "C10": "The last bullets set two opinions side by side, each about one drink only.",
    "C14": "Two of three weighty aspects speak for tea, and tea is chosen.",
    "C15": "It is shorter than 12 sentences.",
}


def add_round(*, study: Study, users: Mapping[str, User]) -> None:
    """Open a round with the answers of the demo."""
    actor = users[Role.RESEARCHER]
    rubric = default_rubric(study, actor=actor)
    plan = ScoringPlan(
        name=_("Score answers (demo)"),
        rubric=rubric,
        seed=ROUND_SEED,
        overlap_share=1.0,
        pass_mark=0.5,
        instructions=_(
            "Read the whole answer first, then go through the criteria from top to bottom. "
            "All answers in this round are invented; judge them as if they were real."
        ),
    )
    scoring_round = plan_round(study=study, plan=plan, actor=actor)
    practice = study.answers.filter(scenario=Answer.Scenario.FULL).order_by("pk").first()
    if practice is not None:
        key: dict[str, float] = {
            criterion.key: criterion.maximum for criterion in rubric.rubric.criteria
        }
        key |= LESS
        set_example(round_=scoring_round, thing=practice, known=key, notes=WHY, actor=actor)
    open_round(round_=scoring_round, actor=actor)

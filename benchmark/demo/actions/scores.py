"""Scores for the demo study: invented answers, and a seeded simulation that scores them.

Two members of the demo and an invented judge score by the same rubric. The judge is more lenient
than people and cannot be used once in a while, so that every page has something to show.
"""

import random
from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer, System
from annotation.corpus.models.questions import Comparison, Question, text_key
from annotation.generation.actions.kind import condition
from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.actions import default_rubric
from benchmark.rubrics.methods.rubric import Criterion
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.methods.sentence_count import length_points, sentence_places
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Membership, Rater, Role, Study, User

from .score_texts import PAIRS, SYSTEMS, answer_text

SOURCE = "demo"
SEED = 11
SCENARIOS = (Answer.Scenario.BARE, Answer.Scenario.STRUCTURE)
# How much of each criterion an answer deserves, on average.
QUALITY = dict(zip(SYSTEMS, (0.85, 0.65, 0.55), strict=True))
STRUCTURED = 0.12
# How often a person gives other points than the answer deserves, and how often the judge does.
SLIPS = {"person": 0.12, "judge": 0.15}
# How often the judge gives one point more than it should, and how often its reply is no use.
LENIENCE, UNUSABLE = 0.3, 0.04
Points = dict[str, int]


def add_scores(*, study: Study, users: Mapping[str, User]) -> None:
    """Add answers and sheets to the demo; its older answers stay for people to score."""
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
            _sheet(rubric, answer, each, _slipped(rubric, deserved, rng)) for each in people
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
    made: list[Answer] = []
    systems = {name: _system(study, name) for name in SYSTEMS}
    conditions = {each: condition(study, scenario=each) for each in SCENARIOS}
    for number, (pair, aspects) in enumerate(PAIRS):
        comparison = Comparison.objects.create(study=study, object1=pair[0], object2=pair[1])
        aspect = aspects[0][0].lower() if number % 2 else ""
        question = Question.objects.create(study=study, comparison=comparison, aspect=aspect)
        for name in SYSTEMS:
            for scenario in SCENARIOS:
                text = answer_text(name, scenario, pair, aspects)
                made.append(
                    Answer(
                        study=study,
                        question=question,
                        system=systems[name],
                        scenario=scenario,
                        condition=conditions[scenario],
                        text=text,
                        text_sha256=text_key(text),
                        source=f"{SOURCE}-scores",
                        position=len(made) + 1,
                    )
                )
    return Answer.objects.bulk_create(made)


def _system(study: Study, name: str) -> System:
    found, _is_new = System.objects.get_or_create(
        study=study, name=name, defaults={"kind": System.Kind.MODEL}
    )
    return found


def _deserved(rubric: RubricVersion, answer: Answer, rng: random.Random) -> Points:
    """What the answer is worth; its length is counted, the rest drawn."""
    structured = STRUCTURED if answer.scenario == Answer.Scenario.STRUCTURE else 0.0
    share = min(0.97, QUALITY[answer.system.name] + structured)
    points = {
        each.key: sum(rng.random() < share for _point in range(each.maximum))
        for each in rubric.rubric.criteria
    }
    counted = length_points(len(sentence_places(answer.text)))
    return points | {
        each.key: counted for each in rubric.rubric.criteria if each.counted_by == "sentences"
    }


def _slipped(rubric: RubricVersion, deserved: Points, rng: random.Random) -> Points:
    return {
        each.key: _other(each, deserved[each.key], rng)
        if rng.random() < SLIPS["person"]
        else deserved[each.key]
        for each in rubric.rubric.criteria
    }


def _other(criterion: Criterion, points: int, rng: random.Random) -> int:
    return rng.choice([each for each in range(criterion.maximum + 1) if each != points])


def _judged(
    rubric: RubricVersion, answer: Answer, judge: Rater, deserved: Points, rng: random.Random
) -> ScoreSheet:
    if rng.random() < UNUSABLE:
        reason = rng.choice(("truncated", "missing_keys"))
        sheet = _sheet(rubric, answer, judge, {})
        sheet.state, sheet.reason, sheet.total = ScoreSheet.State.UNSCORED, reason, None
        return sheet
    points = {}
    for each in rubric.rubric.criteria:
        given = deserved[each.key]
        if rng.random() < SLIPS["judge"]:
            given = _other(each, given, rng)
        points[each.key] = min(each.maximum, given + (rng.random() < LENIENCE))
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

"""From gold to score: what experts submitted becomes an answer of its own, so that it is scored.

An answer is never changed: a newer revision makes a newer answer beside the older one, whose
sheets stay what they are. New rounds and runs take the newest.
"""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from annotation.answers.methods.conditions import FILTERS, LABELS, WORDING, deviations
from annotation.answers.models.answers import Answer, System
from annotation.answers.models.conditions import Condition
from annotation.editing.models import EditingRound, Revision
from annotation.editing.reports.edited_texts import newest_revisions
from annotation.generation.actions.kind import condition
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


def waiting_revisions(editing_round: EditingRound) -> QuerySet[Revision]:
    """The newest submitted version of each sheet that is no answer yet."""
    newest = newest_revisions(editing_round.study).filter(sheet__round=editing_round)
    return newest.filter(scored_as__isnull=True)


@transaction.atomic
def make_expert_answers(*, editing_round: EditingRound, actor: User) -> int:
    """Make answers of what a round's experts submitted last; return how many are new.

    Asked again it makes nothing twice. The arguments are those of the machine answer, so that
    citations keep their meaning.
    """
    # Two clicks meet here, and so do two rounds that would number their answers alike.
    study = Study.objects.select_for_update().get(pk=editing_round.study_id)
    found = waiting_revisions(editing_round).select_related(
        "sheet__answer__condition", "sheet__answer__question"
    )
    revisions = list(found)
    if not revisions:
        return 0
    system = experts_system(study)
    made = _answers(study, system, revisions)
    Answer.objects.bulk_create(made)
    record(
        study=study,
        actor=actor,
        verb="expert_answers_made",
        subject=editing_round.name,
        answers=len(made),
    )
    return len(made)


def experts_system(study: Study) -> System:
    """The system as which the study's own experts answer, whatever it is called by now."""
    ours = study.systems.filter(answers__revision__isnull=False).order_by("pk").first()
    return ours or _new_system(study)


def _new_system(study: Study) -> System:
    """Named plainly, or with a number where the study has a system of this name."""
    name = _("Experts")
    taken = set(study.systems.filter(name__startswith=name).values_list("name", flat=True))
    numbered = (f"{name} · {number}" for number in range(2, len(taken) + 3))
    free = next(each for each in (name, *numbered) if each not in taken)
    return System.objects.create(study=study, name=free, kind=System.Kind.HUMAN)


def _answers(study: Study, system: System, revisions: Iterable[Revision]) -> list[Answer]:
    last = _last_choices(system)
    conditions: dict[int, Condition] = {}
    made = []
    for revision in revisions:
        before = revision.sheet.answer
        if before.condition_id not in conditions:
            conditions[before.condition_id] = edited_condition(study, before.condition)
        under = conditions[before.condition_id]
        place = (before.question_id, under.pk)
        last[place] = last.get(place, 0) + 1
        made.append(_answer(system, under, last[place], revision))
    return made


def _last_choices(system: System) -> dict[tuple[int, int], int]:
    """(question, condition) → the highest number that an answer of the system has there."""
    rows = system.answers.order_by().values_list("question", "condition")
    return {(question, under): last for question, under, last in rows.annotate(Max("choice"))}


def edited_condition(study: Study, before: Condition) -> Condition:
    """What an edited text is under: no prompt, but what was special about the answer stays."""
    special = deviations(before.filters, before.wording)
    return condition(
        study,
        scenario=Answer.Scenario.NONE,
        filters={name: value for name, value in special.items() if name in (*FILTERS, LABELS)},
        wording={name: value for name, value in special.items() if name in WORDING},
    )


def _answer(system: System, under: Condition, choice: int, revision: Revision) -> Answer:
    before = revision.sheet.answer
    return Answer(
        study_id=system.study_id,
        question_id=before.question_id,
        system=system,
        condition=under,
        scenario=under.scenario,
        choice=choice,
        argument_list_id=before.argument_list_id,
        text=revision.text,
        text_sha256=revision.text_sha256,
        revision=revision,
    )

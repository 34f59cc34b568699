"""Prevent people from both answering an open audit and reading its analysis."""

from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis
from argsum.auditing.models import AuditRound, AuditSheet
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Membership, Role, User
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.models import Place
from cqa_site.rounds.queue import place_for


def answerable_rounds(analysis: Analysis, user: User) -> list[Any]:
    """Return open rounds that do not exclude the person, with ``has_answers``, in one query."""
    own = {"round": OuterRef("pk"), "rater__user": user}
    excluded = Place.objects.filter(**own, excluded_at__isnull=False)
    answers = AuditSheet.objects.filter(**own, submitted_at__isnull=False)
    rounds = AuditRound.objects.filter(analysis=analysis, state=AuditRound.State.OPEN)
    return list(rounds.exclude(Exists(excluded)).annotate(has_answers=Exists(answers)))


def leave_rounds(analysis: Analysis, membership: Membership) -> bool:
    """Exclude a person from the open rounds, or return False if they have answered in one."""
    rounds = answerable_rounds(analysis, membership.user)
    if any(round_.has_answers for round_ in rounds):
        return False
    for round_ in rounds:
        _exclude(round_, membership, membership.user, _("Chose to read the analysis instead."))
    return True


def exclude_editors(round_: AuditRound) -> None:
    """Exclude experts who edited or signed off the analysis. A researcher can reinstate them."""
    analysis = round_.analysis
    editors = Q(user__in=analysis.changes.values("actor"))
    editors |= Q(user__in=analysis.sign_offs.values("actor"))
    experts = Membership.objects.filter(editors, study=round_.study, role=Role.EXPERT)
    for membership in experts.select_related("study", "user"):
        _exclude(round_, membership, None, _("Edited or signed off the analysis before."))


def _exclude(round_: AuditRound, membership: Membership, actor: User | None, reason: str) -> None:
    place = place_for(round_=round_, rater=rater_for(membership=membership))
    decide_rater(place=place, actor=actor, decision="exclude", reason=reason)

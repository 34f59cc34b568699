"""Changing what a member may do; a study always keeps an active admin."""

from django.db import transaction
from django.db.models import QuerySet

from cqa_site.people.access import record
from cqa_site.people.models import GroupRole, Membership, Role, Study, User

from .studies import hold_people


class LastAdmin(Exception):
    """The change would leave the study without an active admin."""


@transaction.atomic
def add_member(*, study: Study, user: User, actor: User | None) -> Membership:
    """Make somebody a researcher of a study, or its admin if it has none; a member stays one."""
    hold_people(study)
    found = Membership.objects.filter(study=study, user=user).first()
    if found is not None:
        return found
    role = Role.RESEARCHER if _active_admins(study).exists() else Role.ADMIN
    made = Membership.objects.create(study=study, user=user, role=role)
    record(study=study, actor=actor, verb="member_joined", subject=str(user), role=role)
    return made


@transaction.atomic
def change_role(*, membership: Membership, role: str, actor: User) -> None:
    """Give a member another role; raises ``LastAdmin``."""
    hold_people(membership.study)
    before = Membership.objects.get(pk=membership.pk).role
    if before == role:
        return
    if role != Role.ADMIN:
        _require_other_admin(membership)
    membership.role = role
    membership.save(update_fields=["role"])
    _decide_by_hand(membership)
    record(
        study=membership.study,
        actor=actor,
        verb="member_role_changed",
        subject=str(membership.user),
        before=before,
        after=role,
    )


@transaction.atomic
def deactivate_member(*, membership: Membership, actor: User) -> None:
    """Close the study to a member; what they did stays. Raises ``LastAdmin``."""
    hold_people(membership.study)
    _require_other_admin(membership)
    _set_active(membership, False, actor, "member_deactivated")


@transaction.atomic
def reactivate_member(*, membership: Membership, actor: User) -> None:
    """Open the study to a former member again, with the role they had."""
    hold_people(membership.study)
    _set_active(membership, True, actor, "member_reactivated")


def _set_active(membership: Membership, active: bool, actor: User, verb: str) -> None:
    changed = Membership.objects.filter(pk=membership.pk, is_active=not active).update(
        is_active=active
    )
    if changed:
        _decide_by_hand(membership)
        record(
            study=membership.study,
            actor=actor,
            verb=verb,
            subject=str(membership.user),
            role=membership.role,
        )


def _decide_by_hand(membership: Membership) -> None:
    """From now on groups of a provider leave the membership alone."""
    GroupRole.objects.filter(study=membership.study, user=membership.user).delete()


def _require_other_admin(membership: Membership) -> None:
    if not _active_admins(membership.study).exclude(pk=membership.pk).exists():
        raise LastAdmin


def _active_admins(study: Study) -> QuerySet[Membership]:
    return Membership.objects.filter(
        study=study, role=Role.ADMIN, is_active=True, user__is_active=True
    )

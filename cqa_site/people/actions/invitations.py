"""Single-use links that make their bearer a member with one role.

The secret exists in the link only; the database keeps its hash. A link is
used up by one conditional UPDATE, so of any number of bearers one gets in.
"""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import (
    Invitation,
    Membership,
    Study,
    User,
    hash_secret,
    new_secret,
)

from .studies import hold_people


class InvitationSpent(Exception):
    """The link was used, revoked or ran out."""


class AlreadyMember(Exception):
    """The person has a membership; an invitation never changes its role."""


class EmailTaken(Exception):
    """Another account has this address."""


@transaction.atomic
def create_invitation(
    *, study: Study, role: str, note: str, days: int, actor: User, leads_to: str = ""
) -> tuple[Invitation, str]:
    """Make an invitation; the second value is the secret, which is not kept."""
    secret = new_secret()
    invitation = Invitation.objects.create(
        study=study,
        role=role,
        note=note,
        leads_to=leads_to,
        secret_hash=hash_secret(secret),
        created_by=actor,
        expires_at=timezone.now() + timedelta(days=days),
    )
    record(study=study, actor=actor, verb="invitation_created", subject=note, role=role, days=days)
    return invitation, secret


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, actor: User) -> bool:
    """Make an unused link useless; False when it was used or revoked before."""
    changed = Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if changed:
        record(
            study=invitation.study,
            actor=actor,
            verb="invitation_revoked",
            subject=invitation.note,
            role=invitation.role,
        )
    return bool(changed)


def find_invitation(secret: str) -> Invitation | None:
    """The invitation of a link, whatever its state."""
    return (
        Invitation.objects.select_related("study").filter(secret_hash=hash_secret(secret)).first()
    )


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Make the person a member; raises ``AlreadyMember`` or ``InvitationSpent``."""
    hold_people(invitation.study)
    if Membership.objects.filter(study=invitation.study, user=user).exists():
        raise AlreadyMember
    _use_up(invitation, user)
    membership = Membership.objects.create(study=invitation.study, user=user, role=invitation.role)
    record(
        study=invitation.study,
        actor=user,
        verb="member_joined",
        subject=str(user),
        role=invitation.role,
        invitation=str(invitation.public_id),
    )
    return membership


def accept_as_new_person(
    *, invitation: Invitation, name: str, email: str, password: str
) -> Membership:
    """Make account and membership, or neither; raises also ``EmailTaken``."""
    user = User(email=email.strip().lower(), name=name)
    user.set_password(password)  # slow on purpose, so before the transaction
    with transaction.atomic():
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:
            raise EmailTaken from error
        return accept_invitation(invitation=invitation, user=user)


def _use_up(invitation: Invitation, user: User) -> None:
    now = timezone.now()
    used = Invitation.objects.filter(
        pk=invitation.pk, used_at=None, revoked_at=None, expires_at__gt=now
    ).update(used_at=now, used_by=user)
    if used != 1:
        raise InvitationSpent

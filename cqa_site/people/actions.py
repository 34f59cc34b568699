"""Changes to studies, members and invitations, and the creation of the first administrator."""

from datetime import timedelta

from django.core.signing import BadSignature, TimestampSigner
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import (
    GroupRole,
    Invitation,
    Membership,
    Rater,
    Role,
    Study,
    User,
    hash_secret,
    new_secret,
)

# Studies and their members


@transaction.atomic
def create_study(*, name: str, description: str, actor: User, goal: str = "") -> Study:
    """Create a study with its creator as the first admin."""
    study = Study.objects.create(name=name, description=description, goal=goal, created_by=actor)
    Membership.objects.create(study=study, user=actor, role=Role.ADMIN)
    record(study=study, actor=actor, verb="study_created", subject=study.name)
    return study


@transaction.atomic
def change_study(*, study: Study, name: str, description: str, goal: str, actor: User) -> None:
    before = study.name
    study.name, study.description, study.goal = name, description, goal
    study.save(update_fields=["name", "description", "goal"])
    record(study=study, actor=actor, verb="study_changed", subject=name, before=before)


def hold_people(study: Study) -> None:
    """Lock the study's members against other changes until this transaction ends.

    The lock does not affect rows that refer to the study, so imports can continue.
    SQLite needs no lock, because its write transactions run one after the other.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


class LastAdmin(Exception):
    """Raised if a change would leave the study without an active admin."""


@transaction.atomic
def add_member(*, study: Study, user: User, actor: User | None) -> Membership:
    """Add a user as a researcher, or as an admin if the study has no admin.

    Existing members are not changed.
    """
    hold_people(study)
    membership = Membership.objects.filter(study=study, user=user).first()
    if membership is not None:
        return membership
    role = Role.RESEARCHER if _active_admins(study).exists() else Role.ADMIN
    member = Membership.objects.create(study=study, user=user, role=role)
    record(study=study, actor=actor, verb="member_joined", subject=str(user), role=role)
    return member


@transaction.atomic
def change_role(*, membership: Membership, role: str, actor: User) -> None:
    """Change a member's role; raise ``LastAdmin`` if no admin would be left."""
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
    """Remove a member's access but keep their work; raise ``LastAdmin`` for the last admin."""
    hold_people(membership.study)
    _require_other_admin(membership)
    _set_active(membership, False, actor, "member_deactivated")


@transaction.atomic
def reactivate_member(*, membership: Membership, actor: User) -> None:
    """Restore a former member's access with their previous role."""
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
    """Detach a membership from provider groups, so that they can no longer change it."""
    GroupRole.objects.filter(study=membership.study, user=membership.user).delete()


def _require_other_admin(membership: Membership) -> None:
    if not _active_admins(membership.study).exclude(pk=membership.pk).exists():
        raise LastAdmin


def _active_admins(study: Study) -> QuerySet[Membership]:
    return Membership.objects.filter(
        study=study, role=Role.ADMIN, is_active=True, user__is_active=True
    )


# Single-use invitation links, each for one role.
#
# Only the link contains the secret; the database stores its hash. A single conditional
# UPDATE marks a link as used, so only one of several simultaneous users can join.


class InvitationSpent(Exception):
    """Raised if the link has been used or revoked, or has expired."""


class AlreadyMember(Exception):
    """Raised if the person is already a member; an invitation never changes a role."""


class EmailTaken(Exception):
    """Raised if another account has this address."""


@transaction.atomic
def create_invitation(
    *, study: Study, role: str, note: str, days: int, actor: User, leads_to: str = ""
) -> tuple[Invitation, str]:
    """Create an invitation and return it with its secret, which is not stored."""
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
    """Revoke an unused link, or return False if it was already used or revoked."""
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
    """Return the link's invitation, whatever its state, or None if the link is unknown."""
    return (
        Invitation.objects.select_related("study").filter(secret_hash=hash_secret(secret)).first()
    )


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Make the person a member; raise ``AlreadyMember`` or ``InvitationSpent``."""
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
    """Create an account and a membership, or neither; may also raise ``EmailTaken``."""
    user = User(email=email.strip().lower(), name=name)
    user.set_password(password)  # deliberately slow, so done before the transaction
    with transaction.atomic():
        try:
            with transaction.atomic():
                user.save()
        except IntegrityError as error:
            raise EmailTaken from error
        return accept_invitation(invitation=invitation, user=user)


def _use_up(invitation: Invitation, user: User) -> None:
    now = timezone.now()
    waiting = {"used_at": None, "revoked_at": None, "study__archived_at": None}
    used = Invitation.objects.filter(pk=invitation.pk, expires_at__gt=now, **waiting).update(
        used_at=now, used_by=user
    )
    if used != 1:
        raise InvitationSpent


def rater_for(*, membership: Membership) -> Rater:
    """Return the rater that represents the member in statistics."""
    kind = Rater.Kind.EXPERT if membership.role == "expert" else Rater.Kind.PERSON
    rater, _created = Rater.objects.get_or_create(
        study=membership.study,
        user=membership.user,
        defaults={"kind": kind, "name": membership.user.name},
    )
    return rater


LIFETIME = timedelta(days=7)
# No full stop or slash, so that every terminal treats a link as one word.
_SIGNER = TimestampSigner(salt="first administrator", sep="~")


class NotTheFirst(Exception):
    """Raised if the site already has an administrator."""


def has_no_administrator() -> bool:
    """Return whether the site still has no active administrator."""
    return not User.objects.filter(
        Q(is_staff=True) | Q(is_superuser=True), is_active=True
    ).exists()


def is_without_accounts() -> bool:
    """Return whether the site has no accounts yet; crowd participants do not have accounts."""
    return not User.objects.filter(email__isnull=False).exists()


def first_key() -> str:
    """Return the key for the terminal's link to the page that creates the first administrator."""
    return _SIGNER.sign("first")


def is_first_key(key: str) -> bool:
    """Return whether this site created the key and the key has not expired."""
    try:
        return _SIGNER.unsign(key, max_age=LIFETIME) == "first"
    except BadSignature:
        return False


def make_first(*, name: str, email: str, password: str) -> User:
    """Create the first administrator.

    Raises ``NotTheFirst``, or IntegrityError if the address is in use.

    Two simultaneous requests may both succeed. This is safe because both users have the key, and
    anyone who can read the terminal may create any number of administrators.
    """
    with transaction.atomic():
        if not has_no_administrator():
            raise NotTheFirst
        user = User.objects.create_superuser(email, password, name=name)
        record(study=None, actor=user, verb="first_administrator", subject=str(user))
    return user

"""Roles from provider groups, and a person's sign-in methods."""

from collections.abc import Iterable
from datetime import timedelta

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.actions import hold_people
from cqa_site.people.models import GroupRole, Membership, Study, User
from cqa_site.web.housekeeping import chore
from .providers import ROLES, GroupRule, OpenIDProvider


def rules_for(provider: OpenIDProvider, claims: dict[str, object]) -> list[GroupRule]:
    """Return the rules for the groups that the provider lists for the person."""
    named = claims.get(provider.groups_claim)
    groups = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return [rule for name, rule in provider.groups.items() if name in groups]


def roles_held() -> QuerySet[GroupRole]:
    """Return the groups' current grants of site administration and active memberships."""
    counts = Membership.objects.filter(
        study=OuterRef("study"), user=OuterRef("user"), is_active=True
    )
    return GroupRole.objects.filter(Q(study=None) | Exists(counts)).select_related("study", "user")


def orphans() -> QuerySet[GroupRole]:
    """Return grants from providers that were removed or with which the user has no account."""
    account = SocialAccount.objects.filter(user=OuterRef("user"), provider=OuterRef("provider"))
    return roles_held().exclude(Q(provider__in=list(settings.OIDC_PROVIDERS)) & Exists(account))


@chore("roles from removed provider groups")
def take_orphans() -> int:
    """Remove grants that a sign-in can no longer remove."""
    return take(orphans())


@transaction.atomic
def apply_groups(*, user: User, provider: OpenIDProvider, claims: dict[str, object]) -> None:
    """Apply the current grants of the groups, and remove the grants that have ended."""
    rules = rules_for(provider, claims)
    wanted = _roles(rules)
    for study in Study.objects.filter(public_id__in=wanted):
        _give(study, user, wanted[str(study.public_id)], provider.id)
    stay = Q(study__public_id__in=list(wanted))
    if any(rule.administrator for rule in rules):
        _make_administrator(user, provider.id)
        stay |= Q(study=None)
    take(roles_held().filter(user=user, provider=provider.id).exclude(stay))
    GroupRole.objects.filter(user=user, provider=provider.id).update(confirmed_at=Now())
    user.refresh_from_db(fields=["is_staff"])


def take(roles: Iterable[GroupRole]) -> int:
    """Remove group grants, even from a study's last admin, and return their number."""
    return sum(map(_take, list(roles)))


def _roles(rules: list[GroupRule]) -> dict[str, str]:
    """Return the strongest role for each study."""
    wanted: dict[str, str] = {}
    for rule in rules:
        for study, role in rule.studies.items():
            wanted[study] = max(role, wanted.get(study, role), key=ROLES.index)
    return wanted


def _give(study: Study, user: User, role: str, provider: str) -> None:
    hold_people(study)
    membership = Membership.objects.filter(study=study, user=user).first()
    mark = GroupRole.objects.filter(study=study, user=user).first()
    if membership is not None and not _may_change(membership, mark, provider):
        return
    if membership is not None and membership.is_active and membership.role == role:
        return
    Membership.objects.update_or_create(
        study=study, user=user, defaults={"role": role, "is_active": True}
    )
    GroupRole.objects.update_or_create(study=study, user=user, defaults={"provider": provider})
    _note(study, user, "group_role_given", provider, role)


def _may_change(membership: Membership, mark: GroupRole | None, provider: str) -> bool:
    """Return whether groups may change a membership.

    Groups never override a person's decision or another provider's active grant.
    """
    return mark is not None and (mark.provider == provider or not membership.is_active)


def _make_administrator(user: User, provider: str) -> None:
    if user.is_staff or user.is_superuser:
        return
    GroupRole.objects.update_or_create(study=None, user=user, defaults={"provider": provider})
    User.objects.filter(pk=user.pk).update(is_staff=True)
    _note(None, user, "group_role_given", provider, "site administrator")


@transaction.atomic
def _take(held: GroupRole) -> bool:
    """Remove one grant, unless a person has since changed it by hand."""
    study, user, role = held.study, held.user, "site administrator"
    if study is not None:
        hold_people(study)
    if not roles_held().filter(pk=held.pk).exists():
        return False
    if study is None:
        held.delete()
        User.objects.filter(pk=user.pk).update(is_staff=False)
    else:
        membership = Membership.objects.get(study=study, user=user)
        membership.is_active, role = False, membership.role
        membership.save(update_fields=["is_active"])
    _note(study, user, "group_role_taken", held.provider, role)
    return True


def _note(study: Study | None, user: User, verb: str, provider: str, role: str) -> None:
    record(study=study, actor=None, verb=verb, subject=str(user), role=role, provider=provider)


def can_sign_in(user: User, *, without: SocialAccount | Authenticator | None = None) -> bool:
    """Return whether the user has a password, a passkey or an account with a current provider."""
    accounts = SocialAccount.objects.filter(user=user, provider__in=list(settings.OIDC_PROVIDERS))
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    if isinstance(without, SocialAccount):
        accounts = accounts.exclude(pk=without.pk)
    elif without:
        passkeys = passkeys.exclude(pk=without.pk)
    return user.has_usable_password() or passkeys.exists() or accounts.exists()


def provider_to_ask(user: User, *, came_by_one: bool) -> OpenIDProvider | None:
    """Return a provider that must confirm a role granted by its groups, or None.

    A person who signs in through one of two such providers is redirected to the other, unless
    that provider has confirmed its roles within the session lifetime. Grants that no provider can
    confirm are removed first, so that they do not lock anyone out.
    """
    take(orphans().filter(user=user))
    roles = roles_held().filter(user=user)
    if came_by_one:
        lately = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
        roles = roles.exclude(confirmed_at__gt=lately)
    role = roles.first()
    return settings.OIDC_PROVIDERS[role.provider] if role else None

"""Roles that come and go with the groups of a provider; what a person gave by hand stays."""

from django.db import transaction

from cqa_site.people.access import record
from cqa_site.people.actions.studies import hold_people
from cqa_site.people.models import GroupRole, Membership, Study, User

from .providers import ROLES, GroupRule, OpenIDProvider


def rules_for(provider: OpenIDProvider, claims: dict[str, object]) -> list[GroupRule]:
    """The rules of the groups that the provider says somebody is in."""
    named = claims.get(provider.groups_claim)
    groups = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    return [rule for name, rule in provider.groups.items() if name in groups]


@transaction.atomic
def apply_groups(*, user: User, provider: OpenIDProvider, claims: dict[str, object]) -> None:
    """Give what the groups give now, and take what they gave before and give no longer."""
    rules = rules_for(provider, claims)
    wanted = _roles(rules)
    for study in Study.objects.filter(public_id__in=wanted):
        _give(study, user, wanted[str(study.public_id)], provider)
    given = Study.objects.filter(group_roles__user=user, group_roles__provider=provider.id)
    for study in given.exclude(public_id__in=wanted):
        _take(study, user, provider)
    _set_administrator(user, provider, any(rule.administrator for rule in rules))


def _roles(rules: list[GroupRule]) -> dict[str, str]:
    """The strongest role for each study."""
    wanted: dict[str, str] = {}
    for rule in rules:
        for study, role in rule.studies.items():
            wanted[study] = max(role, wanted.get(study, role), key=ROLES.index)
    return wanted


def _give(study: Study, user: User, role: str, provider: OpenIDProvider) -> None:
    hold_people(study)
    found = Membership.objects.filter(study=study, user=user).first()
    given = GroupRole.objects.filter(study=study, user=user, provider=provider.id)
    if found is not None and not given.exists():
        return  # by hand, or by another provider
    if found is not None and found.is_active and found.role == role:
        return
    Membership.objects.update_or_create(
        study=study, user=user, defaults={"role": role, "is_active": True}
    )
    GroupRole.objects.get_or_create(study=study, user=user, provider=provider.id)
    _note(study, user, "group_role_given", provider, role)


def _take(study: Study, user: User, provider: OpenIDProvider) -> None:
    """End a membership that a group gave, the last admin's, too: the directory has said so."""
    hold_people(study)
    found = Membership.objects.get(study=study, user=user)
    if not found.is_active:
        return
    found.is_active = False
    found.save(update_fields=["is_active"])
    _note(study, user, "group_role_taken", provider, found.role)


def _set_administrator(user: User, provider: OpenIDProvider, wanted: bool) -> None:
    given = GroupRole.objects.filter(study=None, user=user, provider=provider.id)
    if wanted and not (user.is_staff or user.is_superuser):
        GroupRole.objects.get_or_create(study=None, user=user, provider=provider.id)
    elif not wanted and given.exists():
        given.delete()
    else:
        return
    user.is_staff = wanted
    user.save(update_fields=["is_staff"])
    verb = "group_role_given" if wanted else "group_role_taken"
    _note(None, user, verb, provider, "site administrator")


def _note(study: Study | None, user: User, verb: str, provider: OpenIDProvider, role: str) -> None:
    record(study=study, actor=None, verb=verb, subject=str(user), role=role, provider=provider.id)

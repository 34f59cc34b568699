"""The one place that decides who may open a page of a study.

Not a member: 404, as if the study did not exist. A member with another
role: 403. Views get the study and the membership; every further row is
looked up inside ``study``, never by id alone.
"""

import re
import uuid
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from cqa_site.web.logging import security

from .models import AuditEvent, Membership, Role, Study, User

RESEARCHERS = (Role.RESEARCHER, Role.ADMIN)
EXPERTS = (Role.EXPERT, *RESEARCHERS)
EVERYONE = tuple(Role)
# What the security log repeats of an event: words of the site, never what somebody wrote.
TOLD = ("role", "scope", "fields", "cap")
RUN_NUMBER = re.compile(r"#\d+")


class PersonRequest(HttpRequest):
    """For annotations: a request of somebody who is signed in."""

    user: User
    htmx: HtmxDetails


class StudyRequest(PersonRequest):
    """For annotations: what `study_page` hands to a view, of a member of the study."""

    membership: Membership


def memberships_of(user: User) -> QuerySet[Membership]:
    """Memberships that count: active, of an active user, with their study."""
    return Membership.objects.filter(
        user=user, is_active=True, user__is_active=True
    ).select_related("study")


def may_open_studies(user: User) -> bool:
    """Site administrators, and where the site's setting allows it whoever runs a study already."""
    if is_administrator(user):
        return True
    runs_one = memberships_of(user).filter(role__in=RESEARCHERS)
    return bool(settings.RESEARCHERS_OPEN_STUDIES) and runs_one.exists()


def membership_or_404(user: User, study_id: uuid.UUID) -> Membership:
    """The person's membership in the study; raises Http404 without one."""
    membership = memberships_of(user).filter(study__public_id=study_id).first()
    if membership is None:
        raise Http404
    return membership


def is_administrator(user: User) -> bool:
    """Whether somebody looks after the whole site."""
    return user.is_staff or user.is_superuser


def administrator_page(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Decorate ``view(request, …)``: signs in; 403 for whoever does not look after the site."""

    @login_required
    @wraps(view)
    def page(request: PersonRequest, *args, **kwargs) -> HttpResponseBase:
        if not is_administrator(request.user):
            raise PermissionDenied
        return view(request, *args, **kwargs)

    return page


def study_page(
    *roles: Role,
) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Decorate ``view(request, study, …)``: signs in, checks membership, then the role.

    The decorated view takes ``study_id`` from the URL. ``request.membership``
    holds the membership for templates and querysets.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @login_required
        @wraps(view)
        def page(request: StudyRequest, study_id: uuid.UUID, **kwargs) -> HttpResponseBase:
            membership = membership_or_404(request.user, study_id)
            if membership.role not in roles:
                raise PermissionDenied
            membership.user = request.user
            request.membership = membership
            response = view(request, membership.study, **kwargs)
            return _only_a_form(request, response) if response.status_code == 405 else response

        return page

    return decorate


def _only_a_form(request: HttpRequest, refused: HttpResponseBase) -> HttpResponse:
    """Words for somebody who opened or reloaded an address that only takes what a form sends."""
    page = render(request, "405.html", status=405)
    page["Allow"] = refused["Allow"]
    return page


def record(
    *,
    study: Study | None,
    actor: User | None,
    verb: str,
    subject: str,
    reason: str = "",
    **details: Any,
) -> AuditEvent:
    """Write one line of the study's audit log and, once it is stored, of the security log."""
    told = {name: details[name] for name in TOLD if name in details} | {
        "study": study and study.public_id,
        "person": actor and actor.public_id,
        # The number of a run.
        "subject": subject if RUN_NUMBER.fullmatch(subject) else None,
    }
    told = {name: each for name, each in told.items() if each is not None}
    transaction.on_commit(partial(security, verb, **told))
    return AuditEvent.objects.create(
        study=study, actor=actor, verb=verb, subject=subject[:200], reason=reason, details=details
    )

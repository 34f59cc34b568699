"""Menu entries for a study's people and log."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation import ADMINS, Finder, MenuEntry
from .models import Membership

PEOPLE = Finder(
    kind=_("Member"),
    rows=lambda study: (
        Membership.objects.filter(study=study).select_related("user").order_by("user__name", "pk")
    ),
    fields=("user__name", "user__email"),
    page="members",
    is_listed=True,
    name=lambda member: str(member.user),
)


def people_entries() -> Iterator[MenuEntry]:
    tour = _(
        "People join through a link that you create here, and see only what their role allows."
    )
    also = _("invite invitation add members users roles")
    yield MenuEntry("study", _("People"), "members", place=10, tour=tour, also=also)
    yield MenuEntry("study", _("API and access tokens"), "study_api", place=70)
    yield MenuEntry("study", _("Log"), "audit", place=80)
    yield MenuEntry("study", _("Settings"), "study_settings", place=90, roles=ADMINS)

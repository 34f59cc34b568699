"""Can somebody look after the site, and nobody sign in who was only invented?"""

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cqa_site.people.models import User
from cqa_site.people.sign_in.groups import orphans
from cqa_site.people.sign_in.ways import can_sign_in

from ..examining import Family, examination
from ..findings import Finding, manage, well, wrong

INVENTED = "@counterpoint.example"


@examination(Family.SETTINGS, gettext_lazy("Administrators"), asks_database=True)
def administrators() -> Finding:
    """Whether anybody can sign in who may open these pages."""
    staff = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True), is_active=True)
    # Whom a provider made one that the site has no longer is none from the next sign-in on.
    staying = staff.exclude(pk__in=orphans().filter(study=None).values("user"))
    count = sum(map(can_sign_in, staying))
    if not count:
        says = _("Nobody who looks after the site can sign in.")
        return wrong(says, _("Make an administrator:"), manage("createsuperuser"))
    return well(ngettext("%d can sign in.", "%d can sign in.", count) % count)


@examination(Family.SETTINGS, gettext_lazy("Demo"), asks_database=True)
def demo() -> Finding:
    """Whether people of the demo could sign in on a site that is used for work."""
    people = User.objects.filter(email__endswith=INVENTED, is_active=True)
    if not settings.PRODUCTION:
        return well(_("Its people may sign in outside production."))
    if not (count := people.count()):
        return well(_("None of its people can sign in."))
    says = (
        ngettext(
            "%d person of the demo can sign in; all of them have one password.",
            "%d people of the demo can sign in; all of them have one password.",
            count,
        )
        % count
    )
    remedy = _("Make an administrator of your own, then close their accounts:")
    filtered = f"filter(email__endswith='{INVENTED}').update(is_active=False)"
    command = manage(f'shell -c "User.objects.{filtered}"')
    return wrong(says, remedy, command)

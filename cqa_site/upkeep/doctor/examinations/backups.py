"""Is there a backup, and is it of these days?"""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cqa_site.upkeep.backups.kept import newest

from ..examining import Family, examination
from ..findings import Finding, look, manage, well, wrong

RECENT, OLD = timedelta(days=2), timedelta(days=14)


@examination(Family.BACKUPS, gettext_lazy("Newest backup"))
def newest_backup() -> Finding:
    """When the last whole one was made."""
    made = newest()
    remedy, command = _("Make one, and keep it on another machine:"), manage("backup FILE")
    say = wrong if settings.PRODUCTION else look
    if made is None:
        return say(_("There is no backup."), remedy, command)
    age = timezone.now() - made
    if age <= RECENT:
        return well(_("Made %s ago.") % timesince(made))
    says = _("The newest backup was made %s ago; all since then would be lost.") % timesince(made)
    return (say if age > OLD else look)(says, remedy, command)

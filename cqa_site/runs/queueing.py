"""The claim order of waiting jobs: fair by person, quick kinds before long ones.

Fair queueing with weights. A new job waits behind the jobs of the same person, not behind
everybody's: so 5,000 jobs of one person and one of another take turns. A long job counts as many
quick ones: quick jobs asked for meanwhile go first, but no endless row of them. A person's quick
jobs are counted separately from the long ones.
"""

from django.db.models import F

from cqa_site.people.models import User

from .models import Job

QUICK = 1
LONG = 20


def position_of(actor: User | None, weight: int) -> int:
    """Return the position of a new job; ``None`` stands for the site itself."""
    # Somebody new begins where the newest claimed job began, not where the first job ever did.
    claimed = Job.objects.filter(fence__gt=0).exclude(state=Job.State.READY)
    begun = claimed.annotate(begun=F("position") - F("weight")).order_by("-begun")
    own = Job.objects.filter(created_by=actor, weight=weight).order_by("-position")
    clock = begun.values_list("begun", flat=True).first() or 0
    last = own.values_list("position", flat=True).first() or 0
    return max(clock, last) + weight

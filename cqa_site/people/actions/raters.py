"""The rater who stands for a person."""

from cqa_site.people.models import Membership, Rater


def rater_for(*, membership: Membership) -> Rater:
    """The rater who stands for this member in statistics."""
    kind = Rater.Kind.EXPERT if membership.role == "expert" else Rater.Kind.PERSON
    rater, _created = Rater.objects.get_or_create(
        study=membership.study,
        user=membership.user,
        defaults={"kind": kind, "name": membership.user.name},
    )
    return rater

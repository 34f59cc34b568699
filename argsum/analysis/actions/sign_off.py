"""Sign-off of key points: a person says that those shown, and their themes, are final."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.analysis.models import Analysis, SignOff
from argsum.analysis.reports.history import digest_of, shown_points, sign_off_of
from cqa_site.people.models import User

from .analyses import record_work
from .edits import EditConflict, EditRefused, editing


def sign_off(*, analysis: Analysis, actor: User, seen: int) -> SignOff:
    """Sign off the key points shown; statements can then be placed by their codes.

    ``seen`` is the revision of the analysis that the person looked at.

    Raises
    ------
    EditConflict
        If key points were edited since.
    EditRefused
        If no key point is shown, proposed ones wait, or these were signed off already.
    """
    with editing(analysis) as held:
        if held.revision != seen:
            raise EditConflict(
                _("Key points were edited in the meantime. Look at them, then sign off again.")
            )
        state = sign_off_of(held)
        if state.proposed:
            raise EditRefused(
                ngettext(
                    "%d key point is still proposed. Accept or decline it first.",
                    "%d key points are still proposed. Accept or decline them first.",
                    state.proposed,
                )
                % state.proposed
            )
        if not state.shown:
            raise EditRefused(_("There are no key points to sign off."))
        if state.is_valid:
            raise EditRefused(_("These key points are already signed off."))
        points = shown_points(held)
        signed = SignOff.objects.create(
            analysis=held, digest=digest_of(points), points=points, revision=seen, actor=actor
        )
        facts = {"key_points": len(points), "digest": signed.digest, "revision": seen}
        record_work(held, actor, "key_points_signed_off", **facts)
    return signed

"""Which browser a crowd participant's place belongs to.

Anybody can type a platform's id into the address of a crowd link. Until platforms sign their
entries, an id therefore opens a place once: the browser that was first keeps a secret in a
cookie, and the database its hash. A researcher releases the place of somebody who lost theirs.
"""

from typing import Any

from django.db import transaction

from cqa_site.people.access import record
from cqa_site.people.models import User, hash_secret
from cqa_site.rounds.models import Participant, ParticipantLink


def place_hash(link: ParticipantLink, browser: str) -> str:
    """What is kept of a browser's secret; different for every link, so links cannot be joined."""
    return hash_secret(f"{link.public_id}:{browser}")


def is_open_to(participant: Participant, browser: str) -> bool:
    """Whether the browser with this secret may have the place: it has it, or it was released."""
    kept = participant.browser_hash
    return not kept or (bool(browser) and kept == place_hash(participant.link, browser))


def hold_place(*, participant: Participant, browser: str) -> None:
    """Bind a place to the browser its person sits at."""
    wanted = place_hash(participant.link, browser)
    if participant.browser_hash != wanted:
        participant.browser_hash = wanted
        participant.save(update_fields=["browser_hash"])


@transaction.atomic
def release_place(*, participant: Participant, actor: User) -> None:
    """Let the next browser that comes with this id have the place; ends every session of it."""
    participant.browser_hash = ""
    participant.save(update_fields=["browser_hash"])
    participant.user.set_unusable_password()  # another random value, which no session matches
    participant.user.save(update_fields=["password"])
    record_participant(participant, "participant_place_released", actor=actor)


def record_participant(
    participant: Participant,
    verb: str,
    *,
    actor: User | None = None,
    reason: str = "",
    **details: Any,
) -> None:
    """Write a line about a participant, done by themselves where no ``actor`` is named."""
    record(
        study=participant.study,
        actor=actor or participant.user,
        verb=verb,
        subject=str(participant.user),
        reason=reason,
        link=str(participant.link.public_id),
        **details,
    )

"""Environment for a command: a study, or a database for one computation."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections, transaction
from django.db.models import Q
from django.db.utils import ConnectionHandler

from cqa_site.people.access import record
from cqa_site.people.actions import add_member, create_study
from cqa_site.people.models import Study, User


def add_study_arguments(parser: CommandParser) -> None:
    """Add arguments for the study, its creation and its member."""
    parser.add_argument("--study", required=True, help="name or id of the study")
    parser.add_argument("--create-study", action="store_true", help="create it if it is missing")
    parser.add_argument(
        "--member",
        default="",
        metavar="E-MAIL",
        help="who becomes a researcher of the study, its admin if it has none; "
        "default for a new study: the first active site administrator",
    )


@contextmanager
def opened_study(command: BaseCommand, options: dict[str, Any]) -> Iterator[Study]:
    """Yield the study from `study_of`; a new study is removed after a failure or dry run."""
    is_new = find_study(options["study"]) is None
    with transaction.atomic() if is_new else nullcontext():
        study, message = _found_or_made(options)
        yield study
        if is_new:
            transaction.set_rollback(bool(options.get("dry_run")))
    if message and not options.get("dry_run"):
        command.stdout.write(message)


def study_of(command: BaseCommand, options: dict[str, Any]) -> Study:
    """Return the study with that id or name, creating it on request with a member."""
    study, message = _found_or_made(options)
    if message:
        command.stdout.write(message)
    return study


def _found_or_made(options: dict[str, Any]) -> tuple[Study, str]:
    """Return the study, and a message about who was added to it."""
    study = find_study(options["study"])
    member = _person(options["member"]) if options.get("member") else None
    if study is None and not options.get("create_study"):
        raise CommandError(
            f"There is no study {options['study']!r}. Create it with --create-study."
        )
    if study and study.is_archived:
        raise CommandError(f"The study {study.name!r} is archived; restore it first.")
    if study is None:
        return _made(options["study"], member or _first_administrator())
    if member is None or options.get("dry_run"):
        return study, ""
    membership = add_member(study=study, user=member, actor=None)
    if not membership.is_active:
        raise CommandError(f"{member.email} was deactivated in this study.")
    return study, f"{member.email} is {membership.get_role_display()} of {study.name!r}."


def find_study(wanted: str) -> Study | None:
    """Return the only study with that id or name, or None."""
    try:
        studies = list(Study.objects.filter(public_id=UUID(wanted)))
    except ValueError:
        studies = list(Study.objects.filter(name=wanted)[:2])
    if len(studies) > 1:
        raise CommandError(f"Several studies are named {wanted!r}; give the id instead.")
    return studies[0] if studies else None


def _made(name: str, first: User | None) -> tuple[Study, str]:
    if first is not None:
        study = create_study(name=name, description="", actor=first)
        return study, f"Created the study {name!r}. {first.email} is its admin."
    study = Study.objects.create(name=name)
    record(study=study, actor=None, verb="study_created", subject=name)
    return study, (
        f"Created the study {name!r}. No one can open it yet because there is no active site "
        "administrator. Create one with manage.py createsuperuser, then repeat this command "
        "with --member E-MAIL. A second import adds nothing twice."
    )


def _person(email: str) -> User:
    person = User.objects.filter(email__iexact=email.strip()).first()
    if person is None:
        raise CommandError(f"No user has the e-mail {email!r}.")
    if not person.is_active:
        raise CommandError(f"{email} is deactivated and cannot open a study.")
    return person


def _first_administrator() -> User | None:
    administrators = User.objects.filter(
        Q(is_staff=True) | Q(is_superuser=True), is_active=True, email__isnull=False
    )
    return administrators.order_by("pk").first()


DEFAULT = "default"


@contextmanager
def throwaway_database() -> Iterator[None]:
    """Replace the configured database with an empty, migrated SQLite database in memory.

    Only this thread sees it. The configured database is neither read nor
    written, and background work runs in place instead of waking a worker.
    """
    configured, inline = connections[DEFAULT], settings.JOBS_INLINE
    handler = ConnectionHandler(
        {DEFAULT: {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
    )
    connections[DEFAULT] = handler[DEFAULT]
    settings.JOBS_INLINE = True
    try:
        call_command("migrate", run_syncdb=True, interactive=False, verbosity=0)
        yield
    finally:
        settings.JOBS_INLINE = inline
        # Closing the last connection to a database in memory is its end.
        handler[DEFAULT].close()
        connections[DEFAULT] = configured

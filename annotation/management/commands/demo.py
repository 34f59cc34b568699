"""Prepare the site and the invented demo study; run it, or give its people a new password."""

import os
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from annotation.demo.actions import PEOPLE, build_demo, demo_exists, new_password
from cqa_site.people.management.commands.site import check_port
from cqa_site.preparing import prepare

AGAIN = "manage.py demo --password"


class Command(BaseCommand):
    help = "Load the invented demo study (once), and with --port run the site."
    # They load every page, and what they look at changes only with what is prepared.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--port", type=int, help="run the site there, on 127.0.0.1")
        parser.add_argument(
            "--fetch", action="store_true", help="fetch missing language packages beside the site"
        )
        parser.add_argument(
            "--password", action="store_true", help="only give the demo's people a new password"
        )
        parser.add_argument(
            "--crowd", action="store_true", help="with --port: also a crowd platform to try"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["password"]:
            self._give_password()
            return
        port = options["port"]
        if port:
            check_port("127.0.0.1", port)
        if prepare():
            self.check()
        if port and options["crowd"]:
            self._run_with_crowd(port, options["fetch"])
        elif port:
            call_command("site", port=port, fetch=options["fetch"], about=self._load)
        else:
            self.stdout.write("\n".join(self._load()))

    def _run_with_crowd(self, port: int, fetch: bool) -> None:
        """Run the site and, alongside it, a platform with invented participants."""
        from annotation.demo.actions import connect_stand_in
        from cqa_site.pay.stand_in import PlatformStandIn

        def load() -> list[str]:
            lines = self._load()
            if connect_stand_in(platform, f"http://127.0.0.1:{port}") is None:
                return [*lines, "  No crowd platform: no label round of the demo is open.\n"]
            return [*lines, f"  Crowd platform with invented people: {platform.address}\n"]

        with PlatformStandIn() as platform:
            # The processes of the site inherit them.
            os.environ.update(platform.settings)
            call_command("site", port=port, fetch=fetch, about=load)

    def _load(self) -> list[str]:
        """Build the demo if missing; return the sign-in details."""
        return self._about(None if demo_exists() else build_demo())

    def _give_password(self) -> None:
        if settings.PRODUCTION:
            raise CommandError("Not in production: manage.py changepassword E-MAIL changes one.")
        if not demo_exists():
            raise CommandError("There is no demo study here. Load it first: manage.py demo")
        self.stdout.write("\n".join(self._about(new_password())))

    def _about(self, password: str | None) -> list[str]:
        """Return the people who can sign in, and their credentials."""
        people = [f"  {email:32} {role}" for email, role, _name in PEOPLE]
        lines = [
            "\nThe demo study is ready; all its data is invented. Sign in as one of:",
            *people,
        ]
        if password:
            return [
                *lines,
                f"\n  password for all of them: {password}",
                f"  It is not stored in plain text. For a new one: {AGAIN}\n",
            ]
        return [*lines, f"\n  with the password you were given. For a new one: {AGAIN}\n"]

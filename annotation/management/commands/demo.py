"""Prepare the database and the invented demo study; print the first sign-in once."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from annotation.demo.actions.demo import PEOPLE, build_demo, demo_exists


class Command(BaseCommand):
    help = "Migrate, collect static files and load the invented demo study (once)."

    def handle(self, *args: Any, **options: Any) -> None:
        quiet = {"verbosity": 0}
        call_command("migrate", interactive=False, **quiet)
        call_command("createcachetable", **quiet)
        call_command("collectstatic", interactive=False, **quiet)
        if demo_exists():
            self.stdout.write("The demo study is there already; its people keep their password.")
            return
        password = build_demo()
        self.stdout.write(
            self.style.SUCCESS("\nThe demo study is ready; all its data is invented.")
        )
        self.stdout.write("Sign in at http://127.0.0.1:8000 as one of:\n")
        for email, role, _name in PEOPLE:
            self.stdout.write(f"  {email:32} {role}")
        self.stdout.write(f"\n  password for all of them:  {password}\n")
        self.stdout.write("It is shown this once. Change it: manage.py changepassword E-MAIL\n")

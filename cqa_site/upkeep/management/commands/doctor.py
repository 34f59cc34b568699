"""Report the state of the site, with its faults and their remedies."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from cqa_site.upkeep.doctor.examination import Family, examine
from cqa_site.upkeep.doctor.examinations import web
from cqa_site.upkeep.doctor.findings import CheckState, Result, as_row, in_lines

SECONDS = 10.0


class Command(BaseCommand):
    help = (
        "Check the site: what is configured, reachable, up to date and backed up. Exit "
        "code 0: no problems; 1: a problem, or with --strict anything not OK."
    )
    # The command runs these checks itself, because it must report the errors instead of stopping.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="a list of objects, for programs")
        parser.add_argument("--strict", action="store_true", help="exit 1 if anything is not OK")
        parser.add_argument("--url", help="the public address, to check it as well")
        parser.add_argument("--send-mail", metavar="TO", help="send one message to this address")

    def handle(self, *args: Any, **options: Any) -> None:
        results = [*examine(SECONDS), *_asked_for(options)]
        if options["json"]:
            self.stdout.write(json.dumps([as_row(result) for result in results], indent=2))
        else:
            in_full = options["verbosity"] > 1
            self.stdout.write("\n".join(in_lines(results, self._paint, in_full=in_full)))
        good = {CheckState.WELL} if options["strict"] else set(CheckState) - {CheckState.WRONG}
        if any(result.finding.state not in good for result in results):
            sys.exit(1)

    def _paint(self, text: str, state: CheckState) -> str:
        style = {
            CheckState.WRONG: self.style.ERROR,
            CheckState.LOOK: self.style.WARNING,
            CheckState.WELL: self.style.SUCCESS,
        }
        return str(style.get(state, str)(text))


def _asked_for(options: dict[str, Any]) -> list[Result]:
    """Run the examinations that only run on request."""
    results = []
    if options["url"]:
        finding = web.look_at_address(options["url"])
        results.append(Result("web.address", str(Family.WEB.label), "Address", finding))
    if options["send_mail"]:
        finding = web.send_to(options["send_mail"])
        results.append(Result("mail.message", str(Family.MAIL.label), "Message", finding))
    return results

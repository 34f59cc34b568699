"""Request all pages of the demo, and import and export data, without language packages.

    .venv/bin/python -m benchmarks.light_pages

Needs an environment that has only ``requirements-site.txt``, and refuses to run in a larger one.
On a throw-away site, it requests every page that a user can reach by links, imports a table of
arguments, and exports a round in every format.
"""

import os
import sys
import tempfile
from collections import Counter
from typing import Any

from benchmarks.page_walk import walk

TABLE = b"object1,object2,text\ntea,coffee,Tea is lighter.\ntea,coffee,Coffee wakes you up.\n"

MAPPING = {f"map_{name}": name for name in ("object1", "object2", "text")} | {
    "rater_kind": "person"
}


def main() -> int:
    """Print the results; return 1 if any response was an error."""
    os.environ |= {"DJANGO_SETTINGS_MODULE": "cqa_site.settings", "JOBS_INLINE": "true"}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATA_DIR": folder, "STATIC_ROOT": f"{folder}/static"}
        import django

        django.setup()
        from cqa_site.judging import packages

        names = packages.pins().keys() - {packages.MODEL_PACKAGE}
        there = sorted(filter(packages.is_installed, names))
        if there:
            sys.exit(f"This environment has language packages: {', '.join(there)}")
        from django.core.management import call_command

        call_command("demo")
        failed = walk_pages() + bring_in() + bring_out()
    print(f"errors: {failed}")
    return 1 if failed else 0


def walk_pages() -> int:
    """Request every page as each demo user; return the number of failures."""
    from annotation.demo.actions import PEOPLE
    from cqa_site.people.models import User

    failed = 0
    for email, role, _name in PEOPLE:
        statuses: Counter[int] = Counter()
        client = counting(statuses)
        client.force_login(User.objects.get(email=email))
        pages = walk(role, client, ["/"])
        print(f"{role}: {len(pages)} pages of {len({page.name for page in pages})} addresses")
        failed += sum(count for status, count in statuses.items() if status >= 500)
    return failed


def counting(statuses: Counter[int]) -> Any:
    """Return a client that counts the status codes of its responses."""
    from django.test import Client

    class Counting(Client):
        def request(self, **values: Any) -> Any:
            response = super().request(**values)
            statuses[response.status_code] += 1
            if response.status_code >= 500:
                print(f"{response.status_code}: {values.get('PATH_INFO')}")
            return response

    return Counting(raise_request_exception=False, SERVER_NAME="127.0.0.1")


def bring_in() -> int:
    """Import a table of arguments on the pages; return 1 if it fails."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client
    from django.urls import reverse

    from annotation.corpus.models import Argument
    from cqa_site.people.models import Study, User

    study, client = Study.objects.get(), Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.get(email__startswith="researcher@"))
    before = Argument.objects.count()
    table = SimpleUploadedFile("tea.csv", TABLE)
    client.post(reverse("import_upload", args=[study.public_id]), {"kind": "table", "file": table})
    file = study.import_files.latest("pk")
    for step, fields in (("import_mapping", MAPPING), ("import_apply", {})):
        client.post(reverse(step, args=[study.public_id, file.public_id]), fields)
    made = Argument.objects.count() - before
    print(f"imported: {made} arguments")
    return int(made != 2)


def bring_out() -> int:
    """Request every export of a round in every format; return the number of failures."""
    from annotation.exports.actions import request_exports
    from annotation.exports.models import ExportFile
    from annotation.labelling.models import LabelRound
    from cqa_site.files.actions.exports import ExportOptions
    from cqa_site.people.models import User

    label_round = LabelRound.objects.earliest("pk")
    boss = User.objects.get(email__startswith="researcher@")
    for name in ExportFile.Format.values:
        wanted = [each for each in ExportFile.Content.values if each != "figures"]
        request_exports(
            label_round=label_round,
            snapshot=None,
            contents=wanted,
            format=name,
            options=ExportOptions(),
            actor=boss,
        )
    states = Counter(ExportFile.objects.values_list("job__state", flat=True))
    print(f"exported: {dict(states)}")
    return sum(states.values()) - states["done"]


if __name__ == "__main__":
    sys.exit(main())

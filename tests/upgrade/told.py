"""Everything that the REST API tells of a study: what an upgrade must not change.

``python -m tests.upgrade.told FILE`` writes it down for the demo study of the site that is
configured; with ``--look`` every page is opened first, so that there are figures. Of lists the
first `ROWS` are told, and of rows with addresses of their own `DEEP`.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

ROWS, DEEP = 40, 4
STUDY = "/api/v1/studies/{study_id}/"
HOLE = re.compile(r"\{(\w+)\}")
# What depends on the day or the machine, what is a file, and what compares two that are chosen.
NOT_TOLD = (
    "invitations/",
    "jobs/",
    "cam-service/",
    "/file/",
    "{other_id}",
    "/find/",
    "ns/points/",
)
# Rounds of all kinds are listed by kind.
LISTED = {"rounds/": "label-rounds/"}


def told_of(client: Any, study_id: Any) -> dict[str, Any]:
    """Address below the study → what it answers, for whoever the client is."""
    root = STUDY.format(study_id=study_id)
    found: dict[str, Any] = {}
    for path, has_pages in sorted(_paths(), key=lambda each: (each[0].count("{"), each)):
        for below in _filled(path, found):
            answer = client.get(root + below, {"page_size": ROWS} if has_pages else {})
            is_json = answer.headers["Content-Type"].endswith("json")
            found[below] = json.loads(answer.content) if is_json else answer.getvalue().decode()
    return found


def _paths() -> Iterator[tuple[str, bool]]:
    """Addresses of a study that can be read, and whether they come in pages."""
    from drf_spectacular.generators import SchemaGenerator

    paths = SchemaGenerator().get_schema(public=True)["paths"]
    for path, operations in paths.items():
        is_told = path.startswith(STUDY) and not any(each in path for each in NOT_TOLD)
        if is_told and "get" in operations:
            names = {each["name"] for each in operations["get"]["parameters"]}
            yield path.removeprefix(STUDY), "page_size" in names


def _filled(path: str, found: dict[str, Any]) -> Iterator[str]:
    """The addresses of a path, with ids that lists told before."""
    hole = HOLE.search(path)
    if hole is None:
        yield path
        return
    before, after = path[: hole.start()], path[hole.end() :]
    told = found.get(LISTED.get(before, before), [])
    rows = told.get("results", []) if isinstance(told, dict) else told
    for row in [each for each in rows if "id" in each][:DEEP]:
        yield from _filled(f"{before}{row['id']}{after}", found)


def _look_at_pages(member: Any) -> None:
    """Open every page of a study, as people do, so that its figures are computed."""
    from django.test import Client
    from django.urls import NoReverseMatch, get_resolver, reverse

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(member.user)
    for name in sorted(each for each in get_resolver().reverse_dict if isinstance(each, str)):
        with suppress(NoReverseMatch):
            client.get(reverse(name, args=[member.study.public_id]))


def _compute_again() -> None:
    """Compare the figures of every snapshot with its rows; ends where they differ."""
    from cqa_site.results.snapshots import KINDS, check_snapshot

    for kind in KINDS.values():
        for snapshot in kind.Model._default_manager.filter(computed_at__isnull=False):
            if differences := check_snapshot(kind, snapshot):
                sys.exit(f"{kind.name} {snapshot.pk}: {differences}")


def main(path: str, *, is_new: bool) -> None:
    """Write down what the demo study of this site tells its admin."""
    import django

    django.setup()
    from django.core.management import call_command
    from rest_framework.test import APIClient

    from cqa_site.people.models import Membership

    member = Membership.objects.get(study__is_demo=True, role="admin")
    if is_new:
        _look_at_pages(member)
    client = APIClient(HTTP_HOST="127.0.0.1")
    client.force_authenticate(member.user)
    told = told_of(client, member.study.public_id)
    call_command("check_integrity")
    _compute_again()
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    Path(path).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    main(sys.argv[1], is_new="--look" in sys.argv)

"""Everything that the REST interface tells of a study: what an upgrade must not change.

``python -m tests.upgrade.told FILE`` writes it down for the demo study of the site that is
configured. Of lists the first `ROWS` are told, and of rows with addresses of their own `DEEP`.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
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
            found[below] = json.loads(answer.content)
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


def demo_told() -> dict[str, Any]:
    """What the demo study of this site tells its admin."""
    from rest_framework.test import APIClient

    from cqa_site.people.models import Membership

    member = Membership.objects.get(study__is_demo=True, role="admin")
    client = APIClient(HTTP_HOST="127.0.0.1")
    client.force_authenticate(member.user)
    return told_of(client, member.study.public_id)


def main() -> None:
    """Write down what the demo study of this site tells."""
    import django

    django.setup()
    told = demo_told()
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    Path(sys.argv[1]).write_bytes(gzip.compress(text.encode(), mtime=0))
    print(f"{len(told)} addresses")


if __name__ == "__main__":
    main()

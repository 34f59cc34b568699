"""The number of product files involved in three journeys.

    python -m benchmarks.hops [--list]

The journeys are: a vote from its request to alpha on the page; a judge's reply from the start of
its run to its row on the leaderboard; a comment from the upload of its file to its key point on
the page. A file counts once if any of its functions is called on the way, in any thread;
``--list`` prints the files. The setup (people, rounds, answers) is not counted.
"""

import argparse
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from benchmarks.house import PACKAGES, ROOT

FOLDERS = tuple(f"{ROOT / package}/" for package in PACKAGES)


@contextmanager
def traced(journey: str) -> Iterator[None]:
    """Print the number of product files whose functions are called in the block, by package."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    # Code that runs during an import, including class bodies, is not a function.
    names = {code.co_filename for code in seen if code.co_flags & CO_NEWLOCALS}
    paths = sorted(Path(name).relative_to(ROOT) for name in names if name.startswith(FOLDERS))
    packages = Counter("/".join(path.parts[:2]) for path in paths)
    print(f"\n{journey:34}{len(paths):5} files in {len(packages)} packages")
    if pytest.hops_are_listed:  # type: ignore[attr-defined]
        print(*(f"    {path}" for path in paths), sep="\n")


@pytest.mark.django_db
def test_vote() -> None:
    """Send a vote and show the figures that count it."""
    from django.urls import reverse

    from annotation.figures.actions import LABEL_ROUNDS
    from annotation.labelling.models import Assignment
    from cqa_site.results import snapshots
    from tests.annotation.voting import opened
    from tests.cast import make_member, make_study, sign_in

    study = make_study()
    label_round = opened(study, ordinary=4, controls=0, controls_per_block=0, votes_per_item=2)
    ids = [study.public_id, label_round.public_id]
    boss = sign_in(make_member(study, "researcher"))

    def send(client: Any, rows: list[Assignment]) -> None:
        for label, row in enumerate(rows):
            fields = {"item": row.public_id, "client_key": uuid.uuid4().hex, "label": label % 4}
            reply = client.post(
                reverse("label_answer", args=ids), fields, headers={"Accept": "application/json"}
            )
            assert reply.json()["saved"]["label"] == label % 4

    def start() -> tuple[Any, list[Assignment]]:
        person = make_member(study, "annotator")
        client = sign_in(person)
        client.get(reverse("label", args=ids))
        rows = Assignment.objects.filter(round=label_round, rater__user=person)
        return client, list(rows.order_by("item_id"))

    send(*start())
    client, rows = start()
    send(client, rows[:-1])
    with traced("vote → alpha on the page"):
        send(client, rows[-1:])
        snapshots.refresh(LABEL_ROUNDS, label_round)
        page = boss.get(reverse("figures", args=ids))
    assert "alpha" in page.text.lower()


@pytest.mark.django_db
def test_reply() -> None:
    """Get the replies of a judge that scores eight answers, and show the leaderboard."""
    from django.urls import reverse

    from benchmark.leaderboard.actions import BOARDS
    from cqa_site.results import snapshots
    from tests.benchmark.judges.test_scoring_judge import Lab
    from tests.cast import sign_in

    lab = Lab()
    boss = sign_in(lab.researcher)
    with traced("judge's reply → leaderboard"):
        run = lab.run()
        board = snapshots.refresh(BOARDS, lab.rubric).figures["board"]
        page = boss.get(reverse("scores", args=[lab.study.public_id]))
    assert run.state == "done"
    assert board["judges"][0]["name"] in page.text


@pytest.mark.django_db
def test_comment() -> None:
    """Upload a file of comments through the forms, and show the page of a key point."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.urls import reverse

    from argsum.analysis.models import Analysis
    from argsum.datasets.models import Cell
    from cqa_site.runs import jobs
    from tests.argsum.analysis.made_comments import analyse, reading_words, theme_statements
    from tests.cast import make_member, make_study, sign_in

    study = make_study()
    boss = make_member(study, "researcher")
    client = sign_in(boss)
    content = "\n".join(["What do you think?", *theme_statements()]).encode()
    with traced("comment → its key point"), reading_words():
        upload = {"kind": "comments", "file": SimpleUploadedFile("town.csv", content)}
        page = client.post(reverse("import_upload", args=[study.public_id]), upload).url
        form = client.get(page).context["form"]
        values = {name: form[name].value() or "" for name in form.fields}
        client.post(page, values | {"topic": "The town"})
        jobs.drain()
        file = study.import_files.get()
        client.post(reverse("import_apply", args=[study.public_id, file.public_id]))
        jobs.drain()
        analysis = analyse(Cell.objects.get(), boss)
        point = analysis.points.first()
        assert analysis.state == Analysis.State.DONE
        assert point is not None
        ids = [study.public_id, analysis.public_id, point.public_id]
        assert point.text in client.get(reverse("found_point", args=ids)).text


def main() -> None:
    """Run the three journeys in a test database."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    pytest.hops_are_listed = parser.parse_args().list  # type: ignore[attr-defined]
    quiet = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header")
    sys.exit(pytest.main([*quiet, "-o", "addopts=", __file__]))


if __name__ == "__main__":
    main()

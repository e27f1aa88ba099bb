"""A file is written whole or not at all, and links are replaced instead of followed."""

import os

import pytest

from echofold._machine.files import write_atomically


def test_an_earlier_file_stays_whole_if_something_fails(tmp_path, monkeypatch):
    path = write_atomically(tmp_path / "a", b"first")

    def fail(*_):
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            with pytest.raises(OSError, match="disk full"):
                write_atomically(path, b"second")
        assert path.read_bytes() == b"first"
        assert os.listdir(tmp_path) == ["a"]
    assert write_atomically(str(path), b"second").read_bytes() == b"second"


def test_a_link_is_replaced_and_what_it_leads_to_left_alone(tmp_path):
    (tmp_path / "kept").write_bytes(b"precious")
    for name, target in (("to a file", "kept"), ("to nothing", "new"), ("to itself", "to itself")):
        (tmp_path / name).symlink_to(tmp_path / target)
        assert write_atomically(tmp_path / name, b"x").read_bytes() == b"x"
        assert not (tmp_path / name).is_symlink()
    assert (tmp_path / "kept").read_bytes() == b"precious"
    assert not (tmp_path / "new").exists()


def test_names_aside_cannot_be_planted(tmp_path, monkeypatch):
    """Even if the name were guessed: a link that is there already is an error."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "guessed")
    (tmp_path / "kept").write_bytes(b"precious")
    (tmp_path / ".guessed.part").symlink_to(tmp_path / "kept")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "a", b"x")
    assert (tmp_path / "kept").read_bytes() == b"precious"
    assert (tmp_path / ".guessed.part").is_symlink()


def test_names_as_long_as_a_folder_takes(tmp_path):
    assert write_atomically(tmp_path / ("n" * 255), b"x").read_bytes() == b"x"

"""What tests of a model's life share: files that arrive, processes that are killed."""

KILLED = """
import os, signal, sys
name, left = sys.argv[1], int(sys.argv[2])
real = getattr(os, name)
def last(*args):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args)
setattr(os, name, last)
sys.argv = ["echofold", *sys.argv[3:]]
from echofold.cli import main
main()
"""


def rows(tmp_path, values, name="new.csv", **how):
    values.to_csv(tmp_path / name, **how)
    return tmp_path / name


def content_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".part"}


def refused(result, *words):
    assert result[0] in (1, 2) and result[1] == ""
    last = result[2].splitlines()[-1]
    assert last.startswith("Error: ")
    assert all(word in last for word in words), last

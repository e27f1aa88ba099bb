"""Arrays of NumPy and of JAX by one text."""

from __future__ import annotations

import signal
import sys
import threading

import pytest

from echofold._machine.arrays import _Lazy

INTERRUPTED = """
import signal
signal.raise_signal(signal.SIGINT)
whole = True
"""


@pytest.fixture
def lazy(tmp_path, monkeypatch):
    """A module in whose middle a Ctrl-C arrives."""
    (tmp_path / "interrupted_here.py").write_text(INTERRUPTED)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield _Lazy("interrupted_here")
    sys.modules.pop("interrupted_here", None)


def test_an_import_is_finished_before_an_interrupt_is_heard(lazy):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs of shells ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            _ = lazy.whole
        assert sys.modules["interrupted_here"].whole
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert lazy.whole  # it goes on as if nothing had been
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_ignores_interrupts_goes_on_ignoring_them(lazy):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert lazy.whole
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_import_too(tmp_path, monkeypatch):
    (tmp_path / "quiet_here.py").write_text("whole = True")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = []
    thread = threading.Thread(target=lambda: found.append(_Lazy("quiet_here").whole))
    thread.start()
    thread.join()
    assert found == [True]

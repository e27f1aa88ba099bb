"""Progress is shown where someone looks, and nowhere else."""

import builtins
import io
import re
import sys

import numpy as np
import pytest
from searches import RIDGE, searched

from echofold import ESNForecaster, ESNSearchCV, KFold
from echofold._machine import progress as _pace
from echofold._machine import progress as _progress
from echofold._search.runner import ALONE

LINE = r"searching: (\d+) of (\d+), best ([^,]+)(?:, (-?\d+) s left)?"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def quick(**options):
    space = {"leak_rate": [0.3, 1.0], "ridge": RIDGE}
    return searched("regression", **{"space": space, **options})


@pytest.mark.parametrize("setting", ["auto", False, None])
def test_nothing_is_printed_where_nobody_looks(capsys, setting):
    quick(progress=setting)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_lines_when_asked_to(capsys):
    search = quick(progress=True, n_draws=2)
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    found = re.fullmatch(LINE, lines[-1])
    assert found is not None
    assert found.groups()[:2] == ("4", "4")  # two candidates, two draws
    best = search.results_.nrmse.mean("split").min()
    assert found[3] == f"{float(best):.4g}"
    assert found[4] is None  # no pace of less than a second


def test_about_one_line_in_two_seconds(capsys, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    shown = _progress.progress(True, 100, "searching")
    with shown:
        for done in range(1, 101):
            clock[0] = done * 0.25
            shown.update(done, 1 / done)
    found = [re.fullmatch(LINE, line).groups() for line in capsys.readouterr().err.splitlines()]
    assert [int(done) for done, *_ in found] == [*range(8, 100, 8), 100]
    for done, total, best, left in found:
        assert total == "100" and best == f"{1 / int(done):.4g}"
        assert int(left) == round(0.25 * (100 - int(done)))


def clocked(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(_pace.time, "monotonic", lambda: clock[0])
    return clock


def test_the_time_left_follows_the_pace_without_the_first_piece(monkeypatch):
    clock = clocked(monkeypatch)
    pace = _pace.Pace()
    clock[0] = 60.0  # a minute, most of it to compile
    assert pace.left(1, 10) == 60.0 * 9
    for done in range(2, 11):
        clock[0] += 2.0
        assert pace.left(done, 10) == pytest.approx(2.0 * (10 - done))
    assert pace.left(11, 10) == 0.0  # more than was thought


def test_pieces_count_by_what_they_cost_and_those_of_a_new_kind_less(monkeypatch):
    clock = clocked(monkeypatch)
    pace = _pace.Pace()
    pieces = [(1, 5, 0), (1, 1, 0), (1, 2, 0), (20, 60, 1), (10, 12, 0)]  # costs, seconds, new
    spent, said = 0, []
    for cost, seconds, new in pieces:
        clock[0] += seconds
        spent += cost
        said.append(pace.left(spent, 100, bool(new)))
    assert said[:3] == [None, None, None]  # a twentieth is too little
    assert said[3] == pytest.approx((5 + 1 + 2 + 60) / 23 * (100 - 23))  # too few are like others
    assert said[4] == pytest.approx((1 + 2 + 12) / 12 * (100 - 33))


def test_workers_that_finish_together_are_no_faster(monkeypatch):
    clock = clocked(monkeypatch)
    pace = _pace.Pace()
    for done in range(1, 41):  # two at a time
        clock[0] += 4.0 if done % 2 else 0.0
        left = pace.left(done, 100)
    assert left == pytest.approx(2.0 * 60, rel=0.05)


def test_what_follows_is_part_of_the_time_left(capsys, monkeypatch):
    clock = clocked(monkeypatch)
    with _progress.before(7.0), _progress.progress(True, 4, "searching") as shown:
        for done in range(1, 5):
            clock[0] += 3.0
            shown.update(done, 1.0, 10.0 * done, 60.0)  # final models are the rest
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "searching: 4 of 4, best 1, 13 s left"
    with _progress.before(finals=3):
        assert _progress.finals_ahead() == 3
    assert _progress.finals_ahead() == 0


@pytest.mark.parametrize(("strategy", "final"), [("grid", "retrain"), ("halving", "ensemble")])
def test_a_search_tells_what_it_costs(monkeypatch, strategy, final):
    """Costs add up to what is planned, but for final models; of large networks they are larger."""
    said = []
    monkeypatch.setattr(
        _progress.Progress, "update", lambda self, *told: said.append(told), raising=True
    )
    y = np.sin(np.arange(300) / 5)
    space = {"units": [5, 40], "leak_rate": [0.3, 0.6], "ridge": RIDGE}
    search = ESNSearchCV(
        ESNForecaster(random_state=0), space, cv=KFold(4), strategy=strategy, final=final
    )
    search.fit(y)
    done, _, cost, of, new = zip(*said, strict=True)
    assert list(cost) == sorted(cost) and 0.3 < cost[-1] / of[-1] < 1
    if strategy == "grid":
        small, large = cost[0], cost[1] - cost[0]
        assert done == (2, 4) and large > small and new == (True, True)
        assert of[-1] == pytest.approx(cost[-1] * (4 + ALONE) / 4)  # one network more


def test_nothing_is_said_before_enough_was_done_and_never_less_than_nothing(monkeypatch):
    clock = clocked(monkeypatch)
    pace = _pace.Pace()
    assert pace.left(0, 1000) is None
    clock[0] = 0.5
    assert pace.left(400, 1000) is None  # half a second is no pace
    clock[0] = 30.0
    assert pace.left(0, 1000) is None
    assert pace.left(10, 1000) is None  # one in a hundred
    clock[0] = 20.0  # a clock that was set back
    assert pace.left(100, 1000) >= 0
    clock[0] = 90.0
    assert pace.left(100, 1000) > 0 and pace.left(1000, 1000) == 0


def test_lines_leave_the_time_out_until_it_can_be_told(capsys, monkeypatch):
    clock = clocked(monkeypatch)
    shown = _progress.progress(True, 1000, "searching")
    with shown:
        for done in (10, 20, 500):
            clock[0] += 10
            shown.update(done, 1.0)
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == "searching: 10 of 1000, best 1"
    assert second == "searching: 20 of 1000, best 1"
    assert third == "searching: 500 of 1000, best 1, 20 s left"


def test_one_piece_of_work_is_shown_once_it_takes_a_while(capsys, monkeypatch):
    clock = clocked(monkeypatch)
    with _progress.one_piece("fitting", True):
        for done in range(60):
            clock[0] += 0.5
            _progress.passing(done, 60)
    _progress.passing(59, 60)  # to nobody
    assert capsys.readouterr().err.splitlines() == [
        "fitting: 38% of 60 rows driven",
        "fitting: 72% of 60 rows driven",
    ]


def test_a_bar_shows_the_same_time(monkeypatch):
    pytest.importorskip("rich")
    clock = clocked(monkeypatch)
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    bar = _progress.progress(True, 100, "searching")
    for done, left in ((1, ""), (11, "89 s left"), (21, "79 s left"), (100, "0 s left")):
        clock[0] += 1.0 if done == 1 else 10.0
        bar.update(done, 1.0)
        assert bar.bar.tasks[0].fields["left"] == left


def test_the_total_of_halving_counts_every_round(capsys):
    space = {"leak_rate": [0.1, 0.3, 0.6, 1.0], "ridge": RIDGE}
    quick(space=space, strategy="halving", progress=True)
    found = re.fullmatch(LINE, capsys.readouterr().err.splitlines()[-1])
    assert found[1] == found[2] == "6"  # four, then two of them


def test_scores_that_are_not_finite_are_not_the_best(capsys):
    calls = []

    def fails_at_first(y_true, y_pred):
        calls.append(1)
        return np.nan if len(calls) <= 2 else 5.0

    quick(metric=fails_at_first, progress=True)
    assert "best 5\n" in capsys.readouterr().err


@pytest.mark.parametrize("setting", ["auto", True])
def test_a_bar_in_a_terminal(monkeypatch, setting):
    pytest.importorskip("rich")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    search = quick(progress=setting, n_draws=2)
    shown = terminal.getvalue()
    best = search.results_.nrmse.mean("split").min()
    assert "searching" in shown and "4/4" in shown
    assert f"best {float(best):.4g}" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert shown.endswith("\x1b[2K") or "\x1b[?25h" in shown  # gone, and the cursor is back


def test_no_bar_in_a_terminal_when_not_wanted(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    quick(progress=False)
    assert sys.stderr.getvalue() == ""


def test_a_bar_in_a_notebook(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    assert isinstance(_progress.progress("auto", 10, "searching"), _progress._Bar)
    assert type(_progress.progress(False, 10, "searching")) is _progress.Progress


def test_the_bar_ends_when_the_search_fails(monkeypatch):
    pytest.importorskip("rich")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")

    def fails(y_true, y_pred):
        raise ZeroDivisionError("no score")

    with pytest.raises(ZeroDivisionError):
        quick(metric=fails)
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count("\x1b[?25h")


def test_lines_in_a_terminal_without_rich(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    imported = builtins.__import__

    def without_rich(name, *rest, **more):
        if name.partition(".")[0] == "rich":
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    quick()
    assert re.search(LINE, terminal.getvalue())


@pytest.mark.parametrize("setting", ["on", 2, "True"])
def test_bad_values(setting):
    with pytest.raises(ValueError, match=f"progress={setting!r} is not allowed.*'auto', True or F"):
        quick(progress=setting)

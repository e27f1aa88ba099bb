"""Warnings point at the line that called the library, whoever wrote it."""

import threading
import warnings

import pytest

from echofold import EchofoldWarning
from echofold._machine.notices import collected, warn_of

CODE = """
from echofold import ESNForecaster
ESNForecaster(20, random_state=0).fit([1, 2, 3, 4, 5])
"""


def test_code_without_a_name_of_its_own_is_warned_as_any():
    with pytest.warns(EchofoldWarning, match="fitted to 4 rows") as caught:
        exec(compile(CODE, "typed.py", "exec"), {})
    assert (caught[0].filename, caught[0].lineno) == ("typed.py", 3)


def test_each_thread_hears_its_own_and_the_filters_of_the_process_stay():
    before = list(warnings.filters), warnings.showwarning
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    heard = {}

    def first():
        with collected() as heard["first"]:
            first_is_in.set()
            second_is_in.wait(10)
            warn_of(["of the first"])
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with collected() as heard["second"]:
            second_is_in.set()
            first_is_out.wait(10)
            warn_of(["of the second"])

    threads = [threading.Thread(target=one) for one in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"first": ["of the first"], "second": ["of the second"]}
    assert (list(warnings.filters), warnings.showwarning) == before
    with pytest.warns(EchofoldWarning, match="afterwards"):
        warn_of(["afterwards"])

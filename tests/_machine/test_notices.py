"""Warnings point at the line that called the library, whoever wrote it."""

import pytest

from echofold import EchofoldWarning

CODE = """
from echofold import ESNForecaster
ESNForecaster(20, random_state=0).fit([1, 2, 3, 4, 5])
"""


def test_code_without_a_name_of_its_own_is_warned_as_any():
    with pytest.warns(EchofoldWarning, match="fitted to 4 rows") as caught:
        exec(compile(CODE, "typed.py", "exec"), {})
    assert (caught[0].filename, caught[0].lineno) == ("typed.py", 3)

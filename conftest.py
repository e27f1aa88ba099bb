"""What is not collected: modules of the package whose optional dependency is not installed.

Examples in docstrings draw without a screen, and keep no programs in the home of who runs them.
"""

import os
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["ECHOFOLD_CACHE"] = "off"
collect_ignore = ["tests/users_code.py"]  # for type checkers
collect_ignore += [] if find_spec("sktime") else ["src/echofold/sktime.py"]

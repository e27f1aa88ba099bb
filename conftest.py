"""What is not collected: modules of the package whose optional dependency is not installed.

Examples in docstrings draw without a screen.
"""

import os
from importlib.util import find_spec

os.environ.setdefault("MPLBACKEND", "Agg")
collect_ignore = [] if find_spec("sktime") else ["src/echofold/sktime.py"]

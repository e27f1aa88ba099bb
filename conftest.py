"""What is not collected: modules of the package whose optional dependency is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("sktime") else ["src/echofold/sktime.py"]

"""Importing the package costs little and changes nothing; checked in processes of their own."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import echofold
from echofold import EchofoldWarning, ESNForecaster, save

HEAVY = {"matplotlib", "dask", "distributed", "optuna", "polars", "IPython"}
EAGER = {"jax", "numpy", "pandas", "pandas.plotting", "scipy", "sklearn", "xarray"}


def run(code):
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def test_importing_and_expanding_a_grid_load_nothing_heavy():
    code = """
import echofold, json, sys
loaded = sorted(sys.modules)
from echofold._search.candidates import grid
grid([{"units": [1, 2]}])
print(json.dumps([loaded, "jax" in sys.modules]))
"""
    loaded, with_jax = run(code)
    assert "echofold" in loaded
    assert not set(loaded) & (HEAVY | EAGER)
    assert not with_jax


def test_all_names_and_a_small_forecast_cost_less_than_the_dependencies():
    """Neither compiler nor tables of results are loaded before they have something to do."""
    code = """
import echofold, json, math, sys
for name in echofold.__all__:
    getattr(echofold, name)
named = sorted(sys.modules)
echofold.ESNForecaster(random_state=0).fit([math.sin(n / 5) for n in range(200)]).forecast(12)
print(json.dumps([named, sorted(sys.modules)]))
"""
    for loaded in run(code):
        assert {"pandas", "sklearn"} < set(loaded)
        assert not set(loaded) & (HEAVY | {"jax", "xarray"})


def test_fitting_and_loading_load_no_plotting_and_no_cluster_and_change_no_setting(tmp_path):
    kept = ESNForecaster(10, random_state=1).fit(np.sin(np.arange(60)))
    save(kept, tmp_path / "kept")
    code = (
        f"kept = {str(tmp_path / 'kept')!r}"
        + """
import json, os, sys, warnings
import jax, numpy as np, sklearn.base  # scikit-learn itself changes some on import
before = dict(jax.config.values), np.geterr(), dict(os.environ), list(warnings.filters)
import echofold.plots, echofold.report
from echofold import ESNForecaster, load, save
import tempfile
model = ESNForecaster(10, random_state=0).fit(np.sin(np.arange(50)))
save(model, tempfile.mkdtemp() + "/model")
model.forecast(3)
after = dict(jax.config.values), np.geterr(), dict(os.environ), list(warnings.filters)
print(json.dumps({
    "loaded model": load(kept).forecast(3).tolist(),
    "x64": bool(jax.config.jax_enable_x64), "single": str(jax.numpy.ones(1).dtype),
    "same": [a == b for a, b in zip(before, after)], "loaded": sorted(sys.modules),
}))
"""
    )
    found = run(code)
    assert found["loaded model"] == kept.forecast(3).tolist()
    assert found["x64"] is False
    assert found["single"] == "float32"
    assert found["same"] == [True] * 4
    assert not set(found["loaded"]) & HEAVY


def test_every_estimator_and_scheme_is_reached_by_name():
    for name in ("ESNForecaster", "ESNRegressor", "ESNClassifier", "KFold", "save", "load"):
        assert name in echofold.__all__
        assert name in dir(echofold)
        assert getattr(echofold, name).__name__ == name
    assert not hasattr(echofold, "ESNForecastor")


def test_the_package_is_a_command():
    code = "import runpy, sys; sys.argv = ['echofold', '--version']; runpy.run_module('echofold')"
    assert not subprocess.run([sys.executable, "-c", code], capture_output=True).stdout
    command = [sys.executable, "-m", "echofold", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"echofold, version {echofold.__version__}\n")


def test_the_warning_is_shown_and_documented_where_it_is_imported_from():
    assert f"{EchofoldWarning.__module__}.{EchofoldWarning.__qualname__}" == (
        "echofold.EchofoldWarning"
    )
    assert pickle.loads(pickle.dumps(EchofoldWarning("one", "two"))).args == ("one", "two")
    page = (Path(__file__).parents[1] / "docs/api.md").read_text(encoding="utf-8")
    assert "echofold.EchofoldWarning" in page
    assert "echofold._" not in page

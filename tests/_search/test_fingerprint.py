"""Descriptions of functions and values: the same in another process, another for other contents."""

import functools
import importlib
import json
import math
import operator
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.special
import sklearn.metrics
from scipy import stats
from scipy.sparse import csr_array

from echofold import metrics
from echofold._search.identity import contents_of, described, fingerprint


def code(value):
    return contents_of(value, "metric")["code"]


def compiled(text, **scope):
    """The function ``metric`` of a piece of source."""
    scope = {"np": np, **scope}
    exec(textwrap.dedent(text), scope)
    return scope["metric"]


PLAIN = """
def metric(y_true, y_pred, power=2):
    return float((np.abs(y_true - y_pred) ** power).mean())
"""


def test_the_same_source_is_the_same():
    moved = "\n\n# a comment\n" + PLAIN.replace("    return", "    # another\n    return")
    assert code(compiled(PLAIN)) == code(compiled(PLAIN)) == code(compiled(moved))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("mean()", "max()"),
        ("power=2", "power=3"),
        ("- y_pred", "+ y_pred"),
        ("** power", "** power * 2"),
        ("** power", "** power * 2.0000000001"),
        ("np.abs", "np.square"),
        ("np.abs", "(lambda d: d if d.any() else -d)"),
    ],
)
def test_another_body_is_another(before, now):
    assert code(compiled(PLAIN)) != code(compiled(PLAIN.replace(before, now)))


def test_what_is_caught_counts():
    text = """
    def metric(a, b):
        try:
            return one(a, b)
        except ValueError:
            return 0.0
    """
    other = text.replace("            return one(a, b)\n", "            one(a, b)\n")
    caught = text.replace("ValueError", "TypeError")
    assert len({code(compiled(t)) for t in (text, other, caught)}) == 3


def test_globals_helpers_closures_and_defaults_count():
    text = "def helper(d): return d * scale\ndef metric(a, b): return helper(a - b)"
    found = [code(compiled(text, scale=scale)) for scale in (1.0, 1.0, 2.0, np.ones(2), "a", None)]
    assert found[0] == found[1]
    assert len(set(found)) == 5
    array = np.arange(5000.0)
    other = array.copy()
    other[2500] += 1e-9  # where a printed array shows dots

    def around(value):
        return lambda a, b: (a - b) * value

    assert code(around(array)) == code(around(array.copy())) != code(around(other))
    assert code(functools.partial(metrics.mae, 1)) != code(functools.partial(metrics.mae, 2))
    assert code(functools.partial(metrics.mae, 1)) != code(functools.partial(metrics.mse, 1))


class Quantile:
    def __init__(self, level):
        self.level = level

    def __call__(self, y_true, y_pred):
        return self.loss(y_true - y_pred)

    def loss(self, d):
        return float(np.maximum(self.level * d, (self.level - 1) * d).mean())


class Slots:
    __slots__ = ("level",)
    __call__ = Quantile.loss

    def __init__(self, level):
        self.level = level


@pytest.mark.parametrize("kind", [Quantile, Slots])
def test_callable_objects_are_their_class_and_their_attributes(kind):
    assert code(kind(0.5)) == code(kind(0.5)) != code(kind(0.6))
    assert code(kind(0.5).__call__) != code(kind(0.6).__call__)

    class Other(kind):
        def loss(self, d):
            return 0.0

    assert code(Other(0.5)) != code(kind(0.5))


def test_a_class_that_wraps_a_function_keeps_its_attributes():
    class Scaled:
        def __init__(self, function, factor):
            functools.update_wrapper(self, function)
            self.factor = factor

        def __call__(self, a, b):
            return self.factor * self.__wrapped__(a, b)

    assert code(Scaled(metrics.mae, 1)) == code(Scaled(metrics.mae, 1))
    assert code(Scaled(metrics.mae, 1)) != code(Scaled(metrics.mae, 2))
    assert code(Scaled(metrics.mae, 1)) != code(Scaled(metrics.mse, 1))
    cached = [functools.lru_cache(compiled(PLAIN)) for _ in range(2)]
    assert code(cached[0]) == code(cached[1])


def test_functions_that_call_each_other_come_to_an_end():
    text = """
    def metric(a, b): return a if b == 0 else other(a, b - 1)
    def other(a, b): return metric(b, a) + NUMBER
    """
    found = [code(compiled(text.replace("NUMBER", n))) for n in "112"]
    assert found[0] == found[1] != found[2]


def test_library_functions_are_names_and_versions():
    functions = [
        sklearn.metrics.mean_squared_error, sklearn.metrics.max_error, np.add, np.subtract,
        np.mean, scipy.special.kl_div, math.fsum, len, metrics.rmse, operator.itemgetter(1),
        operator.itemgetter(2), sklearn.metrics.make_scorer(sklearn.metrics.max_error),
    ]  # fmt: skip
    codes = [code(function) for function in functions]
    assert len(set(codes)) == len(codes)
    found = contents_of(sklearn.metrics.max_error, "metric")
    assert found["versions"] == {"sklearn": sklearn.__version__}
    own = contents_of(compiled(PLAIN), "metric")["versions"]
    assert own == {"numpy": np.__version__, "python": ".".join(map(str, sys.version_info[:2]))}


def test_functions_of_modules_that_are_not_installed_are_followed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = []
    for number in "112":
        (tmp_path / "mine_to_follow.py").write_text(f"def f(a, b): return a - {number} * b")
        module = importlib.import_module("mine_to_follow")
        found.append(code(compiled("def metric(a, b): return m.f(a, b)", m=module)))
        with pytest.raises(TypeError, match="hands on the module 'mine_to_follow' as a whole"):
            code(compiled("def metric(a, b): return vars(m)['f'](a, b)", m=module))
        del sys.modules["mine_to_follow"]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (threading.Lock(), "an object of _thread.lock"),
        (np.random.default_rng(0), "a Generator, whose numbers change"),
        (np.random.RandomState(0), "a RandomState, whose numbers change"),
        ((i for i in range(3)), "an object of builtins.generator"),
        (sys.modules[__name__], "hands on the module"),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_what_cannot_be_described_is_refused(value, why):
    with pytest.raises(TypeError, match=rf"^metric=<function .*{why}.*without checkpoint\.$"):
        code(lambda a, b: value)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return eval('a - b')", "calls eval"),
        ("from .other import thing; return thing", "imports 'other' while it runs"),
        ("import surely_not_installed as s; return s", "imports 'surely_not_installed' while"),
    ],
)
def test_code_that_may_refer_to_anything_is_refused(body, why):
    with pytest.raises(TypeError, match=why):
        code(compiled(f"def metric(a, b): {body}"))
    code(compiled("def metric(a, b):\n import scipy.stats\n return scipy.stats.iqr(a - b)"))


PROGRAM = """
import json, functools
import numpy as np
from scipy import stats
from echofold._search.identity import described, contents_of

NAMES = {"alpha", "beta", "gamma", "delta"}
class Kept:
    def __init__(self): self.names, self.table = set(NAMES), {"a": np.eye(3)}
    def __call__(self, a, b): return len(self.names & {"x", "alpha", "y", "z"}) + metric(a, b)
def metric(a, b): return float(np.mean([abs(p - q) for p, q in zip(a, b) if "a" in NAMES]))
values = [metric, Kept(), functools.partial(metric, 3), functools.lru_cache(metric)]
found = [contents_of(value, "metric") for value in values]
found += [described(stats.rv_histogram(np.histogram([1, 2, 4.0]))), described(stats.uniform(0, 1))]
for _ in range(300): metric([1.0], [2.0])  # Python rewrites code that runs often
found.append(contents_of(metric, "metric"))
print(json.dumps(found))
"""


def test_descriptions_are_the_same_in_another_process(capsys):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # The order of a set follows from the seed, of which this process has another.
    environment["PYTHONHASHSEED"] = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    exec(PROGRAM, {"__name__": "__main__"})
    assert json.loads(capsys.readouterr().out) == there
    assert there[0] == there[-1]


def test_descriptions_tell_values_apart():
    W = np.eye(40)
    other = W.copy()
    other[20, 20] = 2  # where a printed array shows dots
    values = [
        None, 1, 1.0, "1", W, other, csr_array(W), csr_array(other), [W, other], [other, W],
        stats.uniform(0, 1), stats.uniform(0, 2), stats.loguniform(0.1, 1), stats.randint(0, 5),
        stats.rv_histogram(np.histogram([1, 2.0])), stats.rv_histogram(np.histogram([1, 9, 9.0])),
        stats.rv_discrete(values=([1, 2], [0.5, 0.5])), stats.rv_discrete(values=([1, 2], [0, 1])),
        stats.multivariate_normal([0, 1]), stats.multivariate_normal([0, 2]), Drawn(1), Drawn(2),
    ]  # fmt: skip
    texts = [json.dumps(described(value)) for value in values]
    assert len(set(texts)) == len(texts)
    assert json.dumps(described(stats.uniform(0, 1))) in texts
    assert json.dumps(described(Drawn(2))) == texts[-1]
    assert " at 0x" not in "".join(texts)
    assert fingerprint(W, None) != fingerprint(None, W) != fingerprint(W.astype(int), None)
    with pytest.raises(TypeError, match=r"space\['leak_rate'\]=.* cannot be used with a checkp"):
        described(Drawn(threading.Lock()), "space['leak_rate']")


class Drawn:
    def __init__(self, value):
        self.value = value

    def rvs(self, random_state=None):
        return self.value

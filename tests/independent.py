"""The library's definitions once more, in plain NumPy, written from its documentation.

Of the library there is nothing here but the weights of fitted models. Sizes are small and nothing
is quick: a split is a list of rows, a readout the solution of its own rows, a closed loop a loop.
"""

from __future__ import annotations

from fractions import Fraction

import jax.numpy as jnp
import kinds
import numpy as np
import precise
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dgejsv

EPS = np.finfo(float).eps


# --- splits -------------------------------------------------------------------------------------


def places(n, k, valid, first, step):
    """Validation intervals: folds, even steps, or steps of a given length."""
    if valid is None:
        size, longer = divmod(n - first, k)
        cuts = [first + i * size + min(i, longer) for i in range(k + 1)]
        return list(zip(cuts[:-1], cuts[1:], strict=True))
    last = n - valid
    if step is not None:
        starts = list(range(first, last + 1, step))[:k]
    elif k == 1:
        starts = [last]
    else:
        size, longer = divmod(last - first, k - 1)
        starts = [first + i * size + min(i, longer) for i in range(k)]
    return [(a, a + valid) for a in starts]


def splits(scheme, options, n, labels=None, groups=None):
    """Rows ``(train, valid)`` of every split."""
    if scheme == "pairs":
        return options
    if scheme == "sklearn":
        return list(options.split(np.zeros((n, 1)), labels, groups))
    if options.get("shuffle"):
        order = np.random.RandomState(options["random_state"]).permutation(n)
        return [(np.setdiff1d(order, v), np.sort(v)) for v in np.array_split(order, options["k"])]
    o = {"k": None, "valid": None, "start": 0, "step": None, "min_train": 0, "gap": 0, **options}
    gap = o.pop("gap")
    o, gap = (
        {name: size if size is None or isinstance(size, int) else int(Fraction(str(size)) * n)
         for name, size in sizes.items()}
        for sizes in (o, dict(enumerate(gap if isinstance(gap, tuple) else (gap, gap))))
    )  # fmt: skip
    if scheme == "LeaveOneOut":
        o.update(k=n)
    if scheme == "SingleSplit":
        o.update(k=1)
    found, rows = [], np.arange(n)
    for a, b in places(n, o["k"], o["valid"], max(o["start"], o["min_train"]), o["step"]):
        before, after = rows[: max(a - gap[0], 0)], rows[b + gap[1] :]
        train = {
            "KFold": np.concatenate([before, after]),
            "LeaveOneOut": np.concatenate([before, after]),
            "WalkForward": before[max(a - o["min_train"], 0) :],
            "Recycle": rows,
        }.get(scheme, before)
        found.append((train, rows[a:b]))
    return found


# --- metrics ------------------------------------------------------------------------------------


def worst(y_true, y_pred):
    """A metric of a user's own."""
    return float(np.abs(np.asarray(y_true) - y_pred).max())


def score(metric, truth, found, whole, labels=None):
    """A metric of one validation set; rows of ``truth`` and ``whole`` without a value are NaN."""
    there = ~np.isnan(truth).any(axis=1)
    t, y = truth[there], found[there]
    if metric in ("error_rate", "accuracy"):
        right = np.mean(y.argmax(axis=1) == labels)
        return right if metric == "accuracy" else 1 - right
    with np.errstate(all="ignore"):
        whole = np.where(np.isnan(whole).any(axis=1, keepdims=True), np.nan, whole)
        if metric.startswith("horizon"):
            spread = np.nanvar(whole, axis=0)
            unit = np.sqrt(spread if metric.endswith("each") else spread.mean())
            lost = ~(np.sqrt(((found - truth) ** 2 / unit**2).mean(axis=1)) <= 0.4) & there
            return float(lost.argmax() if lost.any() else len(lost))
        if not np.isfinite(y).all():
            return -np.inf if metric == "r2" else np.inf
        if metric in ("nrmse", "r2"):
            below = ((t - t.mean(axis=0)) ** 2).sum()
            if (t == t[0]).all():
                below = len(t) * np.nanvar(whole, axis=0).sum()
            part = ((y - t) ** 2).sum() / below
            return np.sqrt(part) if metric == "nrmse" else 1 - part
        size, mse = np.abs(y - t), ((y - t) ** 2).mean()
        return {
            "worst": lambda: worst(t, y),
            "mse": lambda: mse,
            "rmse": lambda: np.sqrt(mse),
            "log_mse": lambda: np.log10(max(mse, np.finfo(float).tiny)),
            "mae": lambda: size.mean(),
            "mape": lambda: (size / np.abs(t)).mean(),
            "smape": lambda: (2 * size / (np.abs(t) + np.abs(y))).mean(),
            "mase": lambda: size.mean() / np.nanmean(np.abs(whole[1:] - whole[:-1])),
        }[metric]()


# --- what becomes of data -----------------------------------------------------------------------


def fill(values, every=None):
    """The last known value of the same time of the season, else the last, else the first."""
    found = values.copy()
    for row, column in np.argwhere(np.isnan(values)):
        known = np.flatnonzero(~np.isnan(values[:, column]))
        earlier = known[known < row]
        alike = earlier[(row - earlier) % every == 0] if every else earlier[:0]
        source = alike if len(alike) else earlier if len(earlier) else known[:1]
        found[row, column] = values[source[-1], column]
    return found


def scaling(values, scale):
    """Centre and unit of columns; a constant column keeps its unit."""
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    if scale is None:
        return 0 * low, 1 + 0 * low
    if scale == "minmax":
        center, unit = low, high - low
    else:
        center, unit = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    return np.where(low == high, low, center), np.where(low == high, 1.0, unit)


def differences(z, lags):
    """Differences one lag after the other."""
    for lag in lags:
        z = z[lag:] - z[:-lag]
    return z


def waves(season, harmonics, first, rows):
    """Sines and cosines of seasons, from row ``first`` on."""
    t, columns = np.arange(first, first + rows)[:, None], [np.zeros((rows, 0))]
    for length in () if season is None else season if isinstance(season, tuple) else (season,):
        k = np.arange(1, min(harmonics, int(length // 2)) + 1)
        angle = 2 * np.pi * (t * k / length % 1)
        columns += [np.sin(angle[:, 2 * k < length]), np.cos(angle)]
    return np.hstack(columns)


# --- networks -----------------------------------------------------------------------------------


def crossed(u, x):
    """A view of a user's own."""
    return jnp.concatenate([x, u[:1] * x[:2], jnp.abs(x[:1])])


def view(readout, u, x):
    """What the readout sees beside its one."""
    if readout is crossed:
        return np.concatenate([x, u[:1] * x[:2], np.abs(x[:1])])
    both = np.concatenate([u, x])
    if readout.startswith("polynomial"):
        more = [kinds.products(both, degree) for degree in range(2, int(readout[-1]) + 1)]
        return np.concatenate([both, *more])
    parts = {"inputs": u, "states": x, "squares": x**2}
    return np.concatenate([parts[part] for part in readout.split("+")])


class Net:
    """A reservoir with the weights of a fitted model, and what its readout sees."""

    def __init__(self, model):
        self.plain, self.shaken = kinds.PLAIN[type(model.reservoir_)](model), None
        self.readout, self.seed = model.readout, model.seed_
        self.noise, self.drawn = getattr(model.reservoir_, "noise", 0.0), {}

    def seen(self, u, x):
        """A row of features."""
        return self.near(view(self.readout, u, self.plain.look(x, u)))

    def step(self, x, u):
        """The next state."""
        x = self.plain.step(x, u)
        return x if isinstance(x, list) else self.near(x)

    def near(self, values):
        """Values, off by one rounding if the net is ``shaken`` by a generator."""
        if self.shaken is None:
            return values
        return values * (1 + EPS * (2 * self.shaken.integers(2, size=values.shape) - 1))

    def drive(self, inputs, purpose=None, x=None):
        """States; with noise, which is that of the first inputs that came for a ``purpose``."""
        x, states = self.plain.rest if x is None else x, []
        if purpose is not None and self.noise and purpose not in self.drawn:
            draw = kinds.noise(self.seed, np.arange(len(inputs)), inputs, len(x))
            self.drawn[purpose] = self.noise * draw
        for n, u in enumerate(inputs):
            x = self.step(x, u)
            if purpose is not None and self.noise:
                x = x + self.drawn[purpose][n]
            states.append(x)
        return states

    def features(self, inputs, states):
        """Rows of features."""
        return np.array([self.seen(u, x) for u, x in zip(inputs, states, strict=True)])


def solve(X, Y, weights, path, penalised, limit):
    """Ridge readouts; at 0 of least norm, without singular values up to ``limit`` roundings.

    With another limit than 1 rows come in another order, which says how much their own rounding is.
    """
    rows = np.flatnonzero(weights > 0)[:: 1 if limit == 1 else -1]
    X, Y, w = X[rows], Y[rows], weights[rows, None]
    given = X[None], Y[None], w[None, :, 0]
    x, y = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if penalised:
        X = np.hstack([np.ones((len(X), 1)), X])
    else:
        # From the first row on, so that a constant column becomes zero and not rounding.
        x, y = (part[0] + (w * (part - part[0])).sum(axis=0) / w.sum() for part in (X, Y))
        X, Y = X - x, Y - y
    A, B, columns, found = np.sqrt(w) * X, np.sqrt(w) * Y, X.shape[1], []
    size = np.sqrt((A**2).sum(axis=0))
    alike = size.max() <= 100 * size[size > 0].min(initial=np.inf)
    unit = np.linalg.svd(A / np.where(size > 0, size, 1.0), compute_uv=False)
    U, s, Vt = (np.linalg.svd if alike else rotated)(A, full_matrices=False)
    for beta in path:
        if beta and len(unit) == columns and unit[-1] > 1e-9:  # right for columns in any units
            Q, R = np.linalg.qr(np.vstack([np.sqrt(beta) * np.eye(columns), A]))
            W = solve_triangular(R, Q[columns:].T @ B)
        elif beta and not alike and len(A) >= columns:  # collinear ones: only more digits help
            found.append(precise.readouts(*given, [beta], penalised)[0, 0].astype(float))
            continue
        else:  # without rounding in directions that no row has
            keep = s > limit * (1 + columns) * EPS * s[0] * (1e-6 if beta and not alike else 1)
            W = Vt[keep].T @ ((s / (s**2 + beta))[keep, None] * (U[:, keep].T @ B))
        found.append(W if penalised else np.vstack([y - x @ W, W]))
    return np.array(found)


def rotated(A, full_matrices=False):
    """Singular values and vectors by rotations, which spoil no column that is small."""
    rows = np.vstack([A, np.zeros((max(0, A.shape[1] - len(A)), A.shape[1]))])
    s, U, V, work, *_ = dgejsv(rows, joba=2)
    return U[: len(A), : len(s)], s * (work[0] / work[1]), V.T


# --- tasks --------------------------------------------------------------------------------------


class Task:
    """Rows to split: features, scaled targets, weights; ``truth`` in original units."""

    labels = None

    def fit(self, rows, path, limit=1.0):
        """Readouts ``(ridge, 1 + features, outputs)`` of some rows."""
        penalised = self.p["penalize_bias"]
        return solve(self.F[rows], self.Y[rows], self.weights[rows], path, penalised, limit)

    def clipped(self, values):
        """Values inside of the output range."""
        limits = self.p.get("output_range")
        return values if limits is None else np.clip(values, *limits)

    def outputs(self, W, rows):
        """Values that a readout gives for rows, in an open loop."""
        return self.clipped(self.center + self.unit * (W[0] + self.F[rows] @ W[1:]))


class Series(Task):
    """A forecaster's data: pairs of successive values, and closed loops between them.

    Row ``i`` is the pair ``first + i``, its target the value ``first + 1 + i``. ``like`` is another
    series whose scaling is taken over, in which case nothing after the last value is set apart.
    """

    def __init__(self, p, y, X=None, weight=None, first=None, like=None):
        self.p, self.lags, self.lost = p, p["difference"], sum(p["difference"])
        season = p["season"][0] if isinstance(p["season"], tuple) else p["season"]
        longer = [lag for lag in self.lags if lag > 1]
        self.every = round(season) if season else longer[0] if longer else None
        whole = ~np.isnan(y).any(axis=1)
        self.rows = len(y) if like else int(np.flatnonzero(whole)[-1]) + 1
        self.y, self.scaled_X = y, X is not None and scaling(X, p["scale"])
        spread = differences(self.levels(y[: self.rows]), self.lags)
        self.center, self.unit = scaling(spread, p["scale"])
        if like:
            self.center, self.unit, self.scaled_X = like.center, like.unit, like.scaled_X
        self.z = self.levels(fill(y[: self.rows], self.every))
        self.w = (differences(self.z, self.lags) - self.center) / self.unit
        self.known = self.known_of(X, 0, len(y))
        self.inputs = np.hstack([self.w[:-1], self.known[self.lost + 1 : self.rows]])
        pairs, washout = self.rows - 1, p["washout"]
        self.first = max(min(200, pairs // 10) if washout == "auto" else washout, self.lost)
        self.first = self.first if first is None else first
        at = np.arange(self.first + 1, self.rows)
        self.truth = np.where(whole[:, None], y, np.nan)[at]
        self.Y = self.w[at - self.lost]
        learned = differences(self.levels(np.where(whole[:, None], y, np.nan)), self.lags)
        trained = ~np.isnan(learned).any(axis=1)[at - self.lost]
        self.weights = trained * (np.ones(len(y)) if weight is None else weight)[at]

    def levels(self, y):
        """Values, or their logarithms."""
        return np.log(y) if self.p["log"] else y

    def known_of(self, X, first, rows):
        """Known inputs of rows from ``first`` on, scaled, and seasons."""
        parts = [waves(self.p["season"], self.p["harmonics"], first, rows)]
        if X is not None:
            parts.insert(0, (fill(X, self.every) - self.scaled_X[0]) / self.scaled_X[1])
        return np.hstack(parts)

    def driven(self, net, purpose="drive"):
        """The same with the states of a network: those to learn from, and those without noise."""
        self.net, self.states = net, net.drive(self.inputs, purpose)
        self.silent = net.drive(self.inputs) if net.noise else self.states
        self.F = net.features(self.inputs, self.states)[self.first - self.lost :]
        return self

    def loop(self, W, u, x, z, known, steps):
        """Values of a closed loop that begins with input ``u`` and state ``x``, after levels z."""
        z, values = list(z[len(z) - self.lost :]), []
        with np.errstate(all="ignore"):
            for n in range(steps):
                level = self.center + self.unit * (W[0] + self.net.seen(u, x) @ W[1:])
                for k in range(len(self.lags) - 1, -1, -1):
                    level = level + differences(np.array(z), self.lags[:k])[-self.lags[k]]
                value = self.clipped(np.exp(level) if self.p["log"] else level)
                z.append(self.levels(value) if self.p["output_range"] else level)
                values.append(value)
                if n + 1 < steps:
                    u = np.concatenate([self.scaled_last(z), known[n]])
                    x = self.net.step(x, u)
        return np.array(values)

    def scaled_last(self, z):
        """The last of some levels as the network is fed it."""
        last = differences(np.array(z[-self.lost - 1 :]), self.lags)[-1]
        return (last - self.center) / self.unit

    def run(self, W, row, steps, silent=False):
        """Values of a closed loop whose first target is that of a row."""
        pair = self.first + row
        at, states = pair - self.lost, self.silent if silent else self.states
        known = self.known[pair + 2 :]
        return self.loop(W, self.inputs[at], states[at], self.z[: pair + 1], known, steps)

    def validated(self, W, valid):
        """Values that a readout gives for validation rows."""
        return self.run(W, valid[0], len(valid))

    def end(self, W):
        """Where forecasts begin: after rows at the end that have no value, forecasts in place."""
        last = self.silent[-1], self.w[-1], list(self.z)
        return self.moved(W, last, self.y[self.rows :], self.known[self.rows :])

    def ahead(self, W, last, known):
        """Forecast from an end."""
        x, w, z = last
        u = np.concatenate([w, known[0]])
        return self.loop(W, u, self.net.step(x, u), z, known[1:], len(known))

    def moved(self, W, last, y, known):
        """The end after more rows, forecasts in place of what is missing."""
        for row in range(len(y)):
            value = y[row]
            if np.isnan(value).any():
                value = np.where(
                    np.isnan(value), self.ahead(W, last, known[row : row + 1])[0], value
                )
            x, w, z = last
            x, z = self.net.step(x, np.concatenate([w, known[row]])), [*z, self.levels(value)]
            last = x, self.scaled_last(z), z
        return last


class Regression(Task):
    """A regressor's data."""

    def __init__(self, p, X, y, weight=None):
        self.p, self.scaled_X = p, scaling(X, p["scale"])
        self.center, self.unit = scaling(y, p["scale"])
        self.inputs, whole = self.scaled(X), ~np.isnan(y).any(axis=1)
        first = min(200, len(X) // 10) if p["washout"] == "auto" else p["washout"]
        self.first, self.truth = first, np.where(whole[:, None], y, np.nan)[first:]
        self.Y = (fill(y)[first:] - self.center) / self.unit
        self.weights = (whole * (np.ones(len(y)) if weight is None else weight))[first:]

    def scaled(self, X):
        """Inputs as the network is fed them."""
        return (fill(X) - self.scaled_X[0]) / self.scaled_X[1]

    def driven(self, net):
        """The same with the states of a network, and the state without noise at the end."""
        self.net, states = net, net.drive(self.inputs, "drive")
        self.F = net.features(self.inputs, states)[self.first :]
        self.last = net.drive(self.inputs)[-1] if net.noise else states[-1]
        return self

    validated = Task.outputs

    def predicted(self, W, X, start):
        """Predictions of new inputs."""
        inputs = self.scaled(X)
        states = self.net.drive(inputs, x=self.last if start == "last" else None)
        outputs = W[0] + self.net.features(inputs, states) @ W[1:]
        return self.clipped(self.center + self.unit * outputs)


class Classification(Task):
    """A classifier's data."""

    def __init__(self, p, sequences, labels):
        self.p, self.sequences = p, sequences
        self.scaled_X = scaling(np.concatenate(sequences), p["scale"])
        self.labels = np.unique(labels, return_inverse=True)[1]
        self.Y = self.truth = np.eye(self.labels.max() + 1)[self.labels]
        self.center, self.unit, self.weights = 0.0, 1.0, np.ones(len(labels))

    def driven(self, net):
        """The same with the features of a network."""
        self.net = net
        self.F = np.array([self.row(s, ("sequence", i)) for i, s in enumerate(self.sequences)])
        return self

    def row(self, sequence, purpose=None):
        """Features of a sequence: inputs of all positions, then what is seen of their states."""
        inputs = (sequence - self.scaled_X[0]) / self.scaled_X[1]
        seen = self.net.features(inputs, self.net.drive(inputs, purpose))
        which, length = self.p["states"], len(inputs)
        if which == "mean":
            return seen.mean(axis=0)
        count = 1 if which == "last" else which
        at = [-(-i * length // count) - 1 for i in range(1, count + 1)]
        beside = self.net.readout is not crossed and not self.net.readout.startswith("states")
        width = inputs.shape[1] if beside else 0
        return np.concatenate([seen[at, :width].ravel(), seen[at, width:].ravel()])

    validated = Task.outputs

    def predicted(self, W, sequences):
        """Outputs for new sequences."""
        return W[0] + np.array([self.row(s) for s in sequences]) @ W[1:]


class Validation:
    """Readouts and values of every split and ridge, and what follows from them."""

    def __init__(self, task, rows, path, limit=1.0):
        there = ~np.isnan(task.truth).any(axis=1)
        self.task, self.path, self.limit = task, path, limit
        self.rows = [(train, valid) for train, valid in rows if there[valid].any()]
        fit = {}  # splits may share their training rows
        for train, _ in self.rows:
            if train.tobytes() not in fit:
                fit[train.tobytes()] = task.fit(train, path, limit)
        self.W = np.array([fit[train.tobytes()] for train, _ in self.rows])
        self.values = [
            [task.validated(W, valid) for W in of_path]
            for of_path, (_, valid) in zip(self.W, self.rows, strict=True)
        ]

    def scores(self, metrics):
        """Scores ``(metrics, splits, ridge)``."""
        task, labels = self.task, self.task.labels
        return np.array([
            [
                [
                    score(metric, task.truth[valid], values, task.truth,
                          None if labels is None else labels[valid])
                    for values in of_path
                ]
                for of_path, (_, valid) in zip(self.values, self.rows, strict=True)
            ]
            for metric in metrics
        ])  # fmt: skip

    def final(self, how, place):
        """The readout of a final model, for the ridge at a place of the path."""
        if how == "retrain":
            return self.task.fit(slice(None), self.path[[place]], self.limit)[0]
        W, error = self.W[:, place], self.scores(["rmse"])[0, :, place]
        if how == "best":
            return W[error.argmin()]
        share = np.ones(len(W)) if how == "average" or not np.isfinite(error).any() else error**-2
        return np.tensordot(share / share.sum(), W, axes=1)

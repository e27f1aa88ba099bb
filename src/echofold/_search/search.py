"""ESNSearchCV: a whole grid in one pass, the winner, and its final models."""

from __future__ import annotations

import os
import time
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
import pandas as pd
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from echofold._data.arguments import (
    NamedParameters,
    check_count,
    check_fit_params,
    check_network,
    check_one_of,
    is_network,
    seed_of,
)
from echofold._data.problem import Task
from echofold._data.scikit_learn import BaseEstimator, SharesFunctions, copied, routed, router_of
from echofold._folds.choose import check_algorithm
from echofold._machine.progress import one_piece, progress
from echofold._models.base import ESN, whole_or_not_at_all
from echofold._models.forecast import Array, Forecast, GivenY, KindOfY, Level, Numbers
from echofold._search import tables
from echofold._search.candidates import STRATEGIES, check_space, split_ridge, strategy_of
from echofold._search.checkpoint import Checkpoint
from echofold._search.final_models import (
    Winners,
    describe_single,
    foresee_winner,
    networks_of,
)
from echofold._search.identity import identity_of
from echofold._search.runner import Reader, Runner, values_of
from echofold._search.selection import FINALS, Winner, check_final, describe_winner, scheme_in
from echofold._search.spaces import automatic_space, with_pools
from echofold._validation.plan import budget
from echofold._validation.record import datasets, warn_once
from echofold._validation.settings import (
    Settings,
    check_metrics,
    check_pool,
    check_prunable,
    describe_data,
)
from echofold._validation.verify import check_verifiable
from echofold.metrics._metric import OF_GROWING_SUMS

if TYPE_CHECKING:
    import xarray as xr

    from echofold._data.long_frames import LongFrame
    from echofold._models.forecast import WithDefault
    from echofold._models.forecaster import ESNForecaster

    Estimator = WithDefault("Estimator", bound=ESN, default=Any)
else:
    Estimator = TypeVar("Estimator")
RIDGE_PER = ("all", "split", "output")


class ESNSearchCV(NamedParameters, SharesFunctions, BaseEstimator, Generic[Estimator]):
    """Search hyper-parameters of an echo state network by cross-validation.

    Candidates that share a random draw run through the data together, the whole ridge path comes
    from one factorisation, and closed-loop forecasts of all advance in lockstep.

    Parameters
    ----------
    estimator : ESNForecaster, ESNRegressor or ESNClassifier
        Parameters that are not in ``space`` are taken from it.
    space : "auto", dict, or list of dicts
        Parameter names to lists of values, or to ``scipy.stats`` distributions for
        ``strategy="random"``. "auto" is what suits the task and the data: networks, and for a
        forecaster representations by the length and the seasons of the series, and of several how
        much they share (``pool``); what was set on the estimator stays so, and ``space_`` tells.
        ``ridge`` is always a list: the path searched inside candidates. With several values of
        ``washout``, all are scored on the rows after the longest. ``random_state`` takes integers,
        and None for the seed of the search.
    cv : scheme, splitter, int, or dict of these, optional
        By default ten folds, ``KFold(10)``; those of whole sequences are shuffled, for a classifier
        stratified too, and those of ``groups`` keep them together. An integer is a number of such
        folds. Reservoirs run once for all schemes of a dict; ``results_`` is then a dict, too, and
        ``best_*`` refer to the first.
    metric : str, callable or list of these
        The first decides, and is minimised; "accuracy", "r2", `metrics.horizon` and functions with
        an attribute ``higher_is_better`` that is true are maximised. Rows without a target (NaN) do
        not count, in any of them.
    final : {"retrain", "average", "best", "weighted", "ensemble"}
        How ``best_estimator_`` is made of the winner.
    ridge_per : {"all", "split", "output"}
        What takes a ridge of its own: nothing; every split its best; or, for regressors and
        classifiers, every output of the winner the one at which its squared error is lowest, in the
        mean over splits. Then candidates are compared with one ridge for all outputs, and
        ``best_score_`` is the winner's with its own.
    n_draws : int
        Random initialisations of every candidate: seeds ``random_state``, ``random_state + 1``, …
    select : {"mean", "draw"}
        Select by the mean over draws, or the best candidate of the best draw.
    algorithm : {"auto", "naive", "small_k", "large_k"}
        How readouts of splits are computed; all give the same.
    strategy : {"grid", "random", "halving", "optuna"}
        All of the grid; ``n_iter`` random candidates; few splits first and the better half on;
        or candidates proposed by Optuna.
    sampler : sampler of Optuna, optional
        Who proposes candidates for "optuna", such as ``GPSampler(seed=0)`` of
        ``optuna.samplers``; by default its tree-structured Parzen estimator, in batches that
        share the work.
    n_iter : int, optional
        Number of candidates for "random" and "optuna" (and "halving" of random ones).
    prune : bool
        Drop candidates of a forecast as soon as they cannot win. The winner and its scores stay the
        same; those of dropped ones are the best they could have reached, marked in ``pruned``.
    memory : None, number of bytes, str such as "2GB", or {"states", "pieces", "fold", "frugal"}
        Memory to use, half of what is free by default.
    random_state : int, RandomState, Generator or None
        Seed of the draws and of random candidates; the estimator's by default.
    n_jobs : int, optional
        Worker threads.
    executor : concurrent.futures.Executor, optional
        Who carries out blocks of candidates instead, such as Dask's ``client.get_executor()``. A
        pool of processes must spawn them. ``sklearn.base.clone`` passes it on; other copies, and
        pickles, have None in its place.
    checkpoint : path, optional
        Directory for finished blocks: the same search started again goes on from them. Functions
        given as ``metric`` are compared by their code and what it refers to; one that holds, say, a
        generator of random numbers is refused.
    progress : {"auto", True, False}
        A bar in a terminal or notebook, or always, or never. Long work on one candidate tells how
        many rows were driven.
    verify : bool
        Whether in every block some splits of one candidate are refitted plainly; results that
        differ by more than rounding explains are an error. In single precision, all candidates are
        also validated in double, to say whether the choice hangs on it; the best alone otherwise.

    Attributes
    ----------
    results_ : xarray.Dataset, or a dict of them
        Scores over ``(draw, candidate, split, ridge)``.
    best_params_ : dict
    best_score_ : float
    best_estimator_ : estimator
        The winner, fitted.
    series_scores_ : xarray.Dataset
        Of several series in one model: scores of the winner over ``(split, series)``.
    evaluation_ : xarray.Dataset or None
        What `evaluate` found, if it was called with this search.

    Examples
    --------
    >>> import numpy as np
    >>> from echofold import ESNForecaster, ESNSearchCV, KFold
    >>> y = np.sin(np.arange(400) / 5) + 0.1 * np.sin(np.arange(400))
    >>> search = ESNSearchCV(
    ...     ESNForecaster(30, random_state=0),
    ...     {"leak_rate": [0.3, 1.0], "spectral_radius": [0.5, 1.0], "ridge": [1e-8, 1e-2]},
    ...     cv=KFold(5),
    ... ).fit(y)
    >>> search.best_params_
    {'leak_rate': 0.3, 'spectral_radius': 0.5, 'ridge': 1e-08}
    >>> search.forecast(3).shape
    (3,)
    """

    best_params_: dict[str, Any]
    best_score_: float
    best_index_: int
    estimator: Estimator
    best_estimator_: Estimator
    candidates_: list[dict[str, Any]]
    results_: Any  # a Dataset, or one for each scheme of a dict
    evaluation_: xr.Dataset | None
    space_: Any
    seed_: int

    def __init__(
        self, estimator: Estimator, space: Any = "auto", *, cv: Any = None, metric: Any = "nrmse",
        final: str = "retrain", ridge_per: str = "all", n_draws: int = 1, select: str = "mean",
        algorithm: str = "auto", strategy: str = "grid", n_iter: int | None = None,
        prune: bool = False, memory: float | str | None = None, random_state: Any = None,
        n_jobs: int | None = None, executor: Any = None,
        checkpoint: str | os.PathLike[str] | None = None, progress: bool | str = "auto",
        verify: bool = False, sampler: Any = None,
    ) -> None:  # fmt: skip
        self._keep(vars())

    @property
    def _task(self) -> Task:
        """The task of the estimator, once fitted that of the data."""
        return getattr(self, "_given_task", self.estimator._task)

    __metadata_request__fit = {"groups": UNUSED}  # it is for splitters

    def get_metadata_routing(self):
        """What the estimator and the splitters ask for, in the form of scikit-learn."""
        return router_of(self)

    def __getstate__(self):
        return {**super().__getstate__(), "executor": None}  # threads and sockets do not travel

    def __sklearn_clone__(self):
        params = self.get_params(deep=False)
        copies = {k: v if k == "executor" else copied(v) for k, v in params.items()}
        return type(self)(**copies)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if is_network(self.estimator):  # a search scores and predicts as what it searches does
            own = get_tags(self.estimator)
            tags.estimator_type, tags.target_tags = own.estimator_type, own.target_tags
            tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        return tags

    @overload
    def fit(
        self: ESNSearchCV[ESNForecaster[Any]], y: pd.Series[Any], X: Any = None,
        sample_weight: Any = None, *, groups: Any = None,
    ) -> ESNSearchCV[ESNForecaster[pd.Series[float]]]: ...  # fmt: skip

    @overload
    def fit(
        self: ESNSearchCV[ESNForecaster[Any]], y: Numbers, X: Any = None,
        sample_weight: Any = None, *, groups: Any = None,
    ) -> ESNSearchCV[ESNForecaster[Array]]: ...  # fmt: skip

    @overload
    def fit(
        self: ESNSearchCV[ESNForecaster[Any]], y: LongFrame, X: Any = None,
        sample_weight: Any = None, *, groups: Any = None,
    ) -> ESNSearchCV[ESNForecaster[Any]]: ...  # fmt: skip

    @overload
    def fit(
        self: ESNSearchCV[ESNForecaster[Any]], y: GivenY, X: Any = None,
        sample_weight: Any = None, *, groups: Any = None,
    ) -> ESNSearchCV[ESNForecaster[GivenY]]: ...  # fmt: skip

    @overload
    def fit(self, *data: Any, groups: Any = None, **fit_params: Any) -> Self: ...

    @whole_or_not_at_all
    def fit(self, *data: Any, groups: Any = None, **fit_params: Any) -> Any:
        """Search, select and make the final model.

        Parameters
        ----------
        *data, **fit_params
            What ``estimator.fit`` takes: arrays, tables, or long series that are read in blocks.
            With scikit-learn's metadata routing switched on, weights must be asked for by the
            estimator's ``set_fit_request``.
        groups : array, optional
            Handed to splitters that ask for groups.

        Returns
        -------
        self
        """
        began = time.perf_counter()
        check_network(self.estimator)
        groups, fit_params = routed(self, groups, fit_params)
        check_fit_params(ESNSearchCV.fit, self.estimator, fit_params)
        self.space_ = self.space
        task = task_of(self.estimator, data, fit_params)
        if isinstance(self.space, str) and self.space == "auto":
            self.space_ = automatic_space(self.estimator, data, fit_params, task)
        spaces, settings = check_arguments(self, self.space_, task)
        names = {name for one in spaces for name in one}
        reader = Reader(
            self.estimator._searched(names, task), data, fit_params, groups, self.cv,
            settings.metrics, spaces,
        )  # fmt: skip
        problem, schemes = reader.problem({})
        self._given_task = problem.task
        if self.space_ is not self.space and may_pool(self, problem, schemes, settings):
            self.space_ = with_pools(self.space_, self.estimator)
            spaces, settings = check_arguments(self, self.space_, task)
        check_strategy(self, problem, schemes, settings)
        if problem.each and problem.task.fed_back:
            check_final(self.final, values_of("pool", spaces, self.estimator.pool))
        self.seed_, checkpoint = self._begin(spaces, settings, problem, schemes)
        count, carry_out = strategy_of(self, spaces, self.seed_, next(iter(schemes.values())))
        total = count * self.n_draws
        with progress(self.progress, total, "searching") as bar:
            runner = Runner(
                reader, settings, tuple(self.seed_ + draw for draw in range(self.n_draws)),
                together=bool(self.prune) and self.select == "mean", prune=bool(self.prune),
                n_jobs=self.n_jobs, executor=self.executor, checkpoint=checkpoint, progress=bar,
                foreseen=partial(foresee_winner, reader, next(iter(schemes))),
                total=total, finals=partial(networks_of, self.final, self.n_draws, total),
            )  # fmt: skip
            try:
                self.candidates_, record = carry_out(runner)
            except KeyboardInterrupt:
                raise KeyboardInterrupt(self._interrupted(runner, total)) from None
        seconds = time.perf_counter() - began
        attrs = {"strategy": self.strategy, "seed": self.seed_, "seconds": seconds}
        self._reader, self._schemes = reader, schemes
        self._results = datasets(record, self.candidates_, schemes, settings, attrs)
        self.results_ = self._results if isinstance(self.cv, dict) else self._results["cv"]
        self.evaluation_ = None
        self._winners = Winners(
            reader, self.candidates_, self._results, self.seed_, self.select == "draw",
            self.ridge_per,
        )  # fmt: skip
        first, dataset = next(iter(self._results.items()))
        winner = self._winner(first)
        notes = describe_data(problem, schemes) + describe_winner(winner, dataset)
        notes += describe_single(runner, self._winners, first, bool(self.verify))
        warn_once(self._results.values(), settings, notes)
        self.best_index_ = winner.candidate
        with one_piece("making the final model", self.progress):
            self.best_estimator_ = self.finalize(self.final)
            self.best_score_ = self._winners.best_score(first)
        ridge = self.best_estimator_.ridge
        self.best_params_ = {**self.candidates_[winner.candidate], "ridge": ridge}
        return self

    def _begin(self, spaces, settings: Settings, problem, schemes) -> tuple[int, Checkpoint | None]:
        """The seed of the first draw, and the checkpoint; one begun before gives the seed."""
        given = self.estimator.random_state if self.random_state is None else self.random_state
        seed = seed_of(given)
        if self.checkpoint is None:
            return seed, None
        known = None if given is None else seed
        identity = identity_of(self, spaces, settings, problem, schemes, known)
        checkpoint = Checkpoint(self.checkpoint, identity, seed)
        return checkpoint.identity["seed"], checkpoint

    def _interrupted(self, runner: Runner, total: int) -> str:
        done = f"interrupted after {runner.done} of {total} evaluations"
        if self.checkpoint is None:
            return f"{done}; give checkpoint=... to keep finished blocks on disk and go on later."
        return f"{done}; they are kept in {str(self.checkpoint)!r}. Run it again to go on."

    def finalize(
        self, final: str, scheme: str | None = None, *, draw: int | None = None,
        correct_ridge: bool = False, ridge_per: str | None = None,
    ) -> Estimator:  # fmt: skip
        """Make a final model of the winner, without searching again.

        Parameters
        ----------
        final : {"retrain", "average", "best", "weighted", "ensemble"}
            Retrain on all data; average the readouts of the splits; take that of the split with the
            lowest RMSE; average weighted by inverse squared error; or, for forecasters, retrain the
            best candidates of each representation with every draw, and combine their forecasts.
        scheme : str, optional
            Name of the scheme to select by when ``cv`` is a dict; the first by default.
        draw : int, optional
            Select within this draw and use its weights. By default the winner over all draws,
            with the weights of the draw where it did best.
        correct_ridge : bool
            Whether "retrain" raises the ridge in proportion to the longer training set.
        ridge_per : {"all", "split"}, optional
            Whether every split takes its own best ridge; as the search was told by default.

        Returns
        -------
        estimator
            Fitted; forecasters know the residuals of their validation, for prediction intervals.
        """
        check_is_fitted(self, "results_")
        check_one_of("final", final, FINALS)
        scheme = scheme_in(self._results, scheme)
        if draw is not None and not 0 <= draw < self.n_draws:
            raise ValueError(f"draw={draw!r}: this search has draws 0 to {self.n_draws - 1}.")
        if draw is not None and self.prune and self.select == "mean" and self.n_draws > 1:
            raise ValueError(
                f"draw={draw!r}: prune=True dropped candidates by their mean over draws, so the "
                "best one of a single draw may be missing. Use select='draw' or prune=False."
            )
        panel = bool(self._reader.problem({})[0].names)
        check_ensemble(self, final, draw, panel)
        per = self.ridge_per if ridge_per is None else ridge_per
        check_one_of("ridge_per", per, RIDGE_PER)
        if per != self.ridge_per and "output" in (per, self.ridge_per):
            raise ValueError(
                f"ridge_per={ridge_per!r}: this search has ridge_per={self.ridge_per!r}, and a "
                "ridge for each output is found by the search itself. Search with the other."
            )
        if per == "split" and self.prune:
            raise ValueError(
                f"ridge_per={ridge_per!r}: prune=True dropped ridge values that single splits may "
                "prefer. Search with prune=False."
            )
        return replace(self._winners, ridge_per=per).model(final, scheme, draw, correct_ridge)

    def _winner(self, scheme: str) -> Winner:
        """The winner by a scheme."""
        return self._winners.winner(scheme)

    def to_frame(self, scheme: str | None = None) -> pd.DataFrame:
        """Results as a pandas DataFrame: a row for every candidate and ridge, best first."""
        check_is_fitted(self, "results_")
        return tables.frame(self._results[scheme_in(self._results, scheme)], self.candidates_)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Results of the first scheme in scikit-learn's form (scores negated: higher is better)."""
        check_is_fitted(self, "results_")
        return tables.scikit_learn_form(next(iter(self._results.values())), self.candidates_)

    @property
    def series_scores_(self) -> xr.Dataset:
        """Scores of the winner over ``(split, series)``, by the first scheme.

        Of several series in one model; NaN where a series was not validated. A split's score in
        ``results_`` is the mean over series.
        """
        import xarray as xr

        check_is_fitted(self, "results_")
        problem = self._reader.problem({})[0]
        if not problem.each:
            raise AttributeError(
                "series_scores_ are those of several series in one model, and this search has one: "
                "see results_."
            )
        scores = self._winners.series_scores(next(iter(self._results)))
        variables = {name: (("split", "series"), each) for name, each in scores.items()}
        names = np.empty(len(problem.names), dtype=object)
        names[:] = problem.names
        return xr.Dataset(variables, {"series": names})

    def summary(self) -> str:
        """What was searched, who won and how honest its error is, in a few lines of text."""
        check_is_fitted(self, "results_")
        return tables.summary(self)

    @overload
    def forecast(
        self: ESNSearchCV[ESNForecaster[KindOfY]], horizon: int, X: Any = None, level: None = None
    ) -> KindOfY: ...

    @overload
    def forecast(
        self: ESNSearchCV[ESNForecaster[KindOfY]], horizon: int, X: Any = None, *, level: Level
    ) -> Forecast[KindOfY]: ...

    @overload
    def forecast(self, horizon: int, X: Any = None, level: None = None, *, y: GivenY) -> GivenY: ...

    def forecast(
        self, horizon: int, X: Any = None, level: Level | None = None, y: Any = None
    ) -> Any:
        """Forecast with ``best_estimator_``, of which an ensemble takes no ``y``."""
        check_is_fitted(self, "best_estimator_")
        other = {} if y is None else {"y": y}
        return self.best_estimator_.forecast(horizon, X=X, level=level, **other)

    @available_if(lambda self: hasattr(self.estimator, "update"))
    @whole_or_not_at_all
    def update(self, y: Any, X: Any = None) -> Self:
        """Move ``best_estimator_``, a forecaster, on over new data, as its own method does.

        Results of the search, and errors that intervals are made of, stay those of `fit`.
        """
        check_is_fitted(self, "best_estimator_")
        self.best_estimator_ = copy(self.best_estimator_).update(y, X)
        return self

    def predict(self, X: Any, **options: Any) -> np.ndarray:
        """Predict with ``best_estimator_``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X, **options)

    def states(self, *data: Any, **options: Any) -> Any:
        """States of ``best_estimator_`` along data, as its own method gives them."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.states(*data, **options)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, sequences: Any) -> np.ndarray:
        """Probabilities of ``best_estimator_``, a classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(sequences)

    @property
    def classes_(self) -> np.ndarray:
        """The labels of ``best_estimator_``, a classifier, sorted."""
        return self.best_estimator_.classes_

    def decision_function(self, sequences: Any) -> np.ndarray:
        """Outputs of ``best_estimator_``, a classifier."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(sequences)

    def score(self, X: Any, y: Any) -> float:
        """Score of ``best_estimator_``."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.score(X, y)

    def report(self, path: str | os.PathLike[str], about: Any = None) -> Path:
        """Write a standalone HTML report to ``path``; ``about`` is a `report.About`."""
        check_is_fitted(self, "results_")
        if self._reader.problem({})[0].names:
            raise ValueError(
                "a report is about one series, and this search has several in one model: see "
                "series_scores_ and to_frame()."
            )
        from echofold.report import write_report

        return write_report(self, path, about)


def task_of(estimator: Any, data: tuple, named: dict[str, Any]) -> Task:
    """The task that an estimator has on the arguments of `fit`."""
    first = [*data[:2], *(named.get(name) for name in estimator._task.data[len(data) : 2])]
    return estimator._task_on(*first)


def check_arguments(search: Any, space: Any, task: Task) -> tuple[list[dict[str, Any]], Settings]:
    """Check the arguments that do not depend on data but by their task."""
    own = search.estimator.get_params(deep=False)
    names = list(search.estimator._searched(set(), task).get_params())
    own_ridge, path = search.estimator._own_ridge(task), isinstance(own["ridge"], str)
    spaces, ridge = split_ridge(check_space(space, names), own_ridge, path)
    check_algorithm(search.algorithm)
    budget(search.memory)
    for name, allowed in (
        ("final", FINALS), ("select", ("mean", "draw")), ("strategy", STRATEGIES),
        ("ridge_per", RIDGE_PER),
    ):  # fmt: skip
        check_one_of(name, getattr(search, name), allowed)
    check_count("n_draws", search.n_draws)
    if search.strategy == "grid" and search.n_iter is not None:
        raise ValueError(
            f"n_iter={search.n_iter!r} has no meaning for strategy='grid'; leave it out, or use "
            "strategy='random'."
        )
    if search.strategy in ("random", "optuna") or search.n_iter is not None:
        check_count("n_iter", search.n_iter, f"strategy={search.strategy!r} needs it")
    if search.sampler is not None and search.strategy != "optuna":
        raise ValueError(
            f"sampler={search.sampler!r} has no meaning for strategy={search.strategy!r}; leave it "
            "out, or use strategy='optuna'."
        )
    if search.n_jobs is not None and search.n_jobs != -1:
        check_count("n_jobs", search.n_jobs)
    settings = Settings(
        ridge, bool(own["penalize_bias"]), check_metrics(search.metric), search.algorithm,
        search.memory, verify=bool(search.verify),
    )  # fmt: skip
    return spaces, settings


def may_pool(search: Any, problem, schemes, settings: Settings) -> bool:
    """Whether several series may have readouts of their own, whatever these are like."""
    if not (problem.each and problem.task.fed_back):
        return False
    try:
        check_pool(problem, schemes, replace(settings, pool="none"))
        check_final(search.final, ["none"])
    except ValueError:
        return False
    return True


def check_ensemble(search: Any, final: str, draw: int | None = None, panel: bool = False) -> None:
    """Raise for a final model of several members where there are no forecasts, or not in all draws.

    With ``draw`` members are of that one alone.
    """
    if FINALS[final].members is None:
        return
    if not search.estimator._task.fed_back:
        others = [repr(one.name) for one in FINALS.values() if one.members is None]
        raise ValueError(
            f"final={final!r} combines forecasts, and needs a search of an ESNForecaster. Use "
            f"{', '.join(others[:-1])} or {others[-1]}."
        )
    if panel:
        raise ValueError(
            f"final={final!r} combines forecasts of one series, and y is several. Use 'retrain', "
            "'average', 'best' or 'weighted'."
        )
    if draw is None and search.prune and search.select == "draw" and search.n_draws > 1:
        raise ValueError(
            f"final={final!r} combines all draws of its members, but with select='draw' prune=True "
            "drops candidates in each draw by itself, and none may be left in all. Use "
            "select='mean' or prune=False."
        )


def check_strategy(search: Any, problem, schemes, settings: Settings) -> None:
    """Check what ensembles, pruning and halving can do with this task."""
    check_ensemble(search, search.final, panel=bool(problem.names))
    if search.ridge_per == "output" and problem.task.fed_back:
        raise ValueError(
            "ridge_per='output' needs a regressor or a classifier whose outputs are apart, and "
            f"here they come back as inputs; got {type(search.estimator).__name__}. Use "
            "ridge_per='all'."
        )
    if search.verify:
        check_verifiable(problem)
    if search.prune:
        check_prunable(problem, schemes)
        needs = {metric.needs for metric in settings.metrics}
        if not problem.task.fed_back or len(needs) > 1 or needs & {"predictions", "labels"}:
            raise ValueError(
                "prune=True needs outputs that are fed back, and metrics made of one kind of "
                f"growing error ({OF_GROWING_SUMS}); got {type(search.estimator).__name__} with "
                f"metric={search.metric!r}. Use prune=False."
            )
        if search.ridge_per == "split" or search.strategy == "halving":
            raise ValueError(
                "prune=True drops ridge values and needs complete runs, so it goes neither "
                "with ridge_per='split' nor with strategy='halving'. Use prune=False."
            )
    if search.strategy == "halving" and len(schemes) > 1:
        raise ValueError(
            f"strategy='halving' compares candidates by one scheme, but cv has {len(schemes)}. "
            "Give one scheme, or use strategy='grid'."
        )

"""Metadata, such as weights and groups, that go where scikit-learn's routing says, if it is on."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

DATA = ("X", "y", "sequences", "labels")  # by keyword they are data all the same


def router_of(search: Any) -> MetadataRouter:
    """What ``fit`` of the estimator and ``split`` of splitters ask for, when a search is fitted."""
    router = MetadataRouter(owner=type(search).__name__)
    fitted = MethodMapping().add(caller="fit", callee="fit")
    router.add(estimator=search.estimator, method_mapping=fitted)
    for name, splitter in _splitters(search.cv).items():
        split = MethodMapping().add(caller="fit", callee="split")
        router.add(method_mapping=split, **{name: splitter})
    return router


def _splitters(cv: Any) -> dict[str, Any]:
    """Objects among ``cv`` that split, by names that no other part of a search has."""
    named = {f"splitter {name}": one for name, one in cv.items()} if isinstance(cv, dict) else {}
    named = named or {"splitter": cv}
    return {name: one for name, one in named.items() if hasattr(one, "split")}


def routed(search: Any, groups: Any, fit_params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Groups for splitters, and what else the estimator reads.

    Without scikit-learn's metadata routing these are what was given. With it they are what was
    asked for, and an error says what was not.
    """
    if not get_config()["enable_metadata_routing"]:
        return groups, fit_params
    data = {name: value for name, value in fit_params.items() if name in DATA}
    metadata = {name: value for name, value in fit_params.items() if name not in DATA}
    if groups is not None:
        metadata["groups"] = groups
    found = process_routing(search, "fit", **metadata)
    split = [found[name].split.get("groups") for name in _splitters(search.cv)]
    groups = next((given for given in split if given is not None), None)
    return groups, data | dict(found["estimator"].fit)

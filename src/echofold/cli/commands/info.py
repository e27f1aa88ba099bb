"""``echofold info``: versions, devices and memory."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import click

from echofold import __version__
from echofold.cli.commands.options import common, example

FOLDER = "jax_compilation_cache_dir"  # of compiled programs, among the settings of JAX
PACKAGES = ("jax", "jaxlib", "numpy", "scipy", "scikit-learn", "pandas", "xarray")
EXTRAS = {
    "cli": ("click", "rich"), "report": ("jinja2", "matplotlib"), "parquet": ("pyarrow",),
    "optuna": ("optuna",), "cluster": ("dask", "distributed"), "ecg": ("wfdb",),
}  # fmt: skip


@click.command(epilog=example("echofold info", "echofold info --json"))
@common("Taken by every command; nothing here is random.")
def command(seed: int, quiet: bool, as_json: bool) -> None:
    """Show versions, devices and memory."""
    from echofold.cli.showing.output import Output

    output = Output(quiet, as_json)
    content = {
        "echofold": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": {extra: _has(extra) for extra in EXTRAS},
        "devices": _devices(),
        "searches": _searches(),
        "threads": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory": _memory(),
        "programs": _programs(),
    }
    output.result(_text(content))
    output.json(content)


def _version(package: str) -> str | None:
    """The version that is installed; None if none is."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _has(extra: str) -> bool:
    return all(_version(package) is not None for package in EXTRAS[extra])


def _devices() -> list[dict[str, object]]:
    """The devices that JAX sees, with their memory where it tells."""
    import jax

    devices: list[dict[str, object]] = []
    for device in jax.local_devices():
        limit = (device.memory_stats() or {}).get("bytes_limit")
        name = f"{device.platform}:{device.id}"
        devices.append({"name": name, "kind": device.device_kind, "bytes": limit})
    return devices


def _searches() -> str:
    """Where ``device="auto"`` takes a search, and why."""
    import jax

    from echofold._machine.device import WORTH_IT, alike

    there = jax.default_backend()
    if there == "cpu":
        return "on the processor: JAX sees no accelerator"
    shared = ", ".join(alike(there))
    return (
        f"on {shared} where that is estimated to save more than {WORTH_IT:.0f} s against one "
        "thread of the processor, and on the processor otherwise; single networks stay there"
    )


def _memory() -> dict[str, int]:
    """Bytes of memory, and those a search takes without being asked."""
    from echofold._machine.available import available
    from echofold._validation.plan import budget

    return {"available": available(), "used_by_default": budget(None)}


def _programs() -> dict[str, object] | None:
    """Where compiled programs are kept, and how many bytes they take; None if they are not."""
    import jax

    folder = getattr(jax.config, FOLDER)
    if folder is None:
        return None
    sizes = [path.stat().st_size for path in Path(folder).glob("*") if path.is_file()]
    return {"folder": folder, "files": len(sizes), "bytes": sum(sizes)}


def _text(content: dict) -> str:
    """The same in lines."""
    packages = ", ".join(f"{name} {version}" for name, version in content["packages"].items())
    lines = [
        f"echofold   {content['echofold']}",
        f"python     {content['python']} on {content['system']}",
        f"packages   {packages}",
        f"extras     installed: {_those(content, True)}; not installed: {_those(content, False)}",
    ]
    for device in content["devices"]:
        size = f", {device['bytes'] / 2**30:.0f} GiB" if device["bytes"] else ""
        lines.append(f"device     {device['name']} ({device['kind']}{size})")
    free, used = (content["memory"][name] / 2**30 for name in ("available", "used_by_default"))
    lines.append(f"searches   {content['searches']}")
    lines.append(f"threads    {content['threads']}")
    lines.append(f"memory     {free:.1f} GiB available, a search takes up to {used:.1f} GiB")
    kept = content["programs"]
    told = "not kept" if kept is None else f"{kept['folder']}, {kept['bytes'] / 2**20:.1f} MiB"
    lines.append(f"programs   {told}")
    return "\n".join(lines)


def _those(content: dict, installed: bool) -> str:
    names = [name for name, there in content["extras"].items() if there is installed]
    return ", ".join(names) or "none"

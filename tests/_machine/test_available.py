"""Free memory is the least of what the machine, the container and the process's limit leave."""

import os
import subprocess
import sys

import pytest

from echofold._machine import available as _available
from echofold._machine.available import available
from echofold._validation import plan

GB = 2**30


def system(root, files):
    """Write the files of a system; the machine has 16 GB free."""
    files = {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable:  {16 * 2**20} kB\n", **files}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def second(group, most, used, inactive=0):
    at = f"sys/fs/cgroup{group}"
    stat = f"anon 5\ninactive_file {inactive}\nactive_file 7\n"
    return {f"{at}/memory.max": most, f"{at}/memory.current": used, f"{at}/memory.stat": stat}


def first(group, most, used, inactive=0):
    at = f"sys/fs/cgroup/memory{group}"
    stat = f"inactive_file 1\ntotal_inactive_file {inactive}\n"
    return {
        f"{at}/memory.limit_in_bytes": most,
        f"{at}/memory.usage_in_bytes": used,
        f"{at}/memory.stat": stat,
    }


@pytest.fixture(autouse=True)
def no_own_limit(monkeypatch):
    monkeypatch.setattr(_available, "_own_limit", lambda root: iter(()))


def test_the_machine_alone(tmp_path):
    assert available(system(tmp_path, {})) == 16 * GB
    assert available(system(tmp_path, {"proc/self/cgroup": "0::/user\n"})) == 16 * GB


def test_a_container_of_version_2(tmp_path):
    group = {"proc/self/cgroup": "0::/\n", **second("", 4 * GB, 3 * GB, GB // 2)}
    assert available(system(tmp_path, group)) == 1.5 * GB


def test_no_limit_is_no_limit(tmp_path):
    group = {"proc/self/cgroup": "0::/a\n", **second("/a", "max", 3 * GB)}
    assert available(system(tmp_path, group)) == 16 * GB


def test_the_groups_above_count_too(tmp_path):
    groups = {
        "proc/self/cgroup": "0::/jobs/one/step\n",
        **second("/jobs", 8 * GB, 6 * GB),
        **second("/jobs/one", "max", GB),
        **second("/jobs/one/step", 5 * GB, GB),
        **second("/jobs/other", GB, GB),  # not ours
    }
    assert available(system(tmp_path, groups)) == 2 * GB


def test_a_container_of_version_1_that_sees_its_own_group_as_the_root(tmp_path):
    lines = "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n1:name=systemd:/x\n"
    group = {"proc/self/cgroup": lines, **first("", 4 * GB, 3 * GB, GB)}
    assert available(system(tmp_path, group)) == 2 * GB
    unlimited = {"proc/self/cgroup": lines, **first("", 2**63 - 4096, 3 * GB)}
    assert available(system(tmp_path, unlimited)) == 16 * GB


def test_a_group_of_version_1_on_the_host(tmp_path):
    group = {
        "proc/self/cgroup": "4:cpu,memory:/slurm/job\n0::/elsewhere\n",
        **first("", 2**63 - 4096, GB),
        **first("/slurm/job", 3 * GB, GB),
    }
    assert available(system(tmp_path, group)) == 2 * GB


def test_paths_above_what_is_visible_and_groups_that_are_full(tmp_path):
    group = {"proc/self/cgroup": "0::/../../a\n", **second("", GB, 2 * GB)}
    assert available(system(tmp_path, group)) == 0


def test_systems_that_tell_less(tmp_path, monkeypatch):
    assert available(tmp_path) > 0  # no /proc, as on macOS
    monkeypatch.delattr(os, "sysconf")  # as on Windows
    assert available(tmp_path) == _available.UNTOLD


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_limit_of_the_process_itself():
    code = (
        "import resource\n"
        "from echofold._machine.available import available\n"
        "before = available()\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, resource.RLIM_INFINITY))\n"
        "print(before > 2**26 or before, 0 < available() <= 2**26)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout.split()[1:] == ["True"], shown.stderr


def test_workers_share_what_is_free_but_not_what_is_given(monkeypatch):
    monkeypatch.setattr(plan, "available", lambda: 12 * GB)
    assert plan.budget(None) == 6 * GB
    assert plan.budget(None, workers=4) == 1.5 * GB
    assert plan.budget("2GB", workers=4) == 2 * GB
    sizes = {"states": 9 * GB, "pieces": 2 * GB, "fold": GB, "wants_states": False}
    ways = [plan.choose_mode(None, **sizes, workers=n) for n in (1, 4, 12)]
    assert ways == ["pieces", "fold", "frugal"]

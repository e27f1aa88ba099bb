"""Model files that are wrong in every way we could think of, with checksums that fit."""

import copy
import io
import json
import re
import struct
from contextlib import suppress

import numpy as np
from model_files import archive

# --- what is done to the JSON -------------------------------------------------------------------

SCALARS = [
    None, True, False, 0, 1, -1, 2, 3, 20, 2**31, 2**63, -(2**63), 2**64, 10**40, 10**400, 0.5,
    -0.0, 1e-308, 1e308, -1e308, "", "a", "last", "mean", "auto", "numpy", "pandas", "polars",
    "numbers", "booleans", "dates", "periods", "integers", "rows", "gpu", "cpu:7", "standard",
    "\ud800", "\0", "x" * 5_000, "ESNRegressor", "ESNClassifier", "ESNForecaster", "__class__",
]  # fmt: skip
TIMES = [
    "D", "0D", "-1D", "99999999999999999999D", "100000B", "ME", "QS-OCT", "REQ-N-DEC-MON-1", "bh",
    "C", "M", "Y", "9223372036854775807ns", "1D" * 40, "9999-12-31T23:59:59", "0001-01-01T00:00:00",
    "0000-01-01T00:00:00", "NaT", "now", "2024-02-30T00:00:00", "1677-09-21T00:12:43.145224193",
    "s", "ns", "dateutil//etc/passwd", "../../etc/passwd", "Europe", "UTC", "UTC+25:00",
    "tzlocal()",
]  # fmt: skip


def value(rng, members, depth=0):
    """Some value as the JSON may hold it, or may not."""
    choice = rng.integers(12 if depth < 3 else 6)
    if choice < 4:
        return SCALARS[rng.integers(len(SCALARS))]
    if choice == 4:
        return TIMES[rng.integers(len(TIMES))]
    if choice == 5:
        return {"float": str(rng.choice(["inf", "-inf", "nan", "1", "infinity"]))}
    if choice == 6:
        return {"array": str(rng.choice([*members, "absent.npy"]))}
    held = [value(rng, members, depth + 1) for _ in range(rng.integers(4))]
    if choice < 10:
        return {str(rng.choice(["list", "tuple", "strings", "eval"])): held}
    if choice == 10:
        return held
    names = rng.choice(["data", "indices", "kind", "names", "center", "rows", "csr"], len(held))
    inside = dict(zip(map(str, names), held, strict=True))
    return {str(rng.choice(["csr", "Schema", "Scaler", "Timeline"])): inside}


def places(tree):
    """Every (container, key) of a JSON tree."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, part in list(entries):
        yield tree, key
        if isinstance(part, dict | list):
            yield from places(part)


def change_json(rng, members):
    about = json.loads(members["echofold.json"])
    for _ in range(rng.integers(1, 4)):
        found = list(places(about))
        container, key = found[rng.integers(len(found))]
        other, its = found[rng.integers(len(found))]
        old = container[key]
        number = isinstance(old, int | float) and not isinstance(old, bool)
        act = rng.integers(8)
        if act == 0:
            del container[key]
        elif act == 1 and isinstance(container, dict):
            container[str(rng.choice(["units", "W_", "x_", "float", "array", "a"]))] = old
        elif act == 2:
            container[key] = copy.deepcopy(other[its])
        elif act == 3:
            for _ in range(int(rng.choice([1, 3, 40]))):
                old = {"tuple": [old]}
            container[key] = old
        elif act == 4 and isinstance(old, list):
            container[key] = old * int(rng.integers(2, 50))
        elif act < 7 and number:
            container[key] = [-old, old + 1, old * 10, old / 3, old * 2**40][rng.integers(5)]
        else:
            container[key] = value(rng, members)
    members["echofold.json"] = json.dumps(about).encode()


def change_time(rng, members):
    """Another index, where there is one; otherwise another value."""
    about = json.loads(members["echofold.json"])
    time = (about["fitted"].get("timeline_") or {}).get("Timeline")
    if time is None:
        return change_json(rng, members)
    for name in rng.choice(list(time), rng.integers(1, 3)):
        known = TIMES if rng.integers(4) else SCALARS
        time[str(name)] = known[rng.integers(len(known))]
    members["echofold.json"] = json.dumps(about).encode()


def change_text(rng, members):
    """What no JSON library would write."""
    text = members["echofold.json"]
    at = rng.integers(len(text))
    numbers = [match.span() for match in re.finditer(rb"(?<=: )-?[\d.e-]+", text)]
    first, last = numbers[rng.integers(len(numbers))]
    put = [
        b"NaN", b"-Infinity", b"1e999", b"9" * 5_000, b"[" * 100_000, b'{"a":' * 5_000,
        b"[" + b"[]," * 200_000 + b"0]", b'"' + b"\\" * 20_001, "é".encode(), b"1e-400",
        b"0." + b"1" * 100_000, b'"\\ud83d\\ude00' + b"x" * 500_000 + b'"',
    ][rng.integers(12)]  # fmt: skip
    members["echofold.json"] = [
        text[:first] + put + text[last:],
        text[:at] + put + text[at:],
        text[:at],
        text[:at] + rng.bytes(3) + text[at + 3 :],
        text.replace(b'"units"', b'"units": 3, "units"'),
        put,
    ][rng.integers(6)]


# --- what is done to arrays ---------------------------------------------------------------------

TYPES = [
    "<f8", ">f8", "<f4", "<f2", "<f16", "<i8", "<i4", "<i1", "<u8", "|b1", "|O", "<c16", "<M8[ns]",
    "<U0", "<U1", "<U999999999", "|S3", "|V8", "<f8' and 'x", "<f99",
]  # fmt: skip


def pick(rng, members):
    return str(rng.choice([name for name in members if name.endswith(".npy")]))


def change_header(rng, members):
    name = pick(rng, members)
    content = members[name]
    length = struct.unpack_from("<H", content, 8)[0]
    header, data = content[10 : 10 + length].decode(), content[10 + length :]
    shape = [int(size) for size in re.findall(r"\d+", header.split("'shape'")[1])]
    for _ in range(rng.integers(1, 3)):
        act = rng.integers(8)
        if act < 2:
            kind = TYPES[rng.integers(len(TYPES))]
            header = re.sub(r"'descr': '[^']*'", f"'descr': '{kind}'", header)
        elif act < 5:
            sizes = [[], [0], [-1], [*shape, 1], shape[::-1], [1, *shape], [10**18, 0], [2**62, 4]]
            sizes += [[len(data) // 8], [len(data)], [size + 1 for size in shape], [1] * 40]
            found = tuple(sizes[rng.integers(len(sizes))])
            header = re.sub(r"'shape': \([^)]*\)", f"'shape': {found}", header)
        elif act == 5:
            header = header.replace("False", str(rng.choice(["True", "1", "None"])))
        elif act == 6:
            header = str(rng.choice(["", "(" * 900, "{" * 300, "{'descr': '<f8'}", "[" + header]))
        else:
            data = [data[:-1], data + b"\0" * 8, b"", data * 2][rng.integers(4)]
    if rng.integers(8):  # data where NumPy puts them
        header = header.rstrip()
        header += " " * (-(len(header) + 11) % 64) + "\n"
    written = header.encode()
    start = content[:8] if rng.integers(8) else rng.bytes(8)
    told = len(written) if rng.integers(8) else rng.integers(2**16)
    members[name] = start + struct.pack("<H", told) + written + data


def change_array(rng, members):
    """Well-formed arrays with other values, types or sizes."""
    name = pick(rng, members)
    array = np.load(io.BytesIO(members[name]))
    act = rng.integers(8)
    if act < 4 and array.size:
        array = array.copy()
        some = rng.integers(array.size, size=rng.integers(1, 4))
        if array.dtype.kind == "f":
            put = [np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 5e-324]
            array.flat[some] = rng.choice(put, len(some))
        elif array.dtype.kind == "i":
            put = [-1, -(2**31), 2**31 - 1, 20, 19, 0, 1, 10**9]
            info = np.iinfo(array.dtype)
            array.flat[some] = np.clip(rng.choice(put, len(some)), info.min, info.max)
        else:
            flat = np.frombuffer(bytearray(array.tobytes()), "u1").copy()
            flat[rng.integers(len(flat), size=2)] = rng.integers(256, size=2)
            array = np.frombuffer(flat.tobytes(), array.dtype).reshape(array.shape)
    elif act == 4:
        array = np.resize(array, [size + int(rng.integers(-1, 2)) for size in array.shape])
    elif act == 5:
        array = np.concatenate([array, array]) if array.ndim else array[None]
    elif act == 6 and array.dtype.kind in "fi":
        with np.errstate(all="ignore"):
            array = array.astype(str(rng.choice(["f4", ">f8", "i8", "i4", "i2", "u1", "?", "U3"])))
    else:
        array = np.asfortranarray(array.T if rng.integers(2) else array[..., None])
    held = io.BytesIO()
    np.save(held, array)
    members[name] = held.getvalue()


# --- what is done to the archive ----------------------------------------------------------------


def directory_of(data):
    """Start of the directory and of its entries."""
    start = struct.unpack_from("<L", data, len(data) - 6)[0]
    return start, [
        match.start() for match in re.finditer(b"PK\1\2", data) if match.start() >= start
    ]


def change_archive(rng, data):
    start, entries = directory_of(data)
    one, other = (entries[i] for i in rng.integers(len(entries), size=2))
    changed = bytearray(data)
    field, size = [(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4)][
        rng.integers(9)
    ]
    act = rng.integers(8)
    if act == 0:  # another number in the directory, or in the header that it points to
        changed[one + field : one + field + size] = rng.bytes(size)
    elif act == 1:  # both members at one place, with the sizes of one
        changed[one + 16 : one + 28] = data[other + 16 : other + 28]
        changed[one + 42 : one + 46] = data[other + 42 : other + 46]
    elif act == 2:
        where = struct.unpack_from("<L", data, one + 42)[0]
        place = where + int(rng.integers(4, 30))
        changed[place : place + 2] = rng.bytes(2)
    elif act == 3:  # many members that are one
        end = len(data) - 22
        length = int(rng.choice([2, 50, 3_000]))
        entry = data[one : entries[entries.index(one) + 1] if one != entries[-1] else end]
        count = min(len(entries) + length, 65_535)
        tail = struct.pack(
            "<4s4H2LH", b"PK\5\6", 0, 0, count, count, end - start + length * len(entry), start, 0
        )
        changed = data[:end] + entry * length + tail
    elif act == 4:
        changed = data[: rng.integers(len(data))]
    elif act == 5:
        changed = [data + b"tail", b"head" + data, data[:start] + b"gap" + data[start:]][
            rng.integers(3)
        ]
    elif act == 6:  # the end of a large archive, with numbers of any size
        told = [len(entries), len(entries), len(data) - 22 - start, start]
        for place in rng.integers(4, size=rng.integers(3)):
            told[place] = [0, 1, 2**40, 2**63, 2**64 - 1][rng.integers(5)]
        large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, *told)
        where = struct.pack("<4sLQL", b"PK\6\7", 0, len(data) - 22, 1)
        changed = data[:-22] + large + where + data[-22:]
    else:
        for place in rng.integers(len(changed), size=rng.integers(1, 20)):
            changed[place] = rng.integers(256)
    return bytes(changed)


CHANGES = [change_json, change_json, change_json, change_time, change_text, change_header]
CHANGES += [change_array, change_array]


def made(seed, bases):
    """The file of a seed."""
    rng = np.random.default_rng(seed)
    members = dict(bases[rng.integers(len(bases))])
    act = rng.integers(8)
    if act == 7:
        return change_archive(rng, archive(members))
    for _ in range(1 if act < 5 else 2):
        # A second change may not get on with what the first one left.
        with suppress(Exception):
            CHANGES[rng.integers(len(CHANGES))](rng, members)
    return archive(members)

"""Model files made by hand, from what docs/format.md says and nothing of the library."""

import hashlib
import io
import json
import struct
import zipfile

import numpy as np


def checksums(members):
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    return "".join(lines).encode()


def archive(members):
    """A file with these members, and checksums that fit."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for name, content in (*members.items(), ("sha256.txt", checksums(members))):
            file.writestr(zipfile.ZipInfo(name), content)
    return held.getvalue()


def members_of(path):
    """The members of a saved file, by its path or bytes, but for the checksums."""
    with zipfile.ZipFile(io.BytesIO(path) if isinstance(path, bytes) else path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    del members["sha256.txt"]
    return members


def npy(descr, shape, data, header=None):
    """An array member, by the bytes."""
    if header is None:
        header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def array(values, kind="<f8"):
    values = np.asarray(values, dtype=kind)
    return npy(kind, values.shape, values.tobytes())


def with_json(members, change):
    """The members with another JSON; ``change`` edits what it is given."""
    about = json.loads(members["echofold.json"])
    change(about)
    return members | {"echofold.json": json.dumps(about).encode()}


def with_series(members, change, name="series.0.echofold"):
    """The members with other ones in the file of some series; ``change`` edits what it is given."""
    inner = members_of(members[name])
    about = json.loads(inner["echofold.json"])
    change(about, inner)
    return members | {name: archive(inner | {"echofold.json": json.dumps(about).encode()})}


def with_fitted(members, **values):
    """The members with other fitted values, as the JSON holds them."""
    return with_json(members, lambda about: about["fitted"].update(values))


def with_params(members, **values):
    """The members with other parameters, as the JSON holds them."""
    return with_json(members, lambda about: about["params"].update(values))

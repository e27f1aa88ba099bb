"""Archives of arrays, whoever wrote them: model files, and blocks of a search.

Only the plainest archives are read, such as `zipfile` and `numpy.savez` write of stored members.
Each of their bytes belongs to one header or one member, so members cannot overlap, and reading them
takes as much memory as the file is long, whatever its headers say.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np

MOST_MEMBERS = 1_000
LONGEST = MOST_MEMBERS * (46 + 100 + 28)  # bytes of a directory: entries, names, large sizes
NAME = re.compile(r"[A-Za-z0-9_.]{1,100}")
ELSEWHERE = 0xFFFFFFFF  # in place of a size that is told in a field of its own, from 2 GiB on
# The header of an array as NumPy writes it, for plain numbers, booleans and strings only.
HEADER = re.compile(
    rb"\{'descr': '([<>|])([biufUS])([1-9]\d{0,9})', 'fortran_order': (True|False), "
    rb"'shape': \((|\d{1,18},|\d{1,18}(?:, \d{1,18}){1,7})\), \} *\n"
)
ALIGNED = 64  # bytes; an array elsewhere would have to be copied
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16)}  # bytes


def read_archive(file: BinaryIO) -> dict[str, bytearray]:
    """All members of an archive; `ValueError` for any flaw."""
    try:
        file.seek(-22, os.SEEK_END)
        end = file.read(22)
        if end[:4] != b"PK\5\6" or end[-2:] != b"\0\0":
            raise ValueError("it has no end, or a comment")
        with zipfile.ZipFile(_Directory(file)) as archive:
            found, directory = archive.infolist(), archive.start_dir
    except Exception as error:  # whatever foreign bytes end in
        raise ValueError(f"it is not an archive, or it was cut off ({error})") from error
    if not 0 < len(found) <= MOST_MEMBERS:
        raise ValueError(f"it has {len(found)} members, expected 1 to {MOST_MEMBERS}")
    members: dict[str, bytearray] = {}
    place = 0
    for info in sorted(found, key=lambda one: one.header_offset):
        name = info.filename
        if not NAME.fullmatch(name):
            raise ValueError("its directory is damaged")
        if info.flag_bits or info.compress_type or info.compress_size != info.file_size:
            raise ValueError(f"member {name} is compressed or encrypted")
        if name in members:
            raise ValueError(f"member {name} is doubled")
        if info.header_offset != place:
            raise ValueError(f"member {name} overlaps another, or bytes are unused")
        place += _header_length(file, info)
        if place + info.file_size > directory:
            raise ValueError(f"member {name} overlaps the directory")
        members[name] = content = bytearray(info.file_size)
        file.seek(place)
        if file.readinto(content) != info.file_size:  # type: ignore[attr-defined]
            raise ValueError("it grew shorter while it was read")
        if zlib.crc32(content) != info.CRC:
            raise ValueError(f"member {name} is damaged")
        place += info.file_size
    if place != directory:
        raise ValueError("its members overlap the directory, or bytes are unused")
    return members


class _Directory:
    """A file as `zipfile` may see it: no more at once than the longest directory takes."""

    def __init__(self, file: BinaryIO):
        self.file, self.seek, self.tell = file, file.seek, file.tell

    def read(self, size: int = LONGEST) -> bytes:
        return self.file.read(min(size, LONGEST))


def _header_length(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Length of the header before a member, which must repeat what the directory says."""
    name, size = info.filename.encode(), info.file_size
    file.seek(info.header_offset)
    header = file.read(30 + len(name) + 20)
    wide = struct.pack("<2H2Q", 1, 16, size, size)
    # Python before 3.11.4 says large sizes in both places where they would fit into one.
    for told, extra in ((size, b""), (ELSEWHERE, wide), (size, wide)):
        sizes = [min(told, ELSEWHERE)] * 2
        rest = struct.pack("<3L2H", info.CRC, *sizes, len(name), len(extra)) + name + extra
        if header[:4] + header[6:10] + header[14 : 14 + len(rest)] == b"PK\3\4\0\0\0\0" + rest:
            return 14 + len(rest)
    raise ValueError(f"the header of member {info.filename} is damaged")


def array_in(member: Any, name: str) -> np.ndarray:
    """A view of the array in an ``.npy`` member, which holds exactly what its header says."""
    length = int.from_bytes(member[8:10], "little")
    header = HEADER.fullmatch(member[10 : 10 + length])
    if bytes(member[:8]) != b"\x93NUMPY\1\0" or header is None or (10 + length) % ALIGNED:
        raise ValueError(
            f"{name} is not an array of plain numbers as NumPy saves it: its header is none of "
            "numbers or strings"
        )
    order, kind, width, fortran, sizes = (part.decode() for part in header.groups())
    shape = tuple(int(size) for size in re.findall(r"\d+", sizes))
    itemsize = int(width) * (4 if kind == "U" else 1)
    held = len(member) - 10 - length
    if itemsize * math.prod(shape) != held or itemsize not in SIZES.get(kind, (itemsize,)):
        raise ValueError(
            f"{name} is of another size than it says: {held} bytes for shape {shape} of "
            f"{kind}{width}"
        )
    dtype = np.dtype(f"{order}{kind}{width}")
    if not held:
        return np.zeros(shape, dtype)
    # NumPy and Python take for granted that booleans and characters are such.
    raw, most = {"b": ("u1", 1), "U": (f"{order}u4", 0x10FFFF)}.get(kind, (None, 0))
    if raw is not None and np.frombuffer(member, raw, offset=10 + length).max() > most:
        raise ValueError(f"{name} holds what is neither a boolean nor a character")
    array = np.frombuffer(member, dtype, offset=10 + length)
    array = array.reshape(shape, order="F" if fortran == "True" else "C")
    return array if array.flags.aligned else array.copy()

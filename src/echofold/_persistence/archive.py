"""The container of a model file: a zip archive of stored members and their checksums.

Only the plainest archive is read, the kind that `write_members` writes. Each byte of the file
belongs to one header or one member, so members cannot overlap, and reading them takes as much
memory as the file is long, whatever its headers say.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from echofold._machine.files import written_aside

SUMS = "sha256.txt"
MOST_MEMBERS = 1_000
NAME = re.compile(rb"[A-Za-z0-9_.]{1,100}")
WRITTEN = (1980, 1, 1, 0, 0, 0)  # date of all members: equal estimators make equal files

LOCAL = struct.Struct("<4s2x2H4x3L2H")  # signature, flags, method, CRC, sizes, lengths
CENTRAL = struct.Struct("<4s4x2H4x3L4H6xL")
END = struct.Struct("<4s4H2LH")
# Archives and members from 2 GiB on have their sizes here, and these marks in place of them.
END_LARGE = struct.Struct("<4sQ4x2L4Q")
LOCATOR = struct.Struct("<4sLQL")
ELSEWHERE = 0xFFFFFFFF


class Member(NamedTuple):
    """What the directory says of a member; its header begins at ``start``."""

    start: int
    name: str
    crc: int
    size: int


def checksums(members: Mapping[str, bytes | bytearray]) -> bytes:
    """One line for each member: its SHA-256 and its name."""
    lines = [f"{hashlib.sha256(members[name]).hexdigest()}  {name}\n" for name in sorted(members)]
    return "".join(lines).encode()


def write_members(path: Path, members: Mapping[str, bytes]) -> None:
    """Write the file beside ``path``, then put it in its place in one step."""
    with (
        written_aside(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name, content in (*members.items(), (SUMS, checksums(members))):
            archive.writestr(zipfile.ZipInfo(name, WRITTEN), content)


def read_members(file: BinaryIO) -> dict[str, bytearray]:
    """All members but the checksums, which they are checked against; `ValueError` for any flaw."""
    members: dict[str, bytearray] = {}
    for member, place in _places(file):
        if member.name in members:
            raise ValueError(f"member {member.name} is doubled")
        content = bytearray(member.size)
        file.seek(place)
        if file.readinto(content) != member.size:  # type: ignore[attr-defined]
            raise ValueError("it grew shorter while it was read")
        if zlib.crc32(content) != member.crc:
            raise ValueError(f"member {member.name} is damaged")
        members[member.name] = content
    sums = members.pop(SUMS, None)
    if sums is None:
        raise ValueError(f"{SUMS} is missing")
    if sums != checksums(members):
        raise ValueError("its checksums do not match: it was changed after it was saved")
    return members


def _places(file: BinaryIO) -> list[tuple[Member, int]]:
    """The members and where they begin; they fill the file up to the directory at its end."""
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is not a regular file")
    count, length, end = _end(file, status.st_size)
    directory = _read(file, end, length)
    at, members = 0, []
    for _ in range(count):
        member, at = _described(directory, at)
        members.append(member)
    if at != length:
        raise ValueError("its directory is longer than its members need")
    place, places = 0, []
    for member in sorted(members):
        if member.start != place:
            raise ValueError(f"member {member.name} overlaps another, or bytes are unused")
        first = place + _header_length(file, member)
        places.append((member, first))
        place = first + member.size
    if place != end:
        raise ValueError("its members overlap the directory, or bytes are unused")
    return places


def _end(file: BinaryIO, size: int) -> tuple[int, int, int]:
    """Number of members, and length and start of the directory, from the end of the file."""
    at = size - END.size
    if at < 0:
        raise ValueError("it is too short to be an archive")
    mark, disk, other, here, count, length, start, comment = END.unpack(_read(file, at, END.size))
    if mark != b"PK\5\6" or comment:
        raise ValueError("it is not an archive, or it was cut off")
    large = at - LOCATOR.size - END_LARGE.size
    if large >= 0 and _read(file, large, 4) == b"PK\6\6":
        tail = _read(file, large, LOCATOR.size + END_LARGE.size)
        _, rest, disk, other, here, count, length, start = END_LARGE.unpack_from(tail)
        if LOCATOR.unpack_from(tail, END_LARGE.size) != (b"PK\6\7", 0, large, 1) or rest != 44:
            raise ValueError("its end is damaged")
        at = large
    if disk or other or here != count or start + length != at:
        raise ValueError("its directory is not where it should be")
    if not 0 < count <= MOST_MEMBERS or length > count * (CENTRAL.size + 100 + 28):
        raise ValueError(f"it has {count} members, expected 1 to {MOST_MEMBERS}")
    return count, length, start


def _described(directory: bytes, at: int) -> tuple[Member, int]:
    """The member that the directory describes at ``at``, and where the next one is."""
    if at + CENTRAL.size > len(directory):
        raise ValueError("its directory is cut off")
    mark, flags, method, crc, packed, size, named, extra, comment, disk, start = (
        CENTRAL.unpack_from(directory, at)
    )
    at += CENTRAL.size
    name, more = directory[at : at + named], directory[at + named : at + named + extra]
    if mark != b"PK\1\2" or not NAME.fullmatch(name) or comment or disk:
        raise ValueError("its directory is damaged")
    if flags or method:
        raise ValueError(f"member {name.decode()} is compressed or encrypted")
    wide = _wide(more)
    size, packed, start = (
        wide.pop(0) if value == ELSEWHERE and wide else value for value in (size, packed, start)
    )
    if wide or size != packed:
        raise ValueError(f"the size of member {name.decode()} is damaged")
    return Member(start, name.decode(), crc, size), at + named + extra


def _header_length(file: BinaryIO, member: Member) -> int:
    """Length of the header before a member, which must repeat what the directory says."""
    mark, flags, method, crc, packed, size, named, extra = LOCAL.unpack(
        _read(file, member.start, LOCAL.size)
    )
    name = _read(file, member.start + LOCAL.size, len(member.name))
    sizes, large = [size, packed], extra == 20
    if large:
        wide = _wide(_read(file, member.start + LOCAL.size + named, extra))
        # Python before 3.11.4 says the sizes in both places where they would fit into one.
        sizes = wide if sizes in ([ELSEWHERE] * 2, wide) else []
    said = (mark, flags, method, crc, sizes, name, named, extra)
    expected = (member.crc, [member.size] * 2, member.name.encode(), len(name), 20 * large)
    if said != (b"PK\3\4", 0, 0, *expected):
        raise ValueError(f"the header of member {member.name} is damaged")
    return LOCAL.size + named + extra


def _wide(extra: bytes) -> list[int]:
    """The 64-bit numbers of an extra field, the only kind that is read."""
    if not extra:
        return []
    count = (len(extra) - 4) // 8
    if len(extra) != 4 + 8 * count or extra[:4] != struct.pack("<2H", 1, 8 * count) or count > 3:
        raise ValueError("it has an extra field of another kind than sizes")
    return list(struct.unpack(f"<{count}Q", extra[4:]))


def _read(file: BinaryIO, at: int, length: int) -> bytes:
    """Exactly these bytes of the file."""
    file.seek(at)
    content = file.read(length)
    if len(content) != length:
        raise ValueError("it is cut off")
    return content

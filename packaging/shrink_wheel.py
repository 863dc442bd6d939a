"""Write the wheels of a folder anew, smaller.

The page's scripts and style sheets lose their comments, and everything is compressed as well as deflate can.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import sys
import zipfile
import zlib
from pathlib import Path

SCRIPTS = (".js", ".css")


def without_comments(text: str) -> str:
    """Return a script or style sheet without indentation and the comments that have lines of their own.

    Within template literals that span lines everything stays as it is.
    """
    kept: list[str] = []
    in_comment = in_template = False
    for line in text.splitlines(keepends=True):
        rest = line if in_template else line.lstrip(" \t")
        if not in_template:
            if in_comment or rest.startswith("/*"):
                _, end, rest = rest.partition("*/")
                in_comment = not end
                rest = rest.lstrip()
            if in_comment or not rest or rest.startswith("//"):
                continue
        kept.append(rest)
        in_template ^= rest.replace("\\`", "").count("`") % 2 == 1
    return "".join(kept)


def deflated(data: bytes) -> bytes:
    """Return the data as a raw deflate stream."""
    from zopfli import zopfli

    found = zopfli.compress(data)[2:-4]  # zlib's head and sum are not wanted in an archive
    assert zlib.decompress(found, wbits=-15) == data
    return found


class _Compressor:
    """Takes the place of zlib's: zipfile cannot be given data that are compressed already."""

    def __init__(self) -> None:
        self._data = b""

    def compress(self, data: bytes) -> bytes:
        self._data += data  # all at once: a module is small
        return b""

    def flush(self) -> bytes:
        return deflated(self._data)


def shrink(wheel: Path) -> None:
    """Write a wheel anew, in its place."""
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: (entry, archive.read(entry)) for entry in archive.infolist()}
    for name, (entry, data) in files.items():
        if name.endswith(SCRIPTS):
            files[name] = entry, without_comments(data.decode()).encode()
    [record] = [name for name in files if name.endswith(".dist-info/RECORD")]
    files[record] = files[record][0], recorded(record, files)
    smaller = io.BytesIO()
    with zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.values():
            with archive.open(entry, "w") as target:
                target._compressor = _Compressor()
                target.write(data)
    wheel.write_bytes(smaller.getvalue())


def recorded(record: str, files: dict[str, tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    """Return the list of a wheel's files with their sums."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name, (_, data) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow([name, "", ""] if name == record else [name, f"sha256={digest}", len(data)])
    return lines.getvalue().encode()


if __name__ == "__main__":
    for wheel in sorted(Path(sys.argv[1]).glob("*.whl")):
        before = wheel.stat().st_size
        shrink(wheel)
        print(f"{wheel.name}: {before:,} bytes, now {wheel.stat().st_size:,}")

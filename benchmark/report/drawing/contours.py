"""Zero lines and sign images of values on scattered points of the plane."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import ConvexHull, Delaunay, KDTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Edge = tuple[int, int]


def delaunay_triangles(points: Array) -> NDArray[np.int32]:
    """Return the Delaunay triangles of points as indices, shape (m, 3)."""
    return np.asarray(Delaunay(points).simplices)


def zero_lines(points: Array, corners: NDArray[np.int32], values: Array) -> list[Array]:
    """Return the lines on which values are zero, interpolated within triangles; each line has shape (m, 2).

    A closed line ends where it starts.

    Parameters
    ----------
    points : array, shape (n, 2)
    corners : array, shape (m, 3)
        Triangles, as indices of points.
    values : array, shape (n,)
        Zero counts as positive.
    """
    neighbours: dict[Edge, list[Edge]] = {}
    positive = values >= 0
    crossed = corners[positive[corners].any(axis=1) & ~positive[corners].all(axis=1)]
    for corner in np.sort(crossed, axis=1).tolist():
        a, b = [(i, j) for i in corner for j in corner if i < j and positive[i] != positive[j]]
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    # Lines that end at the border of the plane are followed from there; all remaining lines are closed.
    starts = [edge for edge, adjacent in neighbours.items() if len(adjacent) == 1]
    lines, seen = [], set[Edge]()
    for start in (*starts, *neighbours):
        if start in seen:
            continue
        line, at = [], start
        while at not in seen:
            seen.add(at)
            line.append(at)
            at = next((edge for edge in neighbours[at] if edge not in seen), start)
        closed = len(line) > 2 and line[-1] in neighbours[start]
        lines.append(_places([*line, start] if closed else line, points, values))
    return lines


def _places(line: Sequence[Edge], points: Array, values: Array) -> Array:
    """Return the points on these edges where the interpolated value is zero."""
    a, b = np.array(line).T
    share = (values[a] / (values[a] - values[b]))[:, None]
    return np.asarray(points[a] + share * (points[b] - points[a]))


def region_mask(points: Array, values: Array, width: int, height: int) -> NDArray[np.uint8]:
    """Return pixels, rows from the top: 1 if the nearest value is at least 0, 2 if negative, 0 outside the hull."""
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    xs = left + (np.arange(width) + 0.5) * (right - left) / width
    ys = top - (np.arange(height) + 0.5) * (top - bottom) / height
    pixels = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    sides = np.unique(np.round(ConvexHull(points).equations, 9), axis=0)
    inside = (pixels @ sides[:, :2].T + sides[:, 2] <= 1e-9).all(axis=1)
    codes = np.zeros(len(pixels), dtype=np.uint8)
    codes[inside] = np.where(values[KDTree(points).query(pixels[inside])[1]] >= 0, 1, 2)
    return codes.reshape(height, width)


def indexed_png(codes: NDArray[np.uint8], colours: Sequence[bytes]) -> bytes:
    """Return a PNG image in which code 0 is transparent and code i is the i-th colour: red, green, blue and opacity."""
    height, width = codes.shape
    rows = b"".join(b"\0" + row.tobytes() for row in codes)
    palette = [bytes(4), *colours]
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))]
    parts += [(b"PLTE", b"".join(each[:3] for each in palette)), (b"tRNS", b"".join(each[3:] for each in palette))]
    parts += [(b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)

"""Boundaries and images of two classes on scattered points of the plane."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import ConvexHull, Delaunay, KDTree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def delaunay_triangles(points: Array) -> NDArray[np.int32]:
    """Return the Delaunay triangles of points as indices, shape (m, 3)."""
    return np.asarray(Delaunay(points).simplices)


def boundary_segments(points: Array, corners: NDArray[np.int32], codes: NDArray[Any]) -> Array:
    """Return the segments between the points of code 0 and those of code 1, as x, y, x2 and y2, shape (m, 4).

    They join the middles of the edges of triangles, whose `corners` are indices of points, shape (n, 3).
    """
    ones = codes[corners].sum(axis=1)
    crossed = corners[(ones == 1) | (ones == 2)]
    labels = codes[crossed]
    alone = np.argmax(labels == (labels.sum(axis=1, keepdims=True) == 1), axis=1)
    first, *others = np.take_along_axis(crossed, (alone[:, None] + np.arange(3)) % 3, axis=1).T
    return np.hstack([(points[first] + points[other]) / 2 for other in others])


def region_mask(points: Array, codes: NDArray[Any], width: int, height: int) -> NDArray[np.uint8]:
    """Return pixels, rows from the top: 1 and 2 where the nearest point has code 0 and 1, 0 outside the hull."""
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    xs = left + (np.arange(width) + 0.5) * (right - left) / width
    ys = top - (np.arange(height) + 0.5) * (top - bottom) / height
    pixels = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    sides = np.unique(np.round(ConvexHull(points).equations, 9), axis=0)
    inside = (pixels @ sides[:, :2].T + sides[:, 2] <= 1e-9).all(axis=1)
    mask = np.zeros(len(pixels), dtype=np.uint8)
    mask[inside] = 1 + codes[KDTree(points).query(pixels[inside])[1]]
    return mask.reshape(height, width)


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

"""What Vega draws of a specification, mark by mark, at points of the page: tests look at it instead of at pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import jsonschema
import vl_convert
from altair.vegalite.v6.schema.core import load_schema

from benchmark.report.drawing.theme import text_width


@dataclass(frozen=True)
class Mark:
    """One mark: what kind, in which panel (its number in reading order, or None), and Vega's own item."""

    kind: str
    role: str
    x: float
    y: float
    item: dict[str, Any] = field(repr=False)
    panel: int | None = None

    @property
    def text(self) -> str:
        """Its words, in one line."""
        text = self.item.get("text", "")
        return " ".join(text) if isinstance(text, list) else str(text)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a text."""
        item = self.item
        lines = item["text"] if isinstance(item["text"], list) else [str(item["text"])]
        size = item.get("fontSize", 11)
        width = max(text_width(line, size) for line in lines) * (1.08 if item.get("fontWeight") == "bold" else 1)
        height = size * (0.75 + (len(lines) - 1) * item.get("lineHeight", size + 2) / size)
        left = {"center": -width / 2, "right": -width}.get(item.get("align", "left"), 0.0)
        top = {"top": 0.0, "middle": -size / 2, "bottom": -height, "line-top": 0.0}.get(
            item.get("baseline", "alphabetic"), -0.75 * size
        )
        x, y = item.get("dx", 0), item.get("dy", 0)
        if item.get("angle") == -90:  # reads from below
            return (self.x + top + y, self.y - left - width, self.x + top + y + height, self.y - left)
        return (self.x + left + x, self.y + top + y, self.x + left + width + x, self.y + top + height + y)


@dataclass(frozen=True)
class Scene:
    """All marks of a picture, back to front."""

    width: float
    height: float
    marks: list[Mark]
    panels: list[tuple[float, float, float, float]]

    def of(self, kind: str, panel: int | None = None, role: str = "mark") -> list[Mark]:
        """Return the marks of a kind, of one panel if named."""
        found = [mark for mark in self.marks if mark.kind == kind and mark.role.startswith(role)]
        return [mark for mark in found if panel is None or mark.panel == panel]

    @cached_property
    def texts(self) -> list[Mark]:
        """All words that are shown."""
        return [m for m in self.marks if m.kind == "text" and m.text.strip() and m.item.get("opacity", 1) > 0]


def scene_of(spec: dict[str, Any]) -> Scene:
    """Draw a specification and return its marks. A panel is a group with axes; a legend of ours has none."""
    drawn = vl_convert.vegalite_to_scenegraph(spec)
    scene = Scene(drawn["width"], drawn["height"], [], [])
    _walk(drawn["scenegraph"], *drawn["origin"], None, scene)
    return scene


@cache
def _vega_lite() -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(load_schema())


def assert_vega_lite(spec: dict[str, Any]) -> None:
    """Fail unless Vega-Lite's schema knows a specification: once as a whole; Altair checks each part again."""
    _vega_lite().validate(spec)


def _walk(mark: dict[str, Any], x: float, y: float, panel: int | None, scene: Scene) -> None:
    for item in mark.get("items", ()):
        at = x + item.get("x", 0), y + item.get("y", 0)
        if mark["marktype"] == "group":
            inner, own = panel, item.get("items", ())
            if any(part.get("role") == "axis" for part in own):
                inner = len(scene.panels)
                scene.panels.append((*at, at[0] + item["width"], at[1] + item["height"]))
            for part in own:
                _walk(part, *at, inner, scene)
        else:
            role = mark.get("role") or "mark"
            scene.marks.append(Mark(mark["marktype"], role, *at, item, panel))


def looks(mark: Mark) -> tuple[Any, ...]:
    """Return what tells a symbol from others."""
    return (mark.item.get("stroke"), mark.item.get("fill"), mark.item.get("shape"))


def overlap(one: tuple[float, ...], two: tuple[float, ...]) -> float:
    """Return by how many points two boxes overlap, along the axis where they do less."""
    return min(min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1]))


def panels_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a specification that have axes, in reading order."""
    if "layer" in spec:
        axes = [layer["encoding"].get("x", {}).get("axis", {}) for layer in spec["layer"]]
        return [spec] if any(axis is not None for axis in axes) else []
    return [panel for part in spec.get("concat", ()) for panel in panels_of(part)]


def rows_of(spec: dict[str, Any], layer: dict[str, Any], panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows that a layer of a panel shows: its own, or those of all its layers."""
    rows: list[dict[str, Any]] = spec["datasets"][{**panel, **layer}["data"]["name"]]
    return rows


def words_of(svg: bytes) -> list[str]:
    """Return the texts of an SVG."""
    return re.findall(r"<text[^>]*>(.*?)</text>", svg.decode(), flags=re.DOTALL)

"""Charts of Altair as plain data, and the figures of a run as charts of Altair."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import altair as alt
from altair.utils.schemapi import debug_mode

from benchmark.report.drawing import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmark.report.drawing.spec import VegaSpec


def rows_data(rows: Sequence[VegaSpec]) -> alt.InlineData:
    """Return rows as the data of a chart; as a tuple, since Altair copies a list for every chart that uses it."""
    with debug_mode(False):  # validation of every row takes a fifth of the time of a run with many points
        return alt.InlineData(values=tuple(rows))


def spec_of(chart: alt.Chart | alt.LayerChart | alt.FacetChart) -> VegaSpec:
    """Return a chart as plain data, whatever Altair theme the caller has enabled."""
    with alt.theme.enable("none"), alt.data_transformers.enable("default", max_rows=None):
        spec = chart.to_dict(validate=False)
    return {name: part for name, part in spec.items() if name not in ("$schema", "config")}


class FigureChart(alt.ConcatChart):
    """Altair chart that a notebook shows as a picture drawn here: Altair's renderer needs a script from the web."""

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        """Return SVG and PNG; where another renderer is enabled, or the picture can't be drawn, what Altair returns."""
        drawn = {}
        if alt.renderers.active == "default":
            with alt.data_transformers.enable("default", max_rows=None):
                drawn = render.render_pictures({"figure": self.to_dict()}).get("figure", {})
        if not drawn:
            return super()._repr_mimebundle_(*args, **kwargs)
        return {"image/svg+xml": drawn["svg"].decode(), "image/png": base64.b64encode(drawn["png"]).decode()}


def altair_chart(spec: VegaSpec) -> FigureChart:
    """Return the specification of a figure as an Altair chart, for notebooks."""
    chart: FigureChart = FigureChart.from_dict(spec)
    return chart

"""Charts as Vega-Lite specifications, and their pictures.

A specification holds data and shapes but no colours: those come from the theme when the
picture is made, so one specification serves light and dark pages. vl-convert is loaded at the
first chart only.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from django.core.cache import cache

Spec = dict[str, Any]
Rows = Sequence[dict[str, Any]]

THEMES: dict[str, dict[str, str]] = {
    # The colours of static/css/counterpoint.css.
    "light": {
        "surface": "#ffffff",
        "ink": "#1d1f24",
        "soft": "#565a63",
        "line": "#dfdbd3",
        "first": "#2447b2",
        "second": "#c2751a",
        "third": "#0f7b74",
        "fourth": "#8a3ea8",
        "on_first": "#ffffff",
    },
    "dark": {
        "surface": "#1b1e24",
        "ink": "#eceae6",
        "soft": "#a9afba",
        "line": "#31363f",
        "first": "#9db4ff",
        "second": "#f0bf6a",
        "third": "#6fd3c7",
        "fourth": "#dda6f6",
        "on_first": "#10142a",
    },
}
WIDTHS = {"wide": 520, "middle": 420, "narrow": 300}
CONTENT_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
KEPT_SECONDS = 30 * 24 * 3600
VERSION = 3
# A text with one of these, which XML cannot hold, makes vl-convert abort the whole process.
UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def picture(spec: Spec, *, format: str, theme: str) -> bytes:
    """Draw a chart, or return the picture drawn earlier for the same data and theme."""
    content = json.dumps([VERSION, spec, format, theme, THEMES[theme]], sort_keys=True)
    key = "chart:" + hashlib.sha256(content.encode()).hexdigest()
    drawn = cache.get(key)
    if drawn is None:
        drawn = _draw(spec, format, theme)
        cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def _draw(spec: Spec, format: str, theme: str) -> bytes:
    import vl_convert

    spec = _drawable(spec)
    config = _config(THEMES[theme], is_transparent=format == "svg")
    if format == "png":
        return vl_convert.vegalite_to_png(spec, config=config, scale=3)
    return vl_convert.vegalite_to_svg(spec, config=config).encode()


def _drawable(part: Any) -> Any:
    """The same without characters that no picture can hold."""
    if isinstance(part, str):
        return UNDRAWABLE.sub("", part)
    if isinstance(part, dict):
        return {name: _drawable(each) for name, each in part.items()}
    return [_drawable(each) for each in part] if isinstance(part, (list, tuple)) else part


def _config(colours: dict[str, str], *, is_transparent: bool) -> Spec:
    return {
        "background": "transparent" if is_transparent else colours["surface"],
        "font": FONT,
        "view": {"stroke": None},
        "text": {"fontSize": 12},
        "style": {
            "value": {"color": colours["ink"], "fontSize": 12, "fontWeight": 600},
            "name": {"color": colours["ink"], "fontSize": 12},
            "guide": {"color": colours["soft"], "strokeDash": [3, 3], "strokeWidth": 1},
            "grid": {"color": colours["line"], "strokeWidth": 1},
            "bracket": {"color": colours["soft"], "strokeWidth": 1.25, "strokeCap": "square"},
            "interval": {"strokeWidth": 2.5},
            "sign": {"size": 80, "opacity": 1},
            "soft": {"color": colours["soft"], "fontSize": 12},
            "lead": {"color": colours["soft"], "strokeWidth": 1},
            "on-pale": {"color": colours["ink"], "fontSize": 12},
            "on-deep": {"color": colours["on_first"], "fontSize": 12},
        },
        "range": {
            "category": [colours[each] for each in ("first", "second", "third", "fourth")],
            "ramp": [colours["surface"], colours["first"]],
            "heatmap": [colours["surface"], colours["first"]],
        },
    }

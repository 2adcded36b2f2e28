"""The explorer: one page with every result, that needs no network and no other file."""

import json
import re
from pathlib import Path
from typing import Any

import jinja2

from vnnanalysis.analysis import Analysis
from vnnanalysis.explorer_data import explorer_data
from vnnanalysis.paths import resource

_TEMPLATES = resource("reports", "templates")
_SCRIPTS = ("explorer_state.js", "explorer_figures.js", "explorer_views.js", "explorer.js")
_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def write_explorer(analysis: Analysis, path: Path) -> Path:
    """Write the explorer of an analysis.

    The page shows the analysis's rules first and all variants that its edition compares; it
    holds Plotly's and DataTables' scripts, as plotly and itables ship them. Equal analyses
    give equal bytes.

    Parameters
    ----------
    analysis : Analysis
        From `analysis.analyse`; its selection is what is shown.
    path : Path
        The file; its folder must exist.

    Returns
    -------
    Path
        The file.
    """
    from itables import options  # here, since they take long to import
    from plotly.offline import get_plotlyjs

    bundle = Path(options.dt_bundle)
    loader = jinja2.FileSystemLoader(_TEMPLATES)
    env = jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined)
    data = explorer_data(analysis)
    page = env.get_template("explorer.html.j2").render(
        data=data,
        source=analysis.edition.results,
        payload=embedded_json(data),
        style=inline(_read("explorer.css")),
        script=inline("\n".join(_read(name) for name in _SCRIPTS)),
        table_style=inline(bundle.with_suffix(".css").read_text(encoding="utf-8")),
        table_module=embedded_json(bundle.read_text(encoding="utf-8")),
        plotly=inline(get_plotlyjs()),
    )
    path.write_text(page, encoding="utf-8", newline="\n")
    return path


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def embedded_json(value: Any) -> str:
    r"""Return JSON that may stand inside a script element, whatever texts it has.

    Examples
    --------
    >>> embedded_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_ESCAPES)


def inline(code: str) -> str:
    r"""Return a script or style sheet that cannot end the element it stands in.

    Examples
    --------
    >>> inline("'</script>'")
    "'<\\/script>'"
    """
    return re.sub(r"</(?=script|style)", r"<\\/", code, flags=re.IGNORECASE)

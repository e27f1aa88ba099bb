"""Formulas as MathML, which browsers draw by themselves: pages load nothing from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def converted(node: nodes.Element, inline: bool) -> str:
    """A formula as MathML, by the converter that comes with docutils."""
    return tex2mathml(node.astext(), as_block=not inline)


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """A formula in a line."""
    translator.body.append(f'<span class="math notranslate">{converted(node, True)}</span>')
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.Element) -> None:
    """A formula on a line of its own."""
    translator.body.append(f'<div class="math notranslate">{converted(node, False)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

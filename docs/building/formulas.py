"""Formulas as MathML, which browsers draw without a script."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def setup(app):
    """What Sphinx calls."""

    def draw(display):
        def visit(writer, node):
            writer.body.append(convert(node.astext(), display=display))
            raise SkipNode

        return visit, None

    app.add_html_math_renderer("mathml", draw("inline"), draw("block"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

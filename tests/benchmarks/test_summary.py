"""The README's table is made of the kept results."""

from benchmarks import summary


def test_the_readme_has_the_present_table():
    text = summary.PAGE.read_text("utf-8")
    shown = text[text.index(summary.BEGIN) + len(summary.BEGIN) : text.index(summary.END)]
    assert shown.strip() == summary.table(), "the results have changed: python -m benchmarks.report"


def test_the_readme_has_the_present_first_uses():
    text = summary.PAGE.read_text("utf-8")
    shown = text[text.index(summary.FIRST) + len(summary.FIRST) : text.index(summary.FIRST_END)]
    assert shown.strip() == summary.first_uses(), "the results have changed: python -m benchmarks.report"


def test_peers_are_multiples_of_qad():
    cells = summary.row("title", "trace_product", "complex")
    times = summary.medians("trace_product", "complex")
    assert cells[0] == "title"
    assert cells[3] == f"{times['torch'] / times['qad']:.1f} x"
    assert summary.row("title", "linalg", "svd, 256")[-1] == "–"

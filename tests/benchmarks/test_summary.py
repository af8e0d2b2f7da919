"""The tables of docs/benchmarks.md are made of the kept results."""

from benchmarks import report, summary


def test_the_page_has_the_present_tables():
    assert summary.section() in report.PAGE.read_text("utf-8"), "the results have changed: python -m benchmarks.report"


def test_peers_are_multiples_of_qad():
    cells = summary.row("title", "trace_product", "complex")
    times = summary.medians("trace_product", "complex")
    assert cells[0] == "title"
    assert cells[3] == f"{times['torch'] / times['qad']:.1f} x"
    assert summary.row("title", "linalg", "svd, 256")[-1] == "–"

"""The pages of benchmarks are made of the kept results."""

from benchmarks import report, summary


def test_the_pages_are_those_of_the_kept_results(tmp_path, monkeypatch):
    page = report.PAGE
    monkeypatch.setattr(report, "PAGE", tmp_path / page.name)
    report.write_pages()
    written = {path.name: path.read_text("utf-8") for path in tmp_path.rglob("*.md")}
    kept = {path.name: path.read_text("utf-8") for path in (page, *page.with_suffix("").glob("*.md"))}
    assert written == kept, "the results have changed: python -m benchmarks.report"


def test_peers_are_multiples_of_qad():
    cells = summary.row("title", "trace_product", "complex")
    times = summary.medians("trace_product", "complex")
    assert cells[0] == "title"
    assert cells[3] == f"{times['torch'] / times['qad']:.1f} x"
    assert summary.row("title", "linalg", "svd, 256")[-1] == "–"

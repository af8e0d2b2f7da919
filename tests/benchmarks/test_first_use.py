"""The first minute is measured in fresh processes, and libraries that compute something else are refused."""

import importlib.util
import json

import pytest

from benchmarks import first_use


def test_every_line_is_a_process_with_an_empty_cache(monkeypatch):
    """And what the process says of compilers is counted."""
    seen = []

    def run(command, env, **options):
        seen.append((command[-2:], {env[name] for name in first_use.CACHES}))
        return first_use.subprocess.CompletedProcess(command, 0, '{"import": 1.0, "value": 2.0}\n', "qad: a\nb\n")

    monkeypatch.setattr(first_use.subprocess, "run", run)
    found = [first_use.measured("trace of 3 matrices", library) for library in ("qad", "jax")]
    assert found == [{"import": 1.0, "value": 2.0, "told": 1}] * 2
    assert [what for what, _ in seen] == [["trace of 3 matrices", "qad"], ["trace of 3 matrices", "jax"]]
    assert all(len(folders) == 1 for _, folders in seen)
    assert seen[0][1] != seen[1][1]


def test_a_line_has_all_times(capsys):
    line = first_use.measured("trace of 3 matrices", "qad")
    assert set(line) == {"import", "first", "second", "later", "value", "told"}
    assert all(line[key] > 0 for key in ("import", "first", "second", "later"))
    assert first_use.table({"trace": {"qad": line}}).splitlines()[2].startswith("| trace | qad ")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="needs jax")
def test_jax_computes_the_same():
    lines = {library: first_use.measured("trace of 3 matrices", library) for library in ("qad", "jax")}
    first_use.agree("trace", lines)


def test_who_computes_something_else_is_refused():
    first_use.agree("case", {"qad": {"value": 1.0}, "jax": {"value": 1.0 + 1e-9}, "qulacs": {"value": None}})
    with pytest.raises(RuntimeError, match="case: jax finds 2.0, qad 1.0"):
        first_use.agree("case", {"qad": {"value": 1.0}, "jax": {"value": 2.0}})


def test_the_least_of_every_time_counts():
    rounds = [
        {"first": 2.0, "second": 1.0, "value": 3.0, "told": 1},
        {"first": 1.0, "second": 2.0, "value": 3.0, "told": 1},
    ]
    assert first_use.best(rounds) == {"first": 1.0, "second": 1.0, "value": 3.0, "told": 1}


def test_failures_are_shown(monkeypatch):
    failed = first_use.subprocess.CompletedProcess([], 1, "", "what went wrong")
    monkeypatch.setattr(first_use.subprocess, "run", lambda *args, **options: failed)
    with pytest.raises(RuntimeError, match="what went wrong"):
        first_use.measured("trace of 3 matrices", "qad")


def test_results_are_written(monkeypatch, tmp_path, capsys):
    times = {"import": 0.2, "first": 0.1, "second": 1e-3, "later": 2e-3, "value": 1.0, "told": 0}
    monkeypatch.setattr(first_use, "measured", lambda case, library: times)
    path = tmp_path / "first_use.json"
    first_use.main(["trace of 3 matrices", "--only", "qad", "--rounds", "2", "--json", str(path)])
    assert json.loads(path.read_text())["cases"]["trace of 3 matrices"]["qad"]["import"] == 0.2
    row = ["trace of 3 matrices", "qad", "200 ms", "100 ms", "1 ms", "2 ms", "0"]
    assert [cell.strip() for cell in capsys.readouterr().out.splitlines()[2].split("|")[1:-1]] == row
    page = first_use.section(json.loads(path.read_text()))
    assert page.startswith("## first_use\n\n**The first minute")
    assert "trace of 3 matrices" in page
    assert "numpy" in page

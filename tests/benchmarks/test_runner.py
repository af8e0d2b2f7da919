"""The benchmark runner: it must refuse contenders that disagree, and report what ran and what did not."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks import NAMES, __main__, report, runner
from benchmarks.case import Case, Contender

ROOT = Path(__file__).parents[2]


def cube(scale=1.0, **options):
    """A contender for the value and gradient of x^3 at x = 2, its gradient off by a factor."""
    x = np.full(3, 2.0)
    return Contender(setup=lambda: lambda: ((x**3).sum(), [scale * 3 * x**2]), **options)


def results_of(*cases):
    module = ModuleType("benchmarks.cubes", "Cubes of numbers.\n\nHow they are made.\n")
    module.cases = lambda: cases
    return runner.run(module, threads=1, repeats=3)


@pytest.fixture
def results():
    hand = cube(name="by hand", baseline=True, forward=lambda: lambda: 24.0)
    absent = cube(name="absent", needs="a_package_that_is_not_there")
    bare = Contender("value alone", lambda: lambda: (24.0, None), most_rounds=2)
    return results_of(Case("small", [bare, hand, cube(name="qad"), absent], operations=3))


def test_every_contender_that_is_there_is_timed(results):
    (case,) = results["cases"]
    assert [entry["contender"] for entry in case["results"]] == ["value alone", "by hand", "qad"]
    assert [entry["samples"] for entry in case["results"]] == [2, 3, 3]
    assert all(0 < entry["minimum"] <= entry["median"] for entry in case["results"])
    assert results["environment"]["threads"] == 1


@pytest.mark.parametrize("wrong", [2.0, -1.0, np.ones((2, 1))])
def test_a_wrong_gradient_stops_the_run(wrong):
    case = Case("wrong", [cube(name="right"), cube(wrong, name="wrong")])
    with pytest.raises(runner.Disagreement, match="'wrong' and 'right' differ"):
        results_of(case)


def test_a_wrong_value_alone_stops_the_run():
    case = Case("wrong", [cube(name="right"), cube(name="wrong", forward=lambda: lambda: 25.0)])
    with pytest.raises(runner.Disagreement):
        results_of(case)


def test_the_table_relates_all_to_qad_and_to_the_baseline(results):
    table = report.rows(results["cases"][0])
    assert table[0][0] == ""
    assert {"per operation", "/ qad", "/ by hand", "value alone", "gradient / value"} <= set(table[0])
    ratios = {line[0]: line[table[0].index("/ qad")] for line in table[1:]}
    assert ratios["qad"] == "1.00"
    lines = report.markdown(table).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) == 5


@pytest.mark.parametrize("seconds, shown", [(3.14159, "3.14 s"), (0.0314, "31.4 ms"), (2.5e-4, "250 µs")])
def test_durations_have_three_digits(seconds, shown):
    assert report.duration(seconds) == shown


def test_the_report_is_written_from_the_json(results, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "NAMES", ("cubes",))
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    report.write_json(results, tmp_path / "cubes.json")
    report.write_plot(results, tmp_path / "cubes.png")
    report.write_pages()
    assert json.loads((tmp_path / "cubes.json").read_text("utf-8")) == results
    assert (tmp_path / "cubes.png").stat().st_size > 0
    page = (tmp_path / "page" / "cubes.md").read_text("utf-8")
    assert "Cubes of numbers." in page
    assert page.startswith("# ")
    first = (tmp_path / "page.md").read_text("utf-8")
    assert "| [cubes](benchmarks/cubes.md) |" in first
    assert "\n## At a glance\n" in first
    assert "\n## First calls\n" in first
    assert report.markdown(report.rows(results["cases"][0])) in page
    assert "`python -m benchmarks cubes`" in page


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["nonsense"], "no benchmark 'nonsense'"),
        (["--threads", "0"], "at least 1"),
        (["overhead", "--repeats", "-3"], "at least 1"),
        (["--json", "all.json"], "need {name}"),
    ],
)
def test_nonsense_on_the_command_line_is_refused(arguments, complaint, capsys):
    with pytest.raises(SystemExit):
        __main__.parse(arguments)
    assert complaint in capsys.readouterr().err


def test_threads_are_set_before_numpy_is_imported():
    with pytest.raises(RuntimeError, match="imported already"):
        __main__.limit_threads(1)


def test_the_command_line_lists_the_benchmarks():
    command = [sys.executable, "-m", "benchmarks", "--list"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    assert all(name in run.stdout for name in NAMES)
    assert "missing: " in run.stdout

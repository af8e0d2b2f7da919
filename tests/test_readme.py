"""The README says what is true: its examples run, and its commands are two."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_examples_run(capsys):
    names = {}
    for block in blocks("python"):
        exec(block, names)
    assert capsys.readouterr().out == "".join(blocks("text"))
    assert len(names["gradient"].tensors) == 20


def test_the_commands_are_two_single_lines():
    commands = blocks("sh")
    assert [command.count("\n") for command in commands] == [1, 1]
    example, tests = commands
    assert all("-m venv" in command for command in commands)
    assert "examples/mps/01_heisenberg_ground_state.py" in example
    assert "-m pytest" in tests


def test_the_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        path, _, anchor = target.partition("#")
        assert (ROOT / path).exists(), target
        assert not anchor or anchor in anchors((ROOT / path).read_text("utf-8")), target


def anchors(text):
    """What the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]

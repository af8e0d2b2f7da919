"""The tables of index.md are the table of contents: each of their links is an entry, under its heading."""

import re

HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
LINK = re.compile(r"^\| \[([^]]+)\]\(([^)#]+)\.(?:md|ipynb)\)", re.MULTILINE)
FIRST = re.compile(r"^\|---\|---\|\n", re.MULTILINE)  # where the table of the first pages begins
TREE = """
```{{toctree}}
:hidden:
:caption: {heading}

{entries}
```
"""


def contents(app, docname, source):
    """Add what the sidebar shows to the pages that list others."""
    if docname == "benchmarks":
        entries = [page for _, page in LINK.findall(source[0])]
        source[0] += TREE.replace(":caption: {heading}\n", "").format(entries="\n".join(entries))
    if docname != "index":
        return
    source[0] = FIRST.sub(
        r"\g<0>| [API](reference/index.rst) | every public name, by task, with its example |\n", source[0], 1
    )
    parts = HEADING.split(source[0])
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        entries = [f"{title} <{page}>" for title, page in LINK.findall(text)]
        if heading == "Start here":
            entries.insert(0, "API <reference/index>")
        if entries:
            source[0] += TREE.format(heading=heading, entries="\n".join(entries))


def setup(app):
    """What Sphinx calls."""
    app.connect("source-read", contents, priority=600)  # after links to the root are led to their pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Links that a guide need not write: names of qad in code type lead to the reference, pages of the root to copies."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

ROOT = {  # pages in docs/project
    "README.md": "readme",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "SECURITY.md": "security",
}
NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*(?=\(.*\)$|$)")
TARGET = re.compile(r"\]\((?!https?:|#)([^)]*)\)")
PLACES = ("", "qad.", "qad.linalg.", "qad.mps.", "qad.extend.")


class Names(SphinxPostTransform):
    """Makes links of names in code type that the reference has: ``qad.linalg.svd``, and `svd` on its own page."""

    default_priority = 5

    def run(self):
        objects = self.env.domains["py"].objects
        here = self.env.docname.removeprefix("reference/") + "."
        for node in list(self.document.findall(nodes.literal)):
            found = NAME.match(node.astext())
            if not found or isinstance(node.parent, nodes.reference):
                continue
            name = found[0]
            places = (here, *PLACES) if here.startswith("qad") else PLACES[:1]
            target = next((place + name for place in places if place + name in objects), None)
            if target and "." in target:
                docname, anchor = objects[target].docname, objects[target].node_id
                link = make_refnode(self.app.builder, self.env.docname, docname, anchor, node.deepcopy(), target)
                node.replace_self(link)


class Types(SphinxTransform):
    """Leaves words of types alone that are no classes: the `real` of "real array" is not the function."""

    default_priority = 100

    def apply(self):
        for node in list(self.document.findall(pending_xref)):
            word = node.get("reftarget", "").rpartition(".")[2]
            if node.get("refdomain") == "py" and node.get("reftype") == "class":
                node.attributes.pop("refspecific", None)
                if not word[:1].isupper():
                    node.replace_self(nodes.emphasis(word, word))


def of_root(app, docname, source):
    """Lead links to files of the root to the pages that have their text."""
    for file, name in ROOT.items():
        source[0] = source[0].replace(f"](../{file}", f"](project/{name}.md")


def copy(app):
    """Write the pages that have the text of files of the root, with links as seen from docs/project."""
    folder = Path(app.srcdir) / "project"
    for file, name in ROOT.items():
        text = (folder.parent.parent / file).read_text(encoding="utf-8")
        write(folder / f"{name}.md", TARGET.sub(lambda found: f"]({lead(found[1])})", text))


def lead(target):
    """A link of a file of the root, as seen from docs/project."""
    file, mark, anchor = target.partition("#")
    if file in ROOT:
        return f"{ROOT[file]}.md{mark}{anchor}"
    return f"../{target.removeprefix('docs/')}" if target.startswith("docs/") else f"../../{target}"


def write(path, text):
    """Write a page, unless it says so already: what has not changed is not built again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    """What Sphinx calls."""
    app.add_transform(Types)
    app.add_post_transform(Names)
    app.connect("builder-inited", copy)
    app.connect("source-read", of_root)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

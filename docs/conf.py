"""How the site is built: `python -m sphinx -W docs docs/_build`."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from building.reference import BRIDGED  # noqa: E402

import qad  # noqa: E402

project, author, copyright = "qad", "The qad developers", "2026, the qad developers"
version = release = qad.__version__

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton",
    "building.contents", "building.formulas", "building.links",
    "building.reference",
]  # fmt: skip
exclude_patterns = ["building", "_build"]
default_role = "code"  # `x` in a docstring
html_theme, html_title = "furo", "qad"
html_static_path, html_css_files = ["building/static"], ["site.css"]
html_math_renderer = "mathml"  # formulas are part of the page: no script, no network
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
copybutton_exclude = ".linenos, .gp, .go"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks come with their results; tests run them

autodoc_mock_imports = BRIDGED
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_inherit_docstrings = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

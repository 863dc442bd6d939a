"""How Sphinx builds the site (`make site`): nothing comes from the network, for the build or for readers."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "figures")]

project = "samekind"
author = "the samekind developers"
copyright = "the samekind developers"
release = version = "0.1"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "figures", "results/*.html"]
root_doc = "index"
highlight_language = "none"  # of blocks that do not say: commands

# Markdown, with links to headings as GitHub makes them: the pages are read there, too
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"] if os.environ.get("SAMEKIND_SITE_DRAFT") else []

# The reference comes from docstrings
autosummary_generate = True
autodoc_default_options = {"members": True, "show-inheritance": False}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_use_unqualified_type_names = True

# Pictures of the concept pages are drawn when the site is built, by the code that they speak of
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 100)]
plot_rcparams = {
    "figure.figsize": (7.2, 3.4),
    "figure.facecolor": "none",
    "axes.facecolor": "white",
    "font.size": 9,
    "svg.hashsalt": "samekind",
}
plot_apply_rcparams = True

# The gallery: every example is run
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,  # its page loads scripts from elsewhere
    "min_reported_time": 10**9,
    "remove_config_comments": True,
    "show_signature": False,
    "copyfile_regex": r".*\.rst",
    "within_subsection_order": "FileNameSortKey",
    "ignore_pattern": r"dask_cluster\.py$" if os.environ.get("SAMEKIND_SITE_DRAFT") else r"^$",
}

html_theme = "pydata_sphinx_theme"
html_title = "samekind"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {
    "index": [],
    "results/README": [],
}  # nothing to navigate to, and wide tables
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
}
linkcheck_ignore = [r"https?://"]  # the build has no network: links within the site are checked


def setup(app: Any) -> None:
    """Write the reference of the command line before Sphinx looks for pages."""
    app.connect("builder-inited", _write_reference)


def _write_reference(app: Any) -> None:
    from build_reference import write_reference

    write_reference(Path(app.srcdir))

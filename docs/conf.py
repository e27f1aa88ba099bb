"""How the documentation is built: Markdown pages, executed examples, reference from docstrings."""

import echofold

project = "echofold"
author = "the echofold developers"
copyright = f"2026, {author}"
version = release = echofold.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The reference lists what `echofold.__all__` exports and nothing else.
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "echofold"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False

"""How the documentation is built: pages and examples that run, reference from docstrings."""

import inspect
import sys
import warnings
from pathlib import Path

from sphinx.util.inspect import stringify_signature

import echofold

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# Examples show what is warned of, and not where in the folders of this build.
warnings.formatwarning = lambda message, category, *_: f"{category.__name__}: {message}\n"

project = "echofold"
author = "the echofold developers"
copyright = f"2026, {author}"
version = release = echofold.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "blocks",
    "mathml",
    "results",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_results"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_imported_members = True
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
    "show_signature": False,
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "capture_repr": (),
    "image_srcset": ["2x"],
    "thumbnail_size": (640, 448),  # twice what is shown, for sharp lines
}

html_theme = "pydata_sphinx_theme"
html_title = "echofold"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_sidebars = {"index": [], "start": []}  # pages without neighbours
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
html_use_index = False  # the search finds names, and the reference lists them


def signature_of(app, what, name, obj, options, signature, returned):
    """Parameters of classes whose ``__new__`` only looks at names, which autodoc would show."""
    if what == "class" and signature == "(*args, **options)":
        signature = stringify_signature(inspect.signature(obj), show_annotation=False)
    return signature, None


def setup(app):
    """Tell Sphinx."""
    app.connect("autodoc-process-signature", signature_of)

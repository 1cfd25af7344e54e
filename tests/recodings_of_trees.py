"""The recodings that publish trees, and models on records alone: all but the one that takes rows alone.

``slicing_by_table`` needs a model on every sensitive field, and a risk to be accepted; tests of it are in
``test_slicing_by_table.py``.
"""

from __future__ import annotations

from hierdata.release.recodings import RECODINGS

TREE_RECODINGS = [name for name in RECODINGS if name != "slicing_by_table"]

"""Singling out, linkability, inference and downcoding, measured against a control (DECISION 49).

The risks are those of Article 29 WP 216, measured as in Giomi et al., "A Unified Framework for Quantifying
Privacy Risk in Synthetic Data" (2023), whose names ``anonymeter`` has. It sees published files as a reader
does: no partition, no class of a search.
"""

from __future__ import annotations

"""A bar in a line of text, for terminals."""

from __future__ import annotations

FULL, EMPTY = "█░"
LENGTH = 20
"""Characters of a bar."""


def draw_bar(share: float, length: int = LENGTH) -> str:
    """Draw a share of 1 as a bar; it is empty or full only where the share is 0 or 1.

    >>> draw_bar(0.001, 5), draw_bar(0.5, 6), draw_bar(0.999, 5), draw_bar(1.0, 5)
    ('█░░░░', '███░░░', '████░', '█████')
    """
    filled = round(share * length)
    if 0 < share < 1:
        filled = min(max(filled, 1), length - 1)
    return FULL * filled + EMPTY * (length - filled)

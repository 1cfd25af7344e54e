"""Promises in plain words, and what stands below them: the exact statement."""

from __future__ import annotations

import re

from hierdata.privacy.base import EXACTLY


def split_sentences(text: str) -> list[str]:
    """Split what our sentences say.

    >>> split_sentences("A value may be 1.5. So be it.")
    ['A value may be 1.5.', 'So be it.']
    """
    return re.split(r"(?<=\.) (?=[A-Z])", text)


def split_plain(text: str) -> tuple[str, str]:
    """Return what a promise says in plain words, and the exact rest.

    Where it does not say what is exact, its first two sentences are the plain ones.

    >>> split_plain("Some can guess it. Exactly: no value has a larger share.")
    ('Some can guess it.', 'no value has a larger share.')
    """
    plain, exact = split_exact(text)
    if exact:
        return plain, exact
    sentences = split_sentences(text)
    return " ".join(sentences[:2]), " ".join(sentences[2:])


def split_exact(text: str) -> tuple[str, str]:
    """Return what a model promises in plain words, and what it says is exact; '' where it does not say."""
    plain, _, exact = text.partition(EXACTLY)
    return plain.rstrip(), exact

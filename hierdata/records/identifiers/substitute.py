"""Substitutes: tokens that look like the values that they stand for, by a keyed permutation of each form.

The form of a text keeps its length, the places of its digits and letters, the case of letters, and every
other character. The texts of one form are numbered, and the numbers are permuted by a Feistel network whose
round function is HMAC-SHA-256 under a key of the domain: alternately one half is moved by what the other half
and the number of the round give. The halves are numbers below a and below b, with a * b just above the number
of texts; a result beyond it is permuted again until it is not (cycle walking). That leaves a permutation of
exactly the texts of the form. Different forms are permuted independently.

This is the construction of format-preserving encryption (Black and Rogaway, CT-RSA 2002; Bellare, Ristenpart,
Rogaway and Stegers, SAC 2009), with more rounds than NIST SP 800-38G asks for. It is not FF1, and no
validated module. As there, a form with fewer than a million texts is refused: so few could be tried.

It is no hash: whoever has the key can undo it.
"""

from __future__ import annotations

import hmac
import string
from math import isqrt

from hierdata.records.identifiers.base import RefusedValueError

LEAST_TEXTS = 1_000_000
"""The fewest texts of a form that is permuted: the bound of NIST SP 800-38G, revision 1."""
_ROUNDS = 20
_LONGEST = 256
"""The longest text: its number of texts of a form has at most 1,204 bits."""
_ALPHABETS = {
    **dict.fromkeys(string.digits, string.digits),
    **dict.fromkeys(string.ascii_lowercase, string.ascii_lowercase),
    **dict.fromkeys(string.ascii_uppercase, string.ascii_uppercase),
}


def find_form(text: str) -> str:
    """Return the form of a text: 0 for digits, a and A for letters, all else as it is.

    >>> find_form("Ab-1049/x")
    'Aa-0000/a'
    """
    return "".join(_ALPHABETS[char][0] if char in _ALPHABETS else char for char in text)


def count_texts(text: str) -> int:
    """Return how many texts have the form of a text.

    >>> count_texts("A-10")
    2600
    """
    count = 1
    for char in text:
        count *= len(_ALPHABETS.get(char, " "))
    return count


class Substitution:
    """The permutations of all forms under one key.

    >>> found = Substitution(bytes(32)).substitute("AB-104923")
    >>> find_form(found), found != "AB-104923"
    ('AA-000000', True)
    """

    def __init__(self, key: bytes, least: int = LEAST_TEXTS) -> None:
        self._key = key
        self._least = least

    def substitute(self, text: str) -> str:
        """Return the token of a text. Raises RefusedValueError, which does not quote it."""
        if len(text) > _LONGEST:
            raise RefusedValueError(f"a substitute has at most {_LONGEST} characters: this value has more")
        if any(char.isalnum() and char not in _ALPHABETS for char in text):
            raise RefusedValueError(
                "this value has letters or digits other than A to Z, a to z and 0 to 9, which would stay as "
                "they are: take a pseudonym without `form: keep`"
            )
        size = count_texts(text)
        if size < self._least:
            raise RefusedValueError(
                f"fewer than {self._least:,} texts have the form of this value, so that they could be tried: "
                "take a pseudonym without `form: keep`"
            )
        number = self._permute(_number_of(text), size, find_form(text))
        return _text_of(number, text)

    def _permute(self, number: int, size: int, form: str) -> int:
        """Return the number below ``size`` that a number becomes, walking past those above."""
        first = isqrt(size - 1) + 1
        second = -(-size // first)
        width = max(first, second).bit_length() // 8 + 1
        tweak = form.encode("utf-8", "surrogatepass")
        while True:
            high, low = divmod(number, second)
            for step in range(0, _ROUNDS, 2):
                high = (high + self._draw(step, low, width, tweak)) % first
                low = (low + self._draw(step + 1, high, width, tweak)) % second
            number = high * second + low
            if number < size:
                return number

    def _draw(self, step: int, half: int, width: int, tweak: bytes) -> int:
        """Return the output of the round function, 128 bits longer than a half: no remainder is favoured."""
        message = len(tweak).to_bytes(2) + tweak + step.to_bytes(1) + half.to_bytes(width)
        blocks = [
            hmac.digest(self._key, block.to_bytes(2) + message, "sha256")
            for block in range(-(-(width + 16) // 32))
        ]
        return int.from_bytes(b"".join(blocks))


def _number_of(text: str) -> int:
    """Return the place of a text among those of its form."""
    number = 0
    for char in text:
        if (alphabet := _ALPHABETS.get(char)) is not None:
            number = number * len(alphabet) + alphabet.index(char)
    return number


def _text_of(number: int, like: str) -> str:
    """Return the text at a place among those of the form of another."""
    chars = []
    for char in reversed(like):
        alphabet = _ALPHABETS.get(char)
        if alphabet is not None:
            number, position = divmod(number, len(alphabet))
            char = alphabet[position]
        chars.append(char)
    return "".join(reversed(chars))

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hierdata.drafting.spectrum import Spectrum, mixed

HASHES = st.lists(st.integers(0, 2**64 - 1), max_size=40).flatmap(
    lambda values: st.lists(st.sampled_from(values or [0]), max_size=200)
)


def of(values: list[int], most: int, cuts: int = 1) -> Spectrum:
    spectrum = Spectrum(most)
    for part in np.array_split(np.array(values, np.uint64), cuts):
        spectrum.add(part)
    return spectrum


def figures(spectrum: Spectrum) -> tuple[object, ...]:
    sizes = (2, 3, 10**9)
    return (
        spectrum.distinct,
        spectrum.largest,
        spectrum.exact,
        [(spectrum.below(size), spectrum.error(size)) for size in sizes],
    )


@given(HASHES)
def test_few_values_are_counted_exactly(values: list[int]) -> None:
    spectrum = of(values, 64)
    counts = Counter(values)
    assert spectrum.exact
    assert spectrum.distinct == len(counts)
    assert spectrum.largest == max(counts.values(), default=0)
    for size in (1, 2, 5):
        assert spectrum.below(size) == sum(count for count in counts.values() if count < size)
        assert spectrum.error(size) == 0


@given(HASHES, st.integers(1, 8), st.integers(1, 7), st.randoms(use_true_random=False))
def test_neither_order_nor_parts_matter(values: list[int], most: int, cuts: int, random: object) -> None:
    whole = figures(of(values, most))
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert figures(of(shuffled, most, cuts)) == whole
    first, second = of(shuffled[::2], most), of(shuffled[1::2], most)
    first.merge(second)
    assert figures(first) == whole
    assert len(first._keys) <= most


def test_many_values_are_estimated_within_their_error() -> None:
    """A third of the occurrences are those of values that occur once, among 300,000."""
    draw = np.random.Generator(np.random.Philox(7))
    once = draw.integers(1, 2**64 - 1, 100_000, np.uint64)
    five = np.repeat(draw.integers(1, 2**64 - 1, 40_000, np.uint64), 5)
    values = np.concatenate([once, five])
    draw.shuffle(values)
    spectrum = Spectrum(1 << 12)
    for part in np.array_split(values, 50):
        spectrum.add(part)
    assert not spectrum.exact
    assert abs(spectrum.below(2) - 100_000) < 3 * spectrum.error(2) < 20_000
    assert abs(spectrum.below(6) - 300_000) < 3 * spectrum.error(6) < 40_000
    assert abs(spectrum.distinct - 140_000) < 15_000


def test_a_pair_is_mixed_in_its_order() -> None:
    left, right = np.arange(1000, dtype=np.uint64), np.zeros(1000, np.uint64)
    assert len({*mixed(left, right).tolist(), *mixed(right, left).tolist()}) == 1999

"""Losses near 2^62: the common denominator of all LM' is as large as it is kept exact."""

from __future__ import annotations

import random

import numpy as np

from hierdata.domains import DOMAINS
from hierdata.engines.compose.run import _ROOMS, _Work
from hierdata.forest.forest import Scope
from hierdata.privacy import MODELS
from tests.small_tables import table

PRIMES = (1048573, 524287, 131071)
ROWS = 12


def test_rooms_of_compose_fit_into_64_bits() -> None:
    """A room that wrapped around let a change of any loss pass, or none."""
    rng = random.Random(1)
    domains = [DOMAINS["interval"](steps=[1, 5000], domain=[0, prime]) for prime in PRIMES]
    quasi = [[rng.choice((0, 1, prime - 1)) for prime in PRIMES] for _ in range(ROWS)]
    own = table(domains, quasi, [[rng.randint(1, 3)] for _ in range(ROWS)])
    assert own.forest.scale > 2**55
    constraints = own.bind(MODELS["k-anonymity"](k=2))
    scope = Scope.of(own.forest, own.kind)
    work = _Work(own.forest, scope, constraints, np.random.default_rng(1))
    assert max(work._heats(60)) * int(_ROOMS.max()) < 2**63

"""Success rates of attacks, with Wilson intervals, and what is left of them beyond a control."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, NamedTuple

Z = 1.959963984540054
"""The quantile of the normal distribution for intervals at 95 %."""
LEAST_CONTROL = 385
"""Records of a control for which half of an interval is at most 0.05, whatever the rate."""


class SuccessRate(NamedTuple):
    """An estimate 0..1 of a rate, and half the width of its interval at 95 %."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The interval within 0..1."""
        return _clamp(self.value - self.error), _clamp(self.value + self.error)


def estimate_rate(attacks: float, successes: float) -> SuccessRate:
    """Estimate a rate by Wilson's score interval (1927), whose centre is the estimate.

    >>> rate = estimate_rate(1000, 0)
    >>> round(rate.value, 4), rate.interval[0]
    (0.0019, 0.0)
    """
    below = attacks + Z * Z
    spread = successes * (attacks - successes) / attacks
    return SuccessRate((successes + Z * Z / 2) / below, Z / below * sqrt(spread + Z * Z / 4))


def find_residual(attack: SuccessRate, control: SuccessRate) -> SuccessRate:
    """Return (attack - control) / (1 - control), not below 0, with its propagated error (Giomi 2023, 3.2)."""
    room = 1 - control.value
    value = (attack.value - control.value) / room
    by_control = (attack.value - 1) / room**2
    return SuccessRate(_clamp(value), sqrt((attack.error / room) ** 2 + (control.error * by_control) ** 2))


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@dataclass(frozen=True)
class MeasuredRisk:
    """What attacks of one sort achieved with a number of facts, under the names of ``anonymeter``.

    ``n_attacks`` were made, ``n_success`` were right, ``n_baseline`` of as many by chance alone;
    ``n_control`` of ``n_attacks_control`` against individuals who are not in the release, None without any.
    ``n_refused`` attacks made no guess, since nothing spoke for one; the others were right or wrong.
    ``by`` says which readers: see the functions that measure. ``on`` is the attribute, where there is one.
    """

    risk: str
    by: str
    facts: int
    n_attacks: int
    n_success: int
    n_baseline: float
    n_control: float | None = None
    n_attacks_control: int = 0
    on: str | None = None
    n_refused: int = 0

    @property
    def n_wrong(self) -> int:
        """The number of guesses that were made and wrong."""
        return self.n_attacks - self.n_success - self.n_refused

    @property
    def refusal_rate(self) -> SuccessRate | None:
        """The rate of attacks without a guess; None if none could be made."""
        return estimate_rate(self.n_attacks, self.n_refused) if self.n_attacks else None

    @property
    def attack_rate(self) -> SuccessRate | None:
        """The rate of right attacks; None if none could be made."""
        return estimate_rate(self.n_attacks, self.n_success) if self.n_attacks else None

    @property
    def baseline_rate(self) -> SuccessRate | None:
        """The rate of attacks by chance."""
        return estimate_rate(self.n_attacks, self.n_baseline) if self.n_attacks else None

    @property
    def control_rate(self) -> SuccessRate | None:
        """The rate against the control; None without one."""
        if self.n_control is None or not self.n_attacks_control:
            return None
        return estimate_rate(self.n_attacks_control, self.n_control)

    @property
    def value(self) -> float:
        """The risk 0..1: the residual rate with a control, else the attack rate; 0 without attacks."""
        return self._risk.value

    @property
    def raw_value(self) -> float:
        """The risk as it was observed, without Wilson's correction of small numbers: what gates limit."""
        attack = self.n_success / self.n_attacks if self.n_attacks else 0.0
        if self.n_control is None or not self.n_attacks_control:
            return attack
        control = self.n_control / self.n_attacks_control
        return 0.0 if control >= 1 else _clamp((attack - control) / (1 - control))

    @property
    def ci(self) -> tuple[float, float]:
        """The interval of the risk at 95 %."""
        return self._risk.interval

    @property
    def _risk(self) -> SuccessRate:
        attack, control = self.attack_rate, self.control_rate
        if attack is None:
            return SuccessRate(0.0, 0.0)
        return attack if control is None else find_residual(attack, control)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, with rates and risk."""
        names = ("attack_rate", "baseline_rate", "control_rate", "refusal_rate")
        rates = {name: getattr(self, name) for name in names}
        return {
            **asdict(self),
            "n_wrong": self.n_wrong,
            **{name: None if rate is None else rate._asdict() for name, rate in rates.items()},
            "value": self.value,
            "ci": list(self.ci),
        }

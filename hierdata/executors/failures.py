"""Exceptions passed from a worker to the caller: the same class and attributes, without tracebacks."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

from hierdata.ground.plugins import FAULT, fault_of


class Failure(NamedTuple):
    """An exception that a task raised, pickled without traceback and causes, which may show raw values.

    ``fault`` says where in a plug-in's code it was raised, if it was there (see ``plugins.fault_of``).
    """

    pickled: bytes
    fault: str | None = None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Pickle an exception; one that cannot be pickled is reported by the name of its class."""
        import cloudpickle

        if isinstance(error, MemoryError):  # what its message needs may not be there
            return cls(pickle.dumps(MemoryError()), fault_of(error))
        for packed in (error, _Rebuilt(error)):
            try:
                pickled = cloudpickle.dumps(packed)
                if _same(cls(pickled).error(), error):
                    return cls(pickled, fault_of(error))
            except Exception:  # noqa: BLE001, S112  # whatever a foreign class raises, the next form is tried
                continue
        told = RuntimeError(f"a task ended with {type(error).__name__}")
        return cls(pickle.dumps(told), fault_of(error))

    def error(self) -> BaseException:
        """Return the exception, ready to be raised."""
        error: BaseException = pickle.loads(self.pickled)  # from our own worker
        if self.fault is not None:
            vars(error)[FAULT] = self.fault
        return error


class _Rebuilt:
    """Pickles an exception with an ``__init__`` that does not accept ``args``: it is rebuilt without it."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self._error), self._error.args, self._error.__dict__)


def _rebuild(
    kind: type[BaseException], arguments: tuple[Any, ...], attributes: dict[str, Any]
) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


def _same(one: BaseException, other: BaseException) -> bool:
    return (
        type(one) is type(other) and str(one) == str(other) and one.__dict__.keys() == other.__dict__.keys()
    )

"""What compiled code returns becomes Python objects without running Python code.

A signal is handled as soon as any Python function runs, also one that compiled code calls. numba unpickles
the class of every array and named tuple that it returns, by a Python function, and makes named tuples by
another; it does not check whether one of them ended with an exception. So a handler that raises, such as that
of Ctrl-C, could end the process with a segmentation fault. Here classes are looked up in their modules, and
named tuples are made as tuples are: by functions of C alone. The handler runs once the kernel has returned.
"""

from __future__ import annotations

import sys
from typing import Any

from numba.core import boxing, pythonapi, types

_TUPLES = (types.NamedTuple, types.NamedUniTuple)


def box_without_python() -> None:
    """Let numba make what compiled code returns without running Python code."""
    private: Any = pythonapi
    api = private.PythonAPI
    if api.serialize_object is _serialize:
        return
    _usual.update(serialize=api.serialize_object, unserialize=api.unserialize)
    api.serialize_object, api.unserialize = _serialize, _unserialize
    for kind in _TUPLES:
        private._boxers.functions[kind] = _box_named_tuple


_usual: dict[str, Any] = {}
"""numba's own functions, for all that is no class with a name in its module."""


def _serialize(api: Any, value: Any) -> Any:
    """Return a class itself where code can look it up by its name, else numba's constant."""
    if isinstance(value, type):
        home = sys.modules.get(value.__module__)
        if getattr(home, value.__qualname__, None) is value:
            return value
    return _usual["serialize"](api, value)


def _unserialize(api: Any, value: Any) -> Any:
    """Emit code that returns what ``_serialize`` was given."""
    if isinstance(value, type):
        return _look_up(api, value)
    return _usual["unserialize"](api, value)


def _look_up(api: Any, wanted: type) -> Any:
    home = api.import_module(api.context.insert_const_string(api.module, wanted.__module__))
    found = api.object_getattr_string(home, wanted.__qualname__)
    api.decref(home)
    return found


def _box_named_tuple(kind: Any, value: Any, c: Any) -> Any:
    """Emit code for ``tuple.__new__(kind, items)``: the constructor of a named tuple is a Python function."""
    own = _unserialize(c.pyapi, _serialize(c.pyapi, kind.instance_class))
    plain, items = _look_up(c.pyapi, tuple), boxing.box_tuple(kind, value, c)
    made = c.pyapi.call_method(plain, "__new__", (own, items))
    for one in (own, plain, items):
        c.pyapi.decref(one)
    return made

"""How much each kernel is optimized, and which kernels become machine code of their own.

What compiled code returns becomes Python objects without running Python code. A signal is handled as soon as
any Python function runs, also one that compiled code calls. numba unpickles the class of every array and
named tuple that it returns, by a Python function, and makes named tuples by another; it does not check
whether one of them ended with an exception. So a handler that raises, such as that of Ctrl-C, could end the
process with a segmentation fault. Here classes are looked up in their modules, and named tuples are made as
tuples are: by functions of C alone. The handler runs once the kernel has returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite.binding.newpassmanagers import create_new_function_pass_manager
from numba.core import boxing, pythonapi, typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import DEFAULT_FLAGS, Compiler, Flags
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
    counted = -1

    def refresh_changed() -> None:
        nonlocal counted
        if _count_rules(context) != counted:
            refresh()
            counted = _count_rules(context)

    context.refresh = refresh_changed


def _count_rules(context: Any) -> int:
    """Return how many rules the registries of a context have."""
    return sum(
        len(rules)
        for registry in context._registries
        for rules in vars(registry).values()
        if isinstance(rules, list)
    )


class Needed(NamedTuple):
    """A kernel whose machine code is called by its symbol, as it is found again in another process."""

    module: str
    name: str
    types: tuple[Any, ...]
    symbol: str


class _Code(JITCodeLibrary):
    """The machine code of a kernel, with that of the kernels that it calls, except those called by symbol."""

    def __init__(self, codegen: Any, name: str) -> None:
        base: Any = super()
        base.__init__(codegen, name)
        self.needs: list[Needed] = []

    def add_linking_library(self, library: Any) -> None:
        """Take in the code of a callee, or note that it must be in memory first."""
        shared = getattr(library, "shared", None)
        if shared is None:
            self.needs += getattr(library, "needs", ())
            base: Any = super()
            base.add_linking_library(library)
        else:
            library._ensure_finalized()
            self.needs.append(shared)


class _BranchingCode(_Code):
    """The machine code of a lean kernel, with the code of all kernels that it calls by name."""

    def _optimize_final_module(self) -> None:
        """Optimize once, at level 2 and without vectors: more takes long, and branches gain nothing by it.

        numba optimizes cheaply first, to find operations of reference counting that it can leave out; lean
        kernels have none.
        """
        code: Any = self
        manager, builder = code._codegen._module_pass_manager(
            opt=2, loop_vectorize=False, slp_vectorize=False
        )
        manager.run(code._final_module, builder)

    def _optimize_functions(self, module: Any) -> None:
        """Tidy up each function; all are optimized together."""
        _tidy_functions(self, module)


class _InnerCode(_Code):
    """The code of a kernel that only other kernels call: it becomes machine code as a part of theirs."""

    @property
    def codegen(self) -> Any:
        """The generator of machine code, which does not know this code."""
        return _NO_GENERATOR

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: no function has an address of its own."""
        code: Any = self
        code._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk."""
        code: Any = self
        return code.serialize_using_bitcode()

    def _optimize_functions(self, module: Any) -> None:
        """Tidy up each function; it is optimized where it is called."""
        _tidy_functions(self, module)

    def _optimize_final_module(self) -> None:
        """Do nothing."""

    def _finalize_final_module(self) -> None:
        """Make no machine code."""
        code: Any = self
        code._finalize_dynamic_globals()
        code._finalized = True


class _NoGenerator:
    """Stands for the generator of machine code where there is none."""

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing: the environment is needed where Python objects are made, and kernels make none."""


_NO_GENERATOR = _NoGenerator()


def _tidy_functions(library: Any, module: Any) -> None:
    """Keep variables in registers and drop what is not used, before functions are put together."""
    module.data_layout = library._codegen._data_layout
    manager = create_new_function_pass_manager()
    manager.add_sroa_pass()
    manager.add_dead_code_elimination_pass()
    manager.add_simplify_cfg_pass()
    builder = library._codegen._pass_builder(opt=1)
    for function in module.functions:
        if not function.is_declaration:
            manager.run(function, builder)


_NEEDLESS = {
    *(untyped_passes.WithLifting, untyped_passes.InlineClosureLikes),
    *(untyped_passes.MakeFunctionToJitFunction, untyped_passes.DeadBranchPrune),
    untyped_passes.RewriteSemanticConstants,
    *(untyped_passes.RewriteDynamicRaises, untyped_passes.InlineInlinables),
    *(untyped_passes.FindLiterallyCalls, untyped_passes.LiteralUnroll),
    *(untyped_passes.LiteralPropagationSubPipelinePass, typed_passes.InlineOverloads),
    *(typed_passes.NopythonRewrites, typed_passes.AnnotateTypes, typed_passes.DumpParforDiagnostics),
}
"""Steps for closures, contexts, functions that numba inlines, array expressions, and loops over tuples."""


class KernelCompiler(Compiler):
    """numba's compiler with our libraries of code."""

    _vectorizes = True

    def __init__(
        self, types: Any, target: Any, library: Any, arguments: Any, answer: Any, settings: Any, local: Any
    ) -> None:
        base: Any = super()
        make_settings: Any = KernelSettings
        base.__init__(types, target, library, arguments, answer, make_settings(settings), local)

    def define_pipelines(self) -> list[Any]:
        """Return numba's steps; for kernels that create no arrays, only those that such kernels need."""
        base: Any = super()
        pipelines: list[Any] = base.define_pipelines()
        if not self.state.flags.nrt:
            for pipeline in pipelines:
                pipeline.passes = [step for step in pipeline.passes if step[0] not in _NEEDLESS]
                pipeline.finalize()
        return pipelines

    def _compile_core(self) -> Any:
        state: Any = self.state
        if state.library is None:
            kind_of_code: Any = _Code if state.flags.nrt and self._vectorizes else _BranchingCode
            kind = _InnerCode if self._is_inner(state) else kind_of_code
            state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        base: Any = super()
        return base._compile_core()

    @staticmethod
    def _is_inner(state: Any) -> bool:
        """Return whether the code becomes machine code only as a part of its callers."""
        return bool(state.flags.no_cpython_wrapper)


class SharedCompiler(KernelCompiler):
    """The compiler of kernels that other kernels call by their symbols, but not Python."""

    @staticmethod
    def _is_inner(state: Any) -> bool:
        return False


class BranchingCompiler(KernelCompiler):
    """The compiler of kernels that create arrays, but whose loops gain nothing by vectors."""

    _vectorizes = False


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
    class_ = api.object_getattr_string(home, wanted.__qualname__)
    api.decref(home)
    return class_


def _box_named_tuple(kind: Any, value: Any, c: Any) -> Any:
    """Emit code for ``tuple.__new__(kind, items)``: the constructor of a named tuple is a Python function."""
    named = _unserialize(c.pyapi, _serialize(c.pyapi, kind.instance_class))
    plain, items = _look_up(c.pyapi, tuple), boxing.box_tuple(kind, value, c)
    made = c.pyapi.call_method(plain, "__new__", (named, items))
    for each in (named, plain, items):
        c.pyapi.decref(each)
    return made

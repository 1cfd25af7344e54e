"""The names by which kernels are declared and called, also by plug-ins."""

from hierdata.engines.compiler.kernels import (
    KERNELS,
    Kernel,
    address_of,
    announcing_compilation,
    branching,
    call_by_symbol,
    call_of,
    inline_kernel,
    inner,
    jit,
    lean,
    lowest_bit,
    part,
    shared,
    signature_of,
)

__all__ = [
    "KERNELS",
    "Kernel",
    "address_of",
    "announcing_compilation",
    "branching",
    "call_by_symbol",
    "call_of",
    "inline_kernel",
    "inner",
    "jit",
    "lean",
    "lowest_bit",
    "part",
    "shared",
    "signature_of",
]

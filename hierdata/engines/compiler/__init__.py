"""The compiler of kernels: the only place that imports numba, or knows what it keeps to itself.

``kernels`` compiles, ``machine_code`` says how much is optimized, ``quicker`` does once what numba repeats,
``cache`` keeps code on disk, and ``plain`` runs kernels as Python functions.
Kernels are declared with the names in ``hierdata.engines.jit``.
"""

"""The compiled code of the package: functions of arrays, with Numba and NumPy only.

Every kernel has one signature: `metalda.kernels.border.frozen` gives input arrays their dtype and layout, and arrays
that a kernel changes are allocated by the caller. Each kernel is tested against a slow reference implementation in
``tests/reference.py``.
"""

"""The only compiled code: arrays in, arrays out; Numba and NumPy alone.

Every kernel has one signature. What a kernel only reads goes in through `metalda.kernels.border.frozen`
(read-only, C-contiguous, one dtype), what it changes is allocated by us.
"""

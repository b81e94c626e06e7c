"""The topics of a row, LANES at a time, as one value that stays in registers while it is added to or multiplied.

LLVM vectorises loops whose length is known only at run time, but loads and stores in every round what such a loop adds
up; loops of constant length it unrolls before it could vectorise them. So vectors are spelt out here.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel
from numba.extending import intrinsic, register_model

LANES = 32  # float32: two registers of AVX-512, four of AVX2, eight of NEON

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__("Lanes")


@register_model(_Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


_lanes = _Lanes()


def _address(context, builder, array_type, array, row):
    data = cgutils.create_struct_proxy(array_type)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [builder.mul(row, row.type(LANES))]), _VECTOR.as_pointer())


@intrinsic
def load(typing_context, array, row):
    """array[row] of a contiguous array [row, lane] of float32."""

    def generate(context, builder, signature, arguments):
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=4)

    return _lanes(array, types.uintp), generate


@intrinsic
def store(typing_context, array, row, value):
    """array[row] = value"""

    def generate(context, builder, signature, arguments):
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _lanes), generate


@intrinsic
def fill(typing_context, number):
    """The same float32 in every lane."""

    def generate(context, builder, signature, arguments):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, undefined, _FIRST)

    return _lanes(types.float32), generate


@intrinsic
def add(typing_context, a, b):
    """a + b, lane by lane."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic
def multiply(typing_context, a, b):
    """a * b, lane by lane."""
    return _lanes(_lanes, _lanes), lambda context, builder, signature, arguments: builder.fmul(*arguments)

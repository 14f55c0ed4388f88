// The check dialect: what a test program expects of its values. kiln-check-module runs such programs.
#ifndef KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_TD
#define KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::kiln::Check";
  let summary = "What tests expect of their values";
  let description = [{
    A failure is reported, and the program goes on. Operands are what the program has: scalars and tensors in the source,
    i32 and buffer views behind the abi phase, which also makes constants of the `_const` forms. Each op then becomes a
    call of the function of its name in kiln/schema/check_imports.def.
  }];
}

class Check_Op<string mnemonic> : Op<Check_Dialect, mnemonic>;

class Check_OfOne<string mnemonic, string summary_> : Check_Op<mnemonic> {
  let summary = summary_;
  let arguments = (ins AnyType:$operand);
  let assemblyFormat = "`(` $operand `)` attr-dict `:` type($operand)";
}
def Check_ExpectTrueOp : Check_OfOne<"expect_true", "a scalar that is not zero">;
def Check_ExpectFalseOp : Check_OfOne<"expect_false", "a scalar that is zero">;
def Check_ExpectAllTrueOp : Check_OfOne<"expect_all_true", "a tensor without zeros">;

class Check_OfTwo<string mnemonic, string summary_>
    : Op<Check_Dialect, mnemonic, [AllTypesMatch<["actual", "expected"]>]> {
  let summary = summary_;
}
def Check_ExpectEqOp : Check_OfTwo<"expect_eq", "tensors of one type and shape with the same elements"> {
  let arguments = (ins AnyType:$actual, AnyType:$expected);
  let assemblyFormat = "`(` $actual `,` $expected `)` attr-dict `:` type($actual)";
}
def Check_ExpectEqConstOp : Check_OfTwo<"expect_eq_const", "the same, of a tensor that is known"> {
  let arguments = (ins AnyRankedTensor:$actual, ElementsAttr:$expected);
  let assemblyFormat = "`(` $actual `,` $expected `)` attr-dict `:` type($actual)";
}

defvar tolerances = (ins DefaultValuedAttr<F64Attr, "1.0e-4">:$atol, DefaultValuedAttr<F64Attr, "0.0">:$rtol);
def Check_ExpectAlmostEqOp : Check_OfTwo<"expect_almost_eq", "the same within atol + rtol * |expected|; NaN equals NaN"> {
  let arguments = !con((ins AnyType:$actual, AnyType:$expected), tolerances);
  let assemblyFormat = [{
    `(` $actual `,` $expected `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:` type($actual)
  }];
}
def Check_ExpectAlmostEqConstOp : Check_OfTwo<"expect_almost_eq_const", "the same, of a tensor that is known"> {
  let arguments = !con((ins AnyRankedTensor:$actual, ElementsAttr:$expected), tolerances);
  let assemblyFormat = [{
    `(` $actual `,` $expected `` custom<Tolerances>($atol, $rtol) `)` attr-dict `:` type($actual)
  }];
}

#endif // KILN_COMPILER_DIALECT_CHECK_IR_CHECKOPS_TD

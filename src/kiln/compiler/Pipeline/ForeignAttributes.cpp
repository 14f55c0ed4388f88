#include "kiln/compiler/Pipeline/ForeignAttributes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

namespace kiln {

namespace {
// The number makes a type, and so an ID, of each.
template <int number> class ForeignDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignDialect)

  static constexpr StringLiteral names[] = {"iree_codegen", "iree_cpu", "iree_gpu"};
  static constexpr StringLiteral getDialectNamespace() { return names[number]; }

  explicit ForeignDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ForeignDialect>()) {}

  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    StringRef text = parser.getFullSymbolSpec();
    emitWarning(parser.getEncodedSourceLoc(parser.getNameLoc()))
        << "'#" << getNamespace() << "." << text.take_until([](char c) { return c == '<'; })
        << "' has no effect: Kiln chooses by itself how operations are compiled, or by a transform-dialect file";
    return StringAttr::get(getContext(), "#" + getNamespace() + "." + text);
  }
};
} // namespace

void registerForeignAttributes(DialectRegistry &registry) {
  registry.insert<ForeignDialect<0>, ForeignDialect<1>, ForeignDialect<2>>();
}

} // namespace kiln

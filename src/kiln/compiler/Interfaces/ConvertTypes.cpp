#include "kiln/compiler/Interfaces/ConvertTypes.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace kiln {

void convertValueTypes(Operation *root, const TypeConverter &converter) {
  auto convert = [&](Value value) { value.setType(converter.convertType(value.getType())); };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), convert);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), convert);
  });
}

void addBitsReplacements(AttrTypeReplacer &replacer, std::function<IntegerType(Type)> bitsOf) {
  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([bitsOf](Type type) -> std::optional<Type> {
    IntegerType bits = bitsOf(type);
    return bits ? std::optional<Type>(bits) : std::nullopt;
  });
  auto replaced = [bitsOf](Type element, function_ref<Attribute(IntegerType bits)> convert) -> Replaced {
    IntegerType bits = bitsOf(element);
    return bits ? Replaced(std::pair(convert(bits), WalkResult::skip())) : std::nullopt;
  };
  replacer.addReplacement([replaced](FloatAttr attr) {
    return replaced(attr.getType(), [&](IntegerType bits) {
      return IntegerAttr::get(bits, attr.getValue().bitcastToAPInt().zext(bits.getWidth()));
    });
  });
  replacer.addReplacement([replaced](IntegerAttr attr) {
    return replaced(attr.getType(),
                    [&](IntegerType bits) { return IntegerAttr::get(bits, attr.getValue().zext(bits.getWidth())); });
  });
  replacer.addReplacement([replaced](DenseElementsAttr attr) {
    return replaced(attr.getElementType(), [&](IntegerType bits) -> Attribute {
      unsigned width = bits.getWidth();
      if (auto numbers = dyn_cast<DenseFPElementsAttr>(attr))
        return numbers.mapValues(bits, [&](const APFloat &one) { return one.bitcastToAPInt().zext(width); });
      return cast<DenseIntElementsAttr>(attr).mapValues(bits, [&](const APInt &one) { return one.zext(width); });
    });
  });
  replacer.addReplacement([replaced](DenseResourceElementsAttr attr) {
    return replaced(attr.getElementType(), [&](IntegerType bits) {
      return DenseResourceElementsAttr::get(attr.getType().clone(bits), attr.getRawHandle());
    });
  });
}

} // namespace kiln

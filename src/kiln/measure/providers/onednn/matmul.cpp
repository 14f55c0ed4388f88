// Matrix products, with a bias and an activation or zero points where the problem has them. Weights alone have a
// preferred layout: the left-hand side and the result stay plain.
#include "kiln/measure/providers/matmul_shape.h"
#include "kiln/measure/providers/onednn/operation.h"

namespace kiln::measure::onednn {

namespace {

Result<Description> describeMatrix(const Library &library, const MatmulShape &shape, const MatmulOperand &operand,
                                   uint64_t rows, uint64_t columns) {
  std::vector<uint64_t> extents = {rows, columns};
  std::vector<uint64_t> strides = {operand.rowStride(columns), operand.columnStride(rows)};
  if (shape.batched) {
    extents.insert(extents.begin(), shape.batch);
    strides.insert(strides.begin(), rows * columns);
  }
  return library.describe(operand.type, extents, strides);
}

Result<Attributes> activation(const Library &library, Epilogue epilogue) {
  static constexpr std::pair<Epilogue, Algorithm> kFunctions[] = {
      {Epilogue::BiasRelu, kRelu}, {Epilogue::BiasGelu, kGeluErf}, {Epilogue::BiasGeluTanh, kGeluTanh}};
  for (auto [of, function] : kFunctions)
    if (epilogue == of) {
      KILN_ASSIGN_OR_RETURN(Attributes attributes, library.createAttributes());
      const Library::PostOp follows[] = {{function}};
      KILN_RETURN_IF_ERROR(library.follow(attributes, follows));
      return attributes;
    }
  return Attributes();
}

// What is done with the sums: zero points of the operands, the scale, and then the result is rounded before its zero
// point is added. oneDNN's own zero point of a result is added before it is rounded.
Result<Attributes> quantization(const Library &library, const QuantizedShape &shape) {
  KILN_ASSIGN_OR_RETURN(Attributes attributes, library.createAttributes());
  if (shape.lhsZero != 0)
    KILN_RETURN_IF_ERROR(library.setZeroPoint(attributes, kSource, 0));
  if (shape.rhsZero != 0)
    KILN_RETURN_IF_ERROR(library.setZeroPoint(attributes, kWeights, 0));
  if (!shape.requantizes)
    return attributes;
  constexpr int kColumns = 1 << 1;
  KILN_RETURN_IF_ERROR(library.setScale(attributes, kWeights, shape.perColumn ? kColumns : 0));
  if (shape.resultZero == 0)
    return attributes;
  const Library::PostOp follows[] = {{kRound}, {kLinear, 1, static_cast<float>(shape.resultZero)}};
  KILN_RETURN_IF_ERROR(library.follow(attributes, follows));
  return attributes;
}

Result<Constant> zeroPoint(const Library &library, ArgumentName argument, int32_t value) {
  Constant constant{argument | kZeroPointOf, std::make_unique<int32_t>(value), {}};
  KILN_ASSIGN_OR_RETURN(Description one, library.describe(io::ElementType::I32, std::vector<uint64_t>{1}));
  KILN_ASSIGN_OR_RETURN(constant.memory, library.createMemory(one, constant.value.get()));
  return constant;
}

struct Matmul {
  Description source, weights, result;
};

Result<Matmul> describe(const Library &library, const MatmulShape &shape) {
  Matmul matmul;
  KILN_ASSIGN_OR_RETURN(matmul.source, describeMatrix(library, shape, shape.lhs, shape.m, shape.k));
  KILN_ASSIGN_OR_RETURN(matmul.weights, describeMatrix(library, shape, shape.rhs, shape.k, shape.n));
  KILN_ASSIGN_OR_RETURN(matmul.result, describeMatrix(library, shape, shape.result, shape.m, shape.n));
  return matmul;
}

Result<Operation> create(const Library &library, std::string_view what, const Matmul &matmul, const Description &bias,
                         const Attributes &attributes, Layouts layouts) {
  Description open = matmul.weights;
  if (layouts == Layouts::Preferred) {
    KILN_ASSIGN_OR_RETURN(open, library.leaveOpen(matmul.weights));
  }
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        library.choose(what, &Functions::matmul_primitive_desc_create, matmul.source.get(), open.get(),
                                       bias.get(), matmul.result.get(), attributes.get()));
  KILN_ASSIGN_OR_RETURN(Description chosen, library.chosenLayout(description, kWeightsLayout, matmul.weights));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {{kSource, 0, matmul.source, matmul.source},
                       {kWeights, 1, matmul.weights, chosen, /*isWeight=*/true},
                       {kResult, 0, matmul.result, matmul.result}};
  return created;
}

} // namespace

Result<Operation> createMatmul(const Library &library, const LoadRequest &request, Layouts layouts) {
  KILN_ASSIGN_OR_RETURN(MatmulShape shape, matmulShapeWithEpilogue(request));
  KILN_ASSIGN_OR_RETURN(Matmul matmul, describe(library, shape));
  bool hasBias = shape.epilogue != Epilogue::None;
  Description bias;
  if (hasBias) {
    KILN_ASSIGN_OR_RETURN(bias, library.describe(shape.result.type, std::vector<uint64_t>{1, shape.n}));
  }
  std::string what = fmt::format("a matmul of {}{}", shape.typesText(), hasBias ? " with an epilogue" : "");
  KILN_ASSIGN_OR_RETURN(Attributes attributes, activation(library, shape.epilogue));
  KILN_ASSIGN_OR_RETURN(Operation created, create(library, what, matmul, bias, attributes, layouts));
  if (hasBias)
    created.arguments.push_back({kBias, 2, bias, bias});
  return created;
}

Result<Operation> createQuantizedMatmul(const Library &library, const LoadRequest &request, Layouts layouts) {
  KILN_ASSIGN_OR_RETURN(QuantizedShape shape, quantizedShape(request));
  KILN_ASSIGN_OR_RETURN(Matmul matmul, describe(library, shape.product));
  KILN_ASSIGN_OR_RETURN(Attributes attributes, quantization(library, shape));
  std::string what = fmt::format("a matmul of {} with zero points", shape.product.typesText());
  KILN_ASSIGN_OR_RETURN(Operation created, create(library, what, matmul, Description(), attributes, layouts));
  for (auto [argument, zero] : {std::pair(kSource, shape.lhsZero), std::pair(kWeights, shape.rhsZero)})
    if (zero != 0) {
      KILN_ASSIGN_OR_RETURN(Constant constant, zeroPoint(library, argument, zero));
      created.constants.push_back(std::move(constant));
    }
  if (!shape.requantizes)
    return created;
  uint64_t scales = shape.perColumn ? shape.product.n : 1;
  KILN_ASSIGN_OR_RETURN(Description scale, library.describe(io::ElementType::F32, std::vector<uint64_t>{scales}));
  created.arguments.push_back({kWeights | kScaleOf, 2, scale, scale});
  return created;
}

} // namespace kiln::measure::onednn

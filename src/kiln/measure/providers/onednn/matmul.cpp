// Matrix products, with a bias and an activation where the problem has them. Weights alone have a preferred layout: the
// left-hand side and the result stay plain.
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
  if (epilogue == Epilogue::BiasRelu)
    return library.followedBy(kRelu);
  if (epilogue == Epilogue::BiasGelu)
    return library.followedBy(kGeluErf);
  if (epilogue == Epilogue::BiasGeluTanh)
    return library.followedBy(kGeluTanh);
  return Attributes();
}

} // namespace

Result<Operation> createMatmul(const Library &library, const LoadRequest &request, Layouts layouts) {
  KILN_ASSIGN_OR_RETURN(MatmulShape shape, matmulShapeWithEpilogue(request));
  KILN_ASSIGN_OR_RETURN(Description source, describeMatrix(library, shape, shape.lhs, shape.m, shape.k));
  KILN_ASSIGN_OR_RETURN(Description weights, describeMatrix(library, shape, shape.rhs, shape.k, shape.n));
  KILN_ASSIGN_OR_RETURN(Description result, describeMatrix(library, shape, shape.result, shape.m, shape.n));
  Description open = weights;
  if (layouts == Layouts::Preferred) {
    KILN_ASSIGN_OR_RETURN(open, library.leaveOpen(weights));
  }
  bool hasBias = shape.epilogue != Epilogue::None;
  Description bias;
  if (hasBias) {
    KILN_ASSIGN_OR_RETURN(bias, library.describe(shape.result.type, std::vector<uint64_t>{1, shape.n}));
  }

  std::string what = fmt::format("a matmul of {}{}", shape.typesText(), hasBias ? " with an epilogue" : "");
  KILN_ASSIGN_OR_RETURN(Attributes attributes, activation(library, shape.epilogue));
  KILN_ASSIGN_OR_RETURN(PrimitiveDescription description,
                        library.choose(what, &Functions::matmul_primitive_desc_create, source.get(), open.get(),
                                       bias.get(), result.get(), attributes.get()));
  KILN_ASSIGN_OR_RETURN(Description chosen, library.chosenLayout(description, kWeightsLayout, weights));
  Operation created;
  KILN_ASSIGN_OR_RETURN(created.primitive, library.create(description));
  created.arguments = {
      {kSource, 0, source, source}, {kWeights, 1, weights, chosen, /*isWeight=*/true}, {kResult, 0, result, result}};
  if (hasBias)
    created.arguments.push_back({kBias, 2, bias, bias});
  return created;
}

} // namespace kiln::measure::onednn

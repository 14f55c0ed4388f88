#include "kiln/families/matmul/workload/splitk_mlir.h"

#include <vector>

#include "kiln/measure/mlir_text.h"

namespace kiln::families {

using namespace measure;

namespace {

// Writes one program.
class Writer {
public:
  Writer(const MatmulSpec &spec, std::string_view configuration) : spec(spec), configuration(configuration) {}

  std::string serial();
  std::string parallel();

private:
  // The product of the slices whose reduction starts at `start`, one of them or one for each s.
  struct Slices {
    bool many;
    uint64_t start, length;
    ElementType sums;
  };
  std::string product(const std::string &result, const Slices &slices, const TypedValue &before);
  std::string firstSlice();
  std::string finish(ElementType from, const std::string &sum, const std::string &tail, ElementType tailType);
  measure::TensorType square(ElementType type) const { return {type, {spec.m, spec.n}}; }
  std::string squareText(ElementType type) const { return tensorTypeText(square(type)); }

  const MatmulSpec &spec;
  std::string_view configuration;
};

std::string Writer::product(const std::string &result, const Slices &slices, const TypedValue &before) {
  std::string position = slices.many    ? fmt::format("s * {} + k", slices.length)
                         : slices.start ? fmt::format("k + {}", slices.start)
                                        : "k";
  auto indices = [&](const Matrix &matrix, const std::string &row, const std::string &column) {
    return matrix.columnMajor ? column + ", " + row : row + ", " + column;
  };
  measure::TensorType extent{spec.lhs.type, {slices.length}};
  std::string extentName = result + "_extent";
  std::vector<GenericOperand> inputs = {{{"%lhs", tensorTypeText(spec.lhsTensor())}, indices(spec.lhs, "m", position)},
                                        {{"%rhs", tensorTypeText(spec.rhsTensor())}, indices(spec.rhs, position, "n")},
                                        {{"%" + extentName, tensorTypeText(extent)}, "k"}};
  GenericText generic{slices.many ? "s, m, n, k" : "m, n, k",
                      1,
                      inputs,
                      {before, slices.many ? "s, m, n" : "m, n"},
                      productBody(spec.lhs.type, slices.sums, slices.sums, hal::elementTypeName(spec.lhs.type)),
                      configurationText(configuration)};
  return emptyText(extentName, extent) + genericText("%" + result, generic);
}

// %result of the result's type, out of a sum and maybe what the last slice adds to it; empty where that is the sum.
std::string Writer::finish(ElementType from, const std::string &sum, const std::string &tail, ElementType tailType) {
  ElementType to = spec.result.type;
  if (from == to && tail.empty())
    return "";
  std::vector<GenericOperand> inputs = {{{sum, squareText(from)}, "m, n"}};
  std::string arguments = fmt::format("%sum_in: {}, ", hal::elementTypeName(from));
  std::string body, total = "sum_in";
  if (!tail.empty()) {
    inputs.push_back({{tail, squareText(tailType)}, "m, n"});
    arguments += fmt::format("%tail_in: {}, ", hal::elementTypeName(tailType));
    body += convertText("wide_tail", "tail_in", tailType, from);
    body += fmt::format("    %total = arith.add{} %sum_in, %{} : {}\n", from == ElementType::I32 ? 'i' : 'f',
                        tailType == from ? "tail_in" : "wide_tail", hal::elementTypeName(from));
    total = "total";
  }
  body += convertText("converted", total, from, to);
  body += fmt::format("    linalg.yield %{} : {}\n", from == to ? total : "converted", hal::elementTypeName(to));
  body = fmt::format("  ^bb0({}%old: {}):\n", arguments, hal::elementTypeName(to)) + body;
  GenericText generic{"m, n", 0, inputs, {{"%result_empty", squareText(to)}, "m, n"}, body};
  return emptyText("result_empty", square(to)) + genericText("%result", generic);
}

// Where an index is a loop and nothing else, the loop goes over all of the operand. So the first slice is the only one
// of a loop over slices.
std::string Writer::firstSlice() {
  measure::TensorType one{spec.partials, {1, spec.m, spec.n}};
  std::string type = tensorTypeText(one);
  return zerosText("zeros", one) + product("first", {true, 0, spec.sliceLength(), spec.partials}, {"%zeros", type}) +
         fmt::format("  %sum_1 = tensor.collapse_shape %first [[0, 1], [2]] : {} into {}\n", type,
                     squareText(spec.partials));
}

std::string Writer::serial() {
  std::string text = zeroText(spec.partials);
  if (spec.slices == 1)
    text += zerosText("sum_0", square(spec.partials));
  std::string type = squareText(spec.partials);
  for (uint64_t slice = 0; slice < spec.slices; ++slice) {
    uint64_t length = slice + 1 < spec.slices ? spec.sliceLength() : spec.lastSlice();
    text += slice == 0 && spec.slices > 1
                ? firstSlice()
                : product(fmt::format("sum_{}", slice + 1), {false, slice * spec.sliceLength(), length, spec.partials},
                          {fmt::format("%sum_{}", slice), type});
  }
  std::string sum = fmt::format("%sum_{}", spec.slices), end = finish(spec.partials, sum, "", spec.partials);
  return text + end + fmt::format("  return {} : {}\n", end.empty() ? sum : "%result", squareText(spec.result.type));
}

std::string Writer::parallel() {
  bool even = spec.lastSlice() == spec.sliceLength();
  uint64_t together = even ? spec.slices : spec.slices - 1;
  std::vector<uint64_t> shape = {together, spec.m, spec.n};
  measure::TensorType parts{spec.partials, shape};
  std::string text = zeroText(spec.accumulator), zero = "zero";
  if (spec.partials != spec.accumulator) {
    zero = "zero_part";
    text += zeroText(spec.partials, zero);
  }
  text += zerosText("zeros", parts, zero);
  text += product("parts", {true, 0, spec.sliceLength(), spec.partials}, {"%zeros", tensorTypeText(parts)});
  text += zerosText("sum_zeros", square(spec.accumulator));
  std::string_view from = hal::elementTypeName(spec.partials), to = hal::elementTypeName(spec.accumulator);
  bool same = spec.partials == spec.accumulator;
  std::string body = fmt::format("  ^bb0(%part: {}, %before: {}):\n", from, to) +
                     convertText("wide", "part", spec.partials, spec.accumulator) +
                     fmt::format("    %next = arith.add{} %before, %{} : {}\n    linalg.yield %next : {}\n",
                                 spec.accumulator == ElementType::I32 ? 'i' : 'f', same ? "part" : "wide", to, to);
  GenericOperand input{{"%parts", tensorTypeText(parts)}, "s, m, n"};
  text += genericText(
      "%sum", {"m, n, s", 1, std::span(&input, 1), {{"%sum_zeros", squareText(spec.accumulator)}, "m, n"}, body});
  // After the sum, so that it is the sum that what finishes both becomes a part of, and the last slice waits for
  // nothing.
  std::string tail;
  if (!even) {
    tail = "%tail";
    text += zerosText("tail_zeros", square(spec.partials), zero);
    text += product("tail", {false, together * spec.sliceLength(), spec.lastSlice(), spec.partials},
                    {"%tail_zeros", squareText(spec.partials)});
  }
  std::string end = finish(spec.accumulator, "%sum", tail, spec.partials);
  return text + end + fmt::format("  return {} : {}\n", end.empty() ? "%sum" : "%result", squareText(spec.result.type));
}

} // namespace

std::string splitKMlir(const MatmulSpec &spec, std::string_view function, std::string_view configuration) {
  Writer writer(spec, configuration);
  std::string text =
      fmt::format("func.func @{}(%lhs: {}, %rhs: {}) -> {} {{\n", function, tensorTypeText(spec.lhsTensor()),
                  tensorTypeText(spec.rhsTensor()), tensorTypeText(spec.resultTensor()));
  return text + (spec.split == SplitK::Serial ? writer.serial() : writer.parallel()) + "}\n";
}

} // namespace kiln::families

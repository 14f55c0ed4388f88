#include "kiln/measure/verify/narrowing.h"

#include <optional>
#include <set>

#include "fmt/format.h"

namespace kiln::measure::verify {

std::string Narrowing::text() const {
  return fmt::format("{} to {}", rounding == Rounding::TowardZero ? "cut off" : "rounded", format.name);
}

std::vector<Narrowing> narrowings(ElementType type) {
  std::vector<Narrowing> narrower;
  std::optional<FloatFormat> own = floatFormat(type);
  for (const FloatFormat &format : {kFormatTF32, kFormatBF16, kFormatF16})
    for (Rounding rounding : {Rounding::NearestEven, Rounding::NearestAway, Rounding::TowardZero})
      if (own && format.significand < own->significand)
        narrower.push_back({format, rounding});
  return narrower;
}

std::vector<uint64_t> shorterRows(uint64_t columns) {
  std::set<uint64_t> shorter;
  for (uint64_t vector = 2; vector <= 1024 && vector <= columns; vector *= 2) {
    shorter.insert(columns - columns % vector);
    shorter.insert(columns - vector);
  }
  shorter.insert(columns - 1);
  shorter.erase(columns);
  shorter.erase(0);
  return {shorter.rbegin(), shorter.rend()};
}

std::string narrowSumText(const FloatFormat &format, size_t lanes) {
  return lanes == 1 ? fmt::format("sums in {} give just these numbers", format.name)
                    : fmt::format("sums in {} in {} lanes give just these numbers", format.name, lanes);
}

std::vector<double> narrowRow(std::span<const double> row, const Narrowing &narrowing) {
  std::vector<double> narrow(row.begin(), row.end());
  for (double &element : narrow)
    element = narrowing.of(element);
  return narrow;
}

double narrowSum(const FloatFormat &format, std::span<const double> row, size_t lanes) {
  // Each step is one of f32, rounded: the same as one of the narrow format for numbers of that format.
  auto add = [&](double a, double b) { return roundTo(format, roundTo(kFormatF32, a + b)); };
  std::vector<double> sums(lanes, 0.0);
  for (size_t c = 0; c < row.size(); ++c)
    sums[c % lanes] = add(sums[c % lanes], row[c]);
  for (size_t half = lanes / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane)
      sums[lane] = add(sums[lane], sums[lane + half]);
  return sums[0];
}

} // namespace kiln::measure::verify

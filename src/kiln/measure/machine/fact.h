// Something about the machine that may not be had.
#ifndef KILN_MEASURE_MACHINE_FACT_H
#define KILN_MEASURE_MACHINE_FACT_H

#include <string>

namespace kiln::measure {

// A value, or why there is none; one of the two is empty.
struct Fact {
  std::string value;
  std::string whyNot;

  bool available() const { return whyNot.empty(); }
  // "performance", or "not available: this machine has no ..."
  std::string text() const { return available() ? value : "not available: " + whyNot; }
  bool operator==(const Fact &) const = default;

  static Fact of(std::string value) { return {std::move(value), {}}; }
  static Fact missing(std::string reason) { return {{}, std::move(reason)}; }
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_FACT_H

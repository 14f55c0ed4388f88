#ifndef KILN_MEASURE_WORKERS_MIDDLE_H
#define KILN_MEASURE_WORKERS_MIDDLE_H

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kiln::measure {

// The middle one of some values, the upper one of two; there is at least one.
template <typename T> T middleOf(std::vector<T> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_MIDDLE_H

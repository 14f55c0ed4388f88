// Cutting extents into tiles, for families that offer configurations.
#ifndef KILN_MEASURE_TILES_H
#define KILN_MEASURE_TILES_H

#include <cstdint>
#include <set>
#include <span>

namespace kiln::measure {

inline int64_t divideUp(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}
inline int64_t roundUp(int64_t a, int64_t unit) {
  return divideUp(a, unit) * unit;
}

// Tiles of an extent: about as large as each of `wanted`, multiples of `unit`, and such that parts are of nearly the
// same size.
std::set<int64_t> tilesOf(int64_t extent, std::span<const int64_t> wanted, int64_t unit);

} // namespace kiln::measure

#endif // KILN_MEASURE_TILES_H

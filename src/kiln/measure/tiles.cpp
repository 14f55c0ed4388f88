#include "kiln/measure/tiles.h"

#include <algorithm>

namespace kiln::measure {

std::set<int64_t> tilesOf(int64_t extent, std::span<const int64_t> wanted, int64_t unit) {
  std::set<int64_t> tiles;
  for (int64_t most : wanted) {
    int64_t parts = std::max<int64_t>(1, (extent + most / 2) / most);
    tiles.insert(std::min(extent, roundUp(divideUp(extent, parts), unit)));
  }
  return tiles;
}

} // namespace kiln::measure

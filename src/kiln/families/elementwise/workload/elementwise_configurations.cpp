#include "kiln/families/elementwise/workload/elementwise_configurations.h"

#include <algorithm>

#include "kiln/base/tile_config.h"

namespace kiln::families {

std::vector<std::string> elementwiseConfigurations(const ElementwiseSpec &spec, int64_t vectorBits) {
  auto elements = static_cast<int64_t>(spec.elements());
  // All types are computed with in 32 bits.
  int64_t lanes = std::max<int64_t>(1, vectorBits / 32);
  std::vector<std::string> names;
  auto add = [&](int64_t tile, int64_t vectors, int64_t width) {
    TileConfig config;
    config.m = 1;
    config.n = std::min(tile, elements);
    config.instructions = "vector";
    config.rows = 1;
    config.columns = vectors * width;
    config.lanes = width == lanes ? 0 : width;
    // What is longer than the tensor differs in name only.
    if (config.columns > std::max(lanes, config.n))
      return;
    if (std::string name = config.name(); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  };
  for (int64_t tile : {16384, 65536, 4096}) {
    add(tile, 4, lanes);
    add(tile, 1, lanes);
    add(tile, 2, lanes);
  }
  add(16384, 8, lanes);
  add(16384, 4, std::max<int64_t>(1, lanes / 2));
  add(262144, 4, lanes);
  return names;
}

} // namespace kiln::families

#include "kiln/families/reduction/workload/row_configurations.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kiln/base/tile_config.h"

namespace kiln::families {

// Elements that a workgroup should read: enough to be worth starting, and no more than stays in its cache.
static constexpr int64_t kTargetElements = 32768;
static constexpr int64_t kMostElements = 1 << 18;

// Numbers of rows for a workgroup, the one nearest to the target first.
static std::vector<int64_t> rowTiles(const RowSpec &spec) {
  auto rows = static_cast<int64_t>(spec.rows), columns = static_cast<int64_t>(spec.columns);
  std::vector<int64_t> tiles;
  for (int64_t tile : {1, 4, 16, 64, 256, 1024})
    if (tile == 1 || (tile <= rows && tile * columns <= kMostElements))
      tiles.push_back(tile);
  std::ranges::sort(
      tiles, {}, [&](int64_t tile) { return std::fabs(std::log2(double(tile * columns) / double(kTargetElements))); });
  tiles.resize(std::min<size_t>(tiles.size(), 3));
  return tiles;
}

// Of what lies side by side, each element is one of a row of its own.
static std::vector<std::string> sideBySide(const RowSpec &spec, int64_t lanes) {
  auto rows = static_cast<int64_t>(spec.rows), inner = static_cast<int64_t>(spec.inner);
  std::vector<std::string> names;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 256}, {1, 64}, {1, 1024}, {4, 256}, {4, 64}})
    for (int64_t vectors : {4, 2, 1}) {
      TileConfig config;
      config.m = std::min(m, rows);
      config.n = std::min(n, inner);
      config.instructions = "vector";
      config.rows = 1;
      config.columns = vectors * lanes;
      bool repeats = vectors > 1 && config.columns > config.n;
      if (std::string name = config.name(); !repeats && std::ranges::find(names, name) == names.end())
        names.push_back(std::move(name));
    }
  return names;
}

std::vector<std::string> rowConfigurations(const RowSpec &spec, int64_t vectorBits) {
  struct RegisterTile {
    int64_t rows, vectors;
  };
  static constexpr std::array<RegisterTile, 8> kTiles = {
      {{1, 4}, {4, 2}, {1, 8}, {2, 4}, {1, 2}, {4, 1}, {8, 1}, {1, 1}}};
  auto rows = static_cast<int64_t>(spec.rows), columns = static_cast<int64_t>(spec.columns);
  // Everything is computed in 32 bits, but for the extrema of bytes.
  bool bytes = spec.isExtremum() && spec.type == hal::ElementType::I8;
  int64_t lanes = std::max<int64_t>(1, vectorBits / (bytes ? 8 : 32));
  if (spec.inner != 1)
    return sideBySide(spec, lanes);
  std::vector<std::string> names;
  std::vector<int64_t> tiles = rowTiles(spec);
  for (size_t place = 0; place < tiles.size(); ++place)
    for (const RegisterTile &tile : kTiles) {
      // The second and the third number of rows only with the likely best tiles.
      if (&tile - kTiles.data() >= (place == 0 ? 8 : 4))
        break;
      TileConfig config;
      config.m = 1;
      config.n = tiles[place];
      config.instructions = "vector";
      config.rows = tile.rows;
      config.columns = tile.vectors * lanes;
      bool repeats = tile.rows > std::min(rows, config.n) || (tile.vectors > 1 && config.columns > columns);
      if (!repeats)
        names.push_back(config.name());
    }
  if (names.empty()) // A row that is shorter than a vector.
    names.push_back(TileConfig{.m = 1, .n = tiles[0], .instructions = "vector", .rows = 1, .columns = lanes}.name());
  return names;
}

} // namespace kiln::families

#include "kiln/measure/register_tiles.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kiln/measure/tiles.h"

namespace kiln::measure {

std::vector<RegisterTile> registerTiles(int64_t rows, int64_t columns, const CpuShape &cpu) {
  static constexpr int64_t mostRows[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28};
  static constexpr int64_t vectorCounts[] = {1, 2, 3, 4, 6, 8};
  int64_t lanes = cpu.lanes();
  std::vector<RegisterTile> tiles;
  std::set<std::pair<int64_t, int64_t>> known;
  for (int64_t most : mostRows)
    for (int64_t vectors : vectorCounts) {
      // Rows are shared evenly among the tiles, so that the last is not much smaller.
      int64_t height = divideUp(rows, divideUp(rows, most));
      int64_t width = std::min(vectors * lanes, roundUp(columns, lanes));
      bool fits = height * divideUp(width, lanes) + vectors < cpu.vectorRegisters;
      if (fits && known.insert({height, width}).second)
        tiles.push_back({height, width});
    }
  return tiles;
}

double cyclesPerStep(double rows, double vectors, double loads, double latency, const CpuShape &cpu) {
  double products = rows * vectors, units = products / 2;
  // What limits most hides the others, but not quite.
  double cycles = std::sqrt(std::sqrt(std::pow(units, 4) + std::pow(loads, 4) + std::pow(latency, 4)));
  // What does not fit into vector registers goes through memory.
  return cycles + 2 * std::max(0.0, products + vectors + 1 - static_cast<double>(cpu.vectorRegisters));
}

void sortByCost(std::vector<RatedConfig> &space) {
  std::ranges::sort(space, [](const RatedConfig &a, const RatedConfig &b) {
    return a.cost != b.cost ? a.cost < b.cost : a.config.name() < b.config.name();
  });
}

std::vector<std::string> worthTrying(const std::vector<RatedConfig> &space, size_t count) {
  // A third of the places goes to the register tiles' best, the rest to whatever is best.
  std::set<std::pair<int64_t, int64_t>> tiles;
  std::set<size_t> chosen;
  for (size_t place = 0; place < space.size() && chosen.size() < count / 3; ++place)
    if (tiles.insert({space[place].config.rows, space[place].config.columns}).second)
      chosen.insert(place);
  for (size_t place = 0; place < space.size() && chosen.size() < count; ++place)
    chosen.insert(place);
  std::vector<std::string> names;
  for (size_t place : chosen)
    names.push_back(space[place].config.name());
  return names;
}

std::vector<std::string> namesOf(const std::vector<RatedConfig> &space) {
  std::vector<std::string> names;
  for (const RatedConfig &rated : space)
    names.push_back(rated.config.name());
  return names;
}

} // namespace kiln::measure

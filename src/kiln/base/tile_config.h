// A configuration: how a dispatch is cut into tiles, and the text name that it has in the IR, in tuning data, in
// reports and on command lines. Both forms hold the same.
//
//   tile_config_{M}x{N}_{K}x{stages}_{class}[_{rows}x{columns}][_v{lanes}][_pack{a|b|ab}]
//       [_cluster{M}x{N}[x{K}]|_streamk{K}][_t{threads}]
//
//   tile_config_128x128_64x4_tensorcore_mmasync     as in the documents
//   tile_config_96x128_256x1_fma_12x32_packb        96x128 of the result to a workgroup, 256 of the reduction at a
//   time,
//                                                   12x32 of the result in registers, B packed into panels
#ifndef KILN_BASE_TILE_CONFIG_H
#define KILN_BASE_TILE_CONFIG_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln {

// In place of a configuration's name: what the compiler chooses by itself.
inline constexpr std::string_view kDefaultConfiguration = "tile_config_default";

struct TileConfig {
  // What one workgroup computes of the result: n along its innermost dimension, m along those before it. 0: all of it.
  int64_t m = 0, n = 0;
  // How much of the reduction is done before the next tile of the result. 0: all of it.
  int64_t k = 0;
  // How many K tiles are in flight; 1 where nothing is overlapped.
  int64_t stages = 1;
  // Which instructions compute: words of small letters and digits joined by underscores, "fma", "tensorcore_mmasync".
  std::string instructions = "vector";
  // The part of the result that is kept in registers; 0x0: the emitter's choice.
  int64_t rows = 0, columns = 0;
  // Elements of a vector; 0: as many as a register holds.
  int64_t lanes = 0;
  // Whether an operand of a contraction is copied into contiguous panels before it is used.
  bool packA = false, packB = false;
  // How many workgroups, along M and along N, compute tiles beside each other and share what they read.
  int64_t clusterM = 1, clusterN = 1;
  // How many workgroups compute one tile, each with a part of the reduction; with streamK only the tiles that are left
  // where all workgroups have computed equally many whole ones.
  int64_t clusterK = 1;
  bool streamK = false;
  // How many threads run it; 0: as many as there are. It changes nothing in what is compiled.
  int64_t threads = 0;

  bool operator==(const TileConfig &) const = default;

  bool hasCluster() const { return clusterM != 1 || clusterN != 1 || clusterK != 1; }
  std::string name() const;
  std::string clusterName() const; // "2x1", "1x1x4" with parts of the reduction, or "streamk4"
  // The error says which part of the name is wrong, and what the grammar wants there.
  static Result<TileConfig> parse(std::string_view name);
};

} // namespace kiln

#endif // KILN_BASE_TILE_CONFIG_H

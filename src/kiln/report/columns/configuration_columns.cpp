// The parts of a configuration, a column each.
#include "kiln/report/columns/columns.h"

namespace kiln::report {

template <int64_t TileConfig::*member> static Value number(const Row &row) {
  return row.configuration ? Value((*row.configuration).*member) : Value();
}

static Value registerTile(const Row &row) {
  if (!row.configuration || row.configuration->rows == 0)
    return {};
  return fmt::format("{}x{}", row.configuration->rows, row.configuration->columns);
}

static Value pack(const Row &row) {
  if (!row.configuration)
    return {};
  return textOrNothing(std::string(row.configuration->packA ? "a" : "") + (row.configuration->packB ? "b" : ""));
}

static Value cluster(const Row &row) {
  if (!row.configuration || !row.configuration->hasCluster())
    return {};
  return row.configuration->clusterName();
}

static constexpr Column kColumns[] = {
    {"tile_m", "Tile m", Unit::Count, number<&TileConfig::m>, 4, 0, Page::More,
     "Rows of the result to a workgroup; 0: all."},
    {"tile_n", "Tile n", Unit::Count, number<&TileConfig::n>, 4, 0, Page::More,
     "Columns of the result to a workgroup; 0: all."},
    {"tile_k", "Tile k", Unit::Count, number<&TileConfig::k>, 4, 0, Page::More,
     "How much of the reduction is done at a time; 0: all."},
    {"stages", "Stages", Unit::Count, number<&TileConfig::stages>, 2, 0, Page::No, "K tiles in flight."},
    {"instruction_class", "Class", Unit::Text,
     [](const Row &row) { return row.configuration ? Value(row.configuration->instructions) : Value(); }, 10, 0,
     Page::No, "Which instructions compute."},
    {"arithmetic", "Arithmetic", Unit::Text, [](const Row &row) { return textOrNothing(row.field("arithmetic")); }, 4,
     0, Page::More,
     "What products are computed in where it is narrower than the types: tf32; empty: what the types say."},
    {"register_tile", "Registers", Unit::Text, registerTile, 6, 0, Page::No,
     "The part of the result that is kept in registers; empty: the emitter's choice."},
    {"register_rows", "Rows", Unit::Count, number<&TileConfig::rows>, 3, 0, Page::No,
     "Rows of the register tile; 0: the emitter's choice."},
    {"register_columns", "Columns", Unit::Count, number<&TileConfig::columns>, 3, 0, Page::No,
     "Columns of the register tile; 0: the emitter's choice."},
    {"lanes", "Lanes", Unit::Count, number<&TileConfig::lanes>, 3, 0, Page::No,
     "Elements of a vector; 0: as many as a register holds."},
    {"pack", "Pack", Unit::Text, pack, 3, 0, Page::No, "Operands that are copied into panels first: a, b, ab."},
    {"cluster", "Cluster", Unit::Text, cluster, 3, 0, Page::No,
     "Workgroups along m and n that share what they read; empty: each reads for itself."},
    {"config_threads", "Config threads", Unit::Count, number<&TileConfig::threads>, 3, 0, Page::No,
     "Threads that the configuration asks for; 0: as many as the sweep gives."},
};

std::span<const Column> configurationColumns() {
  return kColumns;
}

} // namespace kiln::report

#include "kiln/tools/dispatch/tune/tuning_features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "kiln/base/tile_config.h"
#include "kiln/families/matmul/workload/cuda_configurations.h"
#include "kiln/measure/cpu_shape.h"

namespace kiln {

TuningMachine TuningMachine::detect(uint32_t threads) {
  TuningMachine machine;
  machine.threads = std::max(1U, threads);
  const measure::CpuShape cpu = measure::CpuShape::host();
  machine.l1Bytes = static_cast<double>(cpu.l1Bytes);
  machine.l2Bytes = static_cast<double>(cpu.l2Bytes);
  return machine;
}

TuningMachine TuningMachine::ofGpu(std::string_view target) {
  TuningMachine machine;
  machine.isGpu = true;
  const families::CudaShape gpu = families::CudaShape::of(target).value_or(families::CudaShape());
  machine.threads = static_cast<double>(gpu.multiprocessors);
  machine.l1Bytes = static_cast<double>(gpu.sharedBytes);
  return machine;
}

namespace {
// A problem as a product of matrices, which all that is computed by tiles resembles: n is the result's innermost
// dimension, m what else it has, k how often each element is added to.
struct Extents {
  double m = 1, n = 1, k = 1, elementBytes = 4;
};
} // namespace

static Extents extentsOf(const measure::Problem &problem) {
  Extents extents;
  std::vector<measure::TensorType> outputs = problem.outputs(), inputs = problem.inputs();
  if (!inputs.empty())
    extents.elementBytes = static_cast<double>(std::max<uint64_t>(1, hal::elementTypeByteSize(inputs.front().type)));
  if (outputs.empty())
    return extents;
  const std::vector<uint64_t> &shape = outputs.front().shape;
  for (size_t i = 0; i < shape.size(); ++i)
    (i + 1 == shape.size() ? extents.n : extents.m) *= static_cast<double>(std::max<uint64_t>(1, shape[i]));
  extents.k = std::max(1.0, problem.flops() / 2 / extents.m / extents.n);
  return extents;
}

// What share of the work is done for nothing where an extent is cut into tiles of a size: 0 where they fit.
static double waste(double extent, double tile) {
  return std::ceil(extent / tile) * tile / extent - 1;
}

static std::vector<double> describe(const TileConfig &config, const Extents &problem, const TuningMachine &machine,
                                    double instructions) {
  auto size = [](int64_t tile, double whole) { return tile > 0 ? static_cast<double>(tile) : std::max(1.0, whole); };
  double m = size(config.m, problem.m), n = size(config.n, problem.n), k = size(config.k, problem.k);
  double rows = size(config.rows, 1), columns = size(config.columns, 1);
  double workgroups = std::ceil(problem.m / m) * std::ceil(problem.n / n) * static_cast<double>(config.clusterK);
  double bytes = problem.elementBytes;
  const std::vector<double> registers = {
      std::log2(rows), std::log2(columns),       std::log2(1 + static_cast<double>(config.lanes)),
      instructions,    config.packA ? 1.0 : 0.0, config.packB ? 1.0 : 0.0,
  };
  const std::vector<double> tiles = {
      std::log2(static_cast<double>(config.clusterM)),
      std::log2(static_cast<double>(config.clusterN)),
      std::log2(static_cast<double>(config.clusterK)),
      std::log2(m),
      std::log2(n),
      std::log2(k),
  };
  // The kind comes first.
  std::vector<double> numbers = machine.isGpu ? std::vector<double>{instructions} : registers;
  std::ranges::copy(tiles, std::back_inserter(numbers));
  if (machine.isGpu)
    std::ranges::copy_n(registers.begin(), 2, std::back_inserter(numbers));
  const double others[] = {
      std::log2(static_cast<double>(config.stages)),
      // How work is shared, and what is left over.
      std::log2(workgroups / machine.threads),
      4 * waste(workgroups, machine.threads),
      4 * waste(m, rows),
      4 * waste(n, columns),
      // What should stay in L1, and in L2.
      std::log2(k * columns * bytes / machine.l1Bytes),
      std::log2(k * (m + n) * bytes / machine.l2Bytes),
  };
  std::ranges::copy(others, std::back_inserter(numbers));
  return numbers;
}

std::vector<std::vector<double>> tuningFeatures(const measure::Problem &problem, const std::vector<std::string> &space,
                                                const TuningMachine &machine) {
  Extents extents = extentsOf(problem);
  std::map<std::string, double> instructions; // by their first appearance: they are few
  std::vector<std::vector<double>> features;
  for (size_t place = 0; place < space.size(); ++place) {
    Result<TileConfig> config = TileConfig::parse(space[place]);
    std::vector<double> numbers;
    if (config.ok()) {
      double word =
          instructions.try_emplace(config->instructions, static_cast<double>(instructions.size())).first->second;
      numbers = describe(*config, extents, machine, word);
    } else {
      numbers = describe(TileConfig(), extents, machine, -1);
    }
    // The first of thousands differ more than the last.
    numbers.push_back(std::log2(1.0 + static_cast<double>(place)) / 2);
    features.push_back(std::move(numbers));
  }
  return features;
}

} // namespace kiln

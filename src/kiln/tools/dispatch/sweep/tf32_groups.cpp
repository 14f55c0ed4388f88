#include "kiln/tools/dispatch/sweep/tf32_groups.h"

#include <algorithm>
#include <iterator>

namespace kiln {

// Of what is configured so where the operands are f32.
static bool isTensorCores(const std::string &configuration) {
  Result<TileConfig> config = TileConfig::parse(configuration);
  return config.ok() && config->instructions.starts_with("tensorcore_");
}

static bool isTF32(const SweepCandidate &candidate) {
  // A variant of Kiln is a compiler's, whatever its user calls it.
  return candidate.fact.provider == "kiln" ? isTensorCores(candidate.fact.configuration)
                                           : candidate.fact.variant == kTF32Variant;
}

bool hasTF32(const Operation &operation) {
  return operation.problem->inTF32() && std::ranges::any_of(operation.configurations, isTensorCores);
}

bool leaveOutTF32(Operation &operation) {
  return operation.problem->inTF32() && std::erase_if(operation.configurations, isTensorCores) > 0;
}

bool isRival(std::string_view variant, const Operation &operation) {
  if (variant == kTF32Variant)
    return hasTF32(operation);
  return !operation.problem->inTF32() || !std::ranges::all_of(operation.configurations, isTensorCores);
}

void addGroups(SweepGroup group, bool isKilns, std::vector<SweepGroup> &groups, measure::Problems &problems) {
  SweepGroup split;
  if (std::unique_ptr<measure::Problem> problem = group.problem->inTF32()) {
    std::ranges::copy_if(group.candidates, std::back_inserter(split.candidates), isTF32);
    std::erase_if(group.candidates, isTF32);
    for (SweepCandidate &candidate : split.candidates)
      candidate.fact.problem = factOf(*problem).key();
    split.problem = problem.get();
    problems.push_back(std::move(problem));
  }
  auto isKiln = [](const SweepCandidate &candidate) { return candidate.fact.provider == "kiln"; };
  const bool isWanted = isKilns ? std::ranges::any_of(group.candidates, isKiln) : !group.candidates.empty();
  if (isWanted || split.candidates.empty())
    groups.push_back(std::move(group));
  if (!split.candidates.empty())
    groups.push_back(std::move(split));
}

} // namespace kiln

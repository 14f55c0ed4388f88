// Clusters of blocks, and the order in which those of a launch run.
#include "kiln/targets/cuda/sim/machine.h"

#include <algorithm>
#include <numeric>

#include "fmt/format.h"

namespace kiln::cudasim {

std::string Launch::takeClusters(std::array<uint32_t, 3> asked) {
  constexpr uint32_t kMostBlocks = 8; // that every device has
  const Function &kernel = *program->kernel().function;
  const std::array<uint32_t, 3> &required = kernel.clusterBlocks;
  hasClusters = asked[0] || required[0];
  cluster = required[0] ? required : asked[0] ? asked : std::array<uint32_t, 3>{1, 1, 1};
  const auto &[x, y, z] = cluster;
  if (asked[0] && asked != cluster)
    return fmt::format("clusters of {} x {} x {} blocks; kernel '{}' requires {} x {} x {}", asked[0], asked[1],
                       asked[2], kernel.name, x, y, z);
  if (uint64_t(x) * y * z == 0 || uint64_t(x) * y * z > kMostBlocks)
    return fmt::format("clusters of {} x {} x {} blocks; {} are possible", x, y, z, kMostBlocks);
  if (grid[0] % x || grid[1] % y || grid[2] % z)
    return fmt::format("a grid of {} x {} x {} blocks, which is no multiple of the clusters of {} x {} x {} of kernel "
                       "'{}'",
                       grid[0], grid[1], grid[2], x, y, z, kernel.name);
  return "";
}

//===--- Cluster --------------------------------------------------------------------------------------------------===//

void Cluster::start(Launch &owner, uint64_t number) {
  launch = &owner;
  const uint32_t count = owner.blocksOfCluster();
  std::array<uint32_t, 3> clusters{};
  for (size_t i = 0; i < 3; ++i)
    clusters[i] = owner.grid[i] / owner.cluster[i];
  id = {uint32_t(number % clusters[0]), uint32_t(number / clusters[0] % clusters[1]),
        uint32_t(number / clusters[0] / clusters[1])};
  random = Random(randomBits(owner.options.seed, number, 6));
  live = owner.threadsOfBlock() * count;
  arrived = 0;
  completedPhases = 0;
  clocks.clear();
  completed.clear();
  shadow.reset(owner.sharedBytes() * count, live);
  globalShadow.reset();
  doubtful.reset();
  blocks.resize(count);
  for (uint32_t rank = 0; rank < count; ++rank) {
    if (!blocks[rank])
      blocks[rank] = std::make_unique<Block>();
    const auto &[x, y, z] = owner.cluster;
    blocks[rank]->start(*this, rank, {id[0] * x + rank % x, id[1] * y + rank / x % y, id[2] * z + rank / x / y});
  }
}

bool Cluster::run(uint64_t budget) {
  // Blocks take turns, so that what one does between two steps of another varies.
  constexpr uint64_t kLongestTurn = 8192;
  while (!launch->hasFault) {
    std::vector<Block *> able;
    bool haveEnded = true;
    for (const std::unique_ptr<Block> &block : blocks) {
      haveEnded &= block->hasEnded();
      if (!block->hasEnded() && !block->isStuck())
        able.push_back(block.get());
    }
    if (haveEnded) {
      if (doubtful)
        settleDoubtful();
      return true;
    }
    // Who waits at barrier.cluster waits for a thread that waits elsewhere.
    if (able.empty())
      return std::ranges::any_of(blocks, [](const auto &block) { return block->explainDeadlock(); });
    if (budget == 0)
      return false;
    Block &block = *able[able.size() == 1 ? 0 : random.below(able.size())];
    const uint64_t before = block.instructions;
    block.run(blocks.size() == 1 ? budget : std::min(budget, 1 + random.below(kLongestTurn)));
    budget -= std::min(budget, block.instructions - before + 1);
  }
  return true;
}

std::string Cluster::describe(uint32_t number, const Block &here) const {
  const uint32_t threads = launch->threadsOfBlock();
  const Block &block = *blocks[number / threads];
  std::string text = block.describe(number % threads);
  return &block == &here ? text : fmt::format("{} of block {}", text, block.describe());
}

const Inst *Cluster::arrive(Thread &thread, const Inst *inst, bool releases) {
  if (thread.hasArrivedAtCluster)
    return thread.fault(inst, FaultCode::IllegalInstruction,
                        "arrives at barrier.cluster a second time, and has not waited in between");
  thread.hasArrivedAtCluster = true;
  ++arrived;
  if (releases)
    shadow.release(thread.number, clocks);
  else
    shadow.releaseFenced(thread.number, clocks);
  // fence.mbarrier_init lets the cluster know of barriers even where the arrival is relaxed.
  for (auto &[address, barrier] : thread.block->mbarriers)
    if (barrier.initializer == thread.number && barrier.fenceClock && !barrier.knownPhase)
      barrier.knownPhase = completedPhases + 1;
  tryComplete();
  return inst + 1;
}

const Inst *Cluster::wait(Thread &thread, const Inst *inst) {
  if (!thread.hasArrivedAtCluster)
    return thread.fault(inst, FaultCode::IllegalInstruction, "waits at barrier.cluster, at which it has not arrived");
  if (thread.clusterPhases == completedPhases) {
    thread.next = inst;
    thread.state = Thread::State::AtCluster;
    return nullptr;
  }
  ++thread.clusterPhases;
  thread.hasArrivedAtCluster = false;
  shadow.acquire(thread.number, completed);
  return inst + 1;
}

void Cluster::end(const Thread &thread) {
  --live;
  if (thread.hasArrivedAtCluster && thread.clusterPhases == completedPhases)
    --arrived;
  tryComplete();
}

void Cluster::tryComplete() {
  if (arrived != live || live == 0)
    return;
  ++completedPhases;
  arrived = 0;
  completed = std::move(clocks);
  clocks.clear();
  for (const std::unique_ptr<Block> &block : blocks)
    for (Thread &thread : block->threads)
      if (thread.state == Thread::State::AtCluster)
        block->wake(thread);
}

//===--- LaunchRun ------------------------------------------------------------------------------------------------===//

LaunchRun::LaunchRun(Launch &launch) : launch(launch), random(randomBits(launch.options.seed, 2)) {
  clusterCount = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2] / launch.blocksOfCluster();
  offset = random.below(clusterCount);
  // With what has no common factor with the count, multiples visit every cluster once.
  do
    multiplier = 1 + random.below(clusterCount);
  while (std::gcd(multiplier, clusterCount) != 1);
}

bool LaunchRun::run(uint64_t budget) {
  // Blocks that wait for others have these beside them.
  constexpr size_t kMostRunning = 64;
  const uint64_t limit = launch.instructions + budget;
  while (!launch.hasFault && (started < clusterCount || !running.empty())) {
    if (launch.instructions >= limit)
      return false;
    // A cluster runs to its end where it is short; those that take long share the time.
    constexpr uint64_t kSlice = 1 << 20;
    if (started < clusterCount && running.size() < kMostRunning) {
      if (spare.empty())
        spare.push_back(std::make_unique<Cluster>());
      const auto number = uint64_t((static_cast<unsigned __int128>(started++) * multiplier + offset) % clusterCount);
      spare.back()->start(launch, number);
      running.push_back(std::move(spare.back()));
      spare.pop_back();
    }
    const size_t place = running.size() - 1 - (random.below(2) ? 0 : random.below(running.size()));
    if (!running[place]->run(kSlice))
      continue;
    spare.push_back(std::move(running[place]));
    running.erase(running.begin() + long(place));
  }
  return true;
}

} // namespace kiln::cudasim

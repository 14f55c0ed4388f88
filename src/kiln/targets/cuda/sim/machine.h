// The state of a launch while it runs: threads, warps' and blocks' meetings, shared memory.
#ifndef KILN_TARGETS_CUDA_SIM_MACHINE_H
#define KILN_TARGETS_CUDA_SIM_MACHINE_H

#include "kiln/base/random.h"
#include "kiln/targets/cuda/sim/global_shadow.h"
#include "kiln/targets/cuda/sim/mbarrier.h"
#include "kiln/targets/cuda/sim/program.h"
#include "kiln/targets/cuda/sim/shared_shadow.h"

#include <array>
#include <bitset>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kiln::cudasim {

// Numbers of CUDA for what kernels do wrong.
enum class FaultCode : int {
  IllegalAddress = 700,
  LaunchTimeout = 702,
  HardwareStack = 714,
  IllegalInstruction = 715,
  Misaligned = 716,
  LaunchFailed = 719,
};

struct Fault {
  FaultCode code;
  std::string text;
};

struct Block;
struct Cluster;

// What threads of a warp do together once all of them are there: `mask` has them, each at its `next`. False where that
// was a fault.
using Meeting = bool (*)(Block &block, uint32_t warp, uint32_t mask);

// What an instruction of barriers does, in its `imm`.
inline constexpr uint64_t kBarrierArrives = 1, kBarrierAligned = 2, kBarrierReduces = 12, kBarrierAnd = 4,
                          kBarrierOr = 8, kBarrierCount = 12;

struct Thread {
  enum class State : uint8_t { Ready, AtBarrier, AtMeeting, AtMbarrier, AtCopies, AtCluster, Ended };

  Block *block = nullptr;
  const Inst *next = nullptr;
  uint64_t *registers = nullptr; // of the function that it is in
  State state = State::Ready;
  uint32_t index = 0;  // in its block
  uint32_t number = 0; // in its cluster
  uint32_t tid[3] = {};
  uint32_t waitMask = 0;    // AtMeeting: of its warp
  uint32_t barrier = 0;     // AtBarrier
  uint32_t waitAddress = 0; // AtMbarrier: in shared memory
  Meeting meeting = nullptr;
  bool sameInstruction = false;
  bool isListed = false;            // in its block's list of those that can run
  uint64_t carry = 0;               // of add.cc and its like
  bool orders = false;              // the strong access that it makes orders memory, as ld.acquire does
  bool isEarly = false;             // the kernels before may still run: griddepcontrol.wait is to come
  uint64_t clusterPhases = 0;       // of barrier.cluster that it has waited for
  bool hasArrivedAtCluster = false; // and is to wait for that phase

  struct Frame {
    const Code *code;
    const Inst *call; // in the caller
    size_t registers, params, local;
  };
  std::vector<Frame> frames;
  std::vector<uint64_t> registerStack;
  std::vector<uint8_t> params, local;

  // A copy into shared memory that cp.async has started; it takes place when the thread waits for it, which is as late
  // as it may be.
  struct Copy {
    const Inst *inst;
    uint64_t source, target;
    uint32_t bytes, sourceBytes; // what is beyond the source's bytes is zero
  };
  std::vector<Copy> copies;                  // not committed
  std::vector<std::vector<Copy>> copyGroups; // the oldest first
  // Copies from shared memory that cp.async.bulk has started: how many of each group go on. The last is not committed.
  struct BulkGroup {
    uint32_t reading = 0, writing = 0;
  };
  std::vector<std::shared_ptr<BulkGroup>> bulkGroups;

  // Products of wgmma take place when the thread waits for them; until then their registers are busy.
  struct WarpgroupProduct {
    const Inst *inst;
    uint64_t a, b;                 // descriptors; of `a` only where it is not in registers
    std::array<uint32_t, 4> parts; // of a in registers
    bool adds;                     // to what is there
    uint32_t number;               // of the thread's products
  };
  uint32_t startedProducts = 0;
  std::vector<WarpgroupProduct> products; // not committed
  std::vector<std::vector<WarpgroupProduct>> productGroups;
  std::vector<uint32_t> busySlots; // of the frame; sorted
  size_t endedGroups = 0;          // of `productGroups`, while a wait goes on
  // Registers as they were at the last wgmma.fence, but for what products have made of them; empty before the first.
  std::vector<uint64_t> fencedRegisters;

  const Code &code() const { return *frames.back().code; }
  uint8_t *frameParams() { return params.data() + frames.back().params; }
  uint32_t lane() const { return index % 32; }

  void enter(const Code &code, const Inst *call);
  void fillSpecials(const Code &code);

  // Ends the launch with this error; null.
  const Inst *fault(const Inst *inst, FaultCode code, std::string_view what);

  // Whether what the kernels before have done to global memory is there; a fault where it may not be.
  bool mayUseGlobal(const Inst *inst);
  // The bytes behind an address, or null where the access is a fault, which is told then.
  uint8_t *global(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  uint8_t *shared(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  uint8_t *sharedOfCluster(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  // Of any number of bytes, at an offset in the block's own shared memory, or in that of one of its cluster.
  uint8_t *sharedUnaligned(const Inst *inst, uint64_t offset, uint32_t bytes, Access access) {
    return sharedOf(*block, inst, offset, bytes, access);
  }
  uint8_t *sharedOf(Block &owner, const Inst *inst, uint64_t offset, uint32_t bytes, Access access);
  // The block in whose shared memory an address lies, and where there: an address of the window of shared::cluster, or
  // a generic one. Null where that is a fault, which is told then.
  Block *sharedOwner(const Inst *inst, uint64_t address, uint64_t &offset);
  // Whether a block's shared memory is there to be used.
  bool mayUseShared(const Inst *inst, const Block &owner);
  uint8_t *localMemory(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  uint8_t *launchParams(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  uint8_t *generic(const Inst *inst, uint64_t address, uint32_t bytes, Access access);

private:
  // Whether nothing that another thread has written is used without an order; a fault otherwise.
  bool isInOrder(const Inst *inst, uint64_t address, uint32_t bytes, Access access);
  uint8_t *pastTheEnd(uint64_t address, uint32_t bytes);
  std::array<uint8_t, 32> straddling; // what was read across an allocation's end
  void badAddress(const Inst *inst, uint64_t address, uint32_t bytes, Access access, std::string_view space,
                  std::string_view why);
  bool isAligned(const Inst *inst, uint64_t address, uint32_t bytes, Access access, std::string_view space);
};

struct LaunchOptions {
  uint64_t seed = 0;
  // Instructions of one block after which it is taken to run for ever.
  uint64_t mostInstructions = uint64_t(4) << 30;
  uint32_t mostSharedBytes = 232448; // of a block
  bool startsEarly = false;          // it may run beside the kernels before it, until it waits for them
};

// One launch of a kernel, and what its blocks share.
struct Launch {
  const Program *program = nullptr;
  Memory *memory = nullptr;
  std::array<uint32_t, 3> grid{1, 1, 1}, blockSize{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1}; // blocks; the grid is a multiple of them
  bool hasClusters = false;                 // the kernel or the launch asks for them
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> params;
  LaunchOptions options;

  uint64_t instructions = 0; // that threads have run
  uint64_t ticks = 0;        // of the device's clock, as the launch sees it
  bool hasFault = false;
  Fault fault{};

  // Takes the clusters that the kernel asks for, or the launch; no zeros where it does. Gives why they are not
  // possible, empty where they are.
  std::string takeClusters(std::array<uint32_t, 3> asked);

  uint32_t threadsOfBlock() const { return blockSize[0] * blockSize[1] * blockSize[2]; }
  uint32_t blocksOfCluster() const { return cluster[0] * cluster[1] * cluster[2]; }
  uint32_t sharedBytes() const { return dynamicSharedOffset() + dynamicSharedBytes; }
  uint32_t dynamicSharedOffset() const {
    const uint32_t align = program->dynamicSharedAlign;
    return (program->staticSharedBytes + align - 1) / align * align;
  }
};

struct Block {
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  uint32_t rank = 0; // in its cluster
  std::array<uint32_t, 3> id{};
  std::vector<Thread> threads;
  std::vector<uint8_t> sharedMemory;
  Random random{0};
  uint64_t instructions = 0;

  void start(Cluster &owner, uint32_t rankInCluster, std::array<uint32_t, 3> blockId);
  // Runs up to about so many instructions, until all threads have ended, none can run, or a fault has ended the launch.
  void run(uint64_t budget);
  bool hasEnded() const { return ended == threads.size(); }
  // Whether nothing goes on in it, unless another block of its cluster does something for it.
  bool isStuck() const { return !hasEnded() && ready.empty() && inFlight.empty(); }
  // Makes a fault of what a thread waits for; false where none waits for anything in the block.
  bool explainDeadlock();
  // Where its shared memory starts in what is known of its cluster's.
  uint32_t shadowStart() const { return rank * uint32_t(sharedMemory.size()); }

  // A thread comes to a meeting of the threads of `mask`, and stops; the last one has it take place. Those that do the
  // same thing run the same handler. With `sameInstruction` they must be at one place, and none may have ended.
  const Inst *meet(Thread &thread, const Inst *inst, uint32_t mask, Meeting meeting, bool sameInstruction);
  // A thread comes to a barrier; `expected` is how many threads do, 0 for all of the block; `value` is what it votes.
  const Inst *arrive(Thread &thread, const Inst *inst, uint32_t barrier, uint32_t expected, bool value);
  void end(Thread &thread);
  void wake(Thread &thread);
  Thread &lane(uint32_t warp, uint32_t lane) { return threads[warp * 32 + lane]; }
  uint32_t lanesOfWarp(uint32_t warp) const;
  void setFault(const Thread &thread, const Inst *inst, FaultCode code, std::string_view what);
  // "(3, 0, 0)"
  std::string describe() const;
  std::string describe(uint32_t thread) const;

  struct Barrier {
    uint32_t expected = 0, arrived = 0;
    uint32_t votes = 0; // for true
    std::vector<uint32_t> waiting;
    std::bitset<1024> members;
    Clocks clocks;
  };
  std::array<Barrier, 16> barriers;
  std::unordered_map<uint32_t, Mbarrier> mbarriers; // by address in shared memory
  // Ends a barrier's phase where nothing is lacking, and wakes who waits.
  void completePhase(Mbarrier &barrier);
  // Bytes that a copy has brought, of the thread of that number in the cluster; false where there is no barrier.
  bool completeBytes(uint32_t address, int64_t bytes, uint32_t thread);
  // What the four warps of each warpgroup do together: instructions that some have come to and others not yet, and how
  // many each has come to.
  struct Warpgroup {
    std::deque<const Inst *> ahead;
    uint64_t first = 0; // number of the first of `ahead`
    std::array<uint64_t, 4> arrived{};
  };
  std::vector<Warpgroup> warpgroups;
  // A warp comes to such an instruction; false where that is a fault.
  bool arriveInWarpgroup(Thread &thread, const Inst *inst);
  // What goes on beside the threads, and ends at some time while they run.
  struct InFlight {
    uint32_t thread;
    const Inst *inst;
    std::function<void()> end;
    bool needsBlock = true; // its shared memory
  };
  std::vector<InFlight> inFlight;

private:
  bool isBusy(Thread &thread, const Inst *inst);
  void runThread(Thread &thread, uint64_t budget);
  bool tryMeeting(uint32_t warp, uint32_t mask, Meeting meeting, bool sameInstruction);
  bool complete(Barrier &barrier, const Inst *inst);
  void endOneInFlight();

  std::vector<uint32_t> ready; // threads that can run
  uint32_t ended = 0;
  friend struct Thread;
};

// Blocks that run together and reach each other's shared memory; one alone where the kernel asks for no clusters.
struct Cluster {
  Launch *launch = nullptr;
  std::array<uint32_t, 3> id{};
  std::vector<std::unique_ptr<Block>> blocks; // by rank
  SharedShadow shadow;                        // of the shared memory of all, by rank; of threads by their numbers
  GlobalShadow globalShadow;
  // A store to where another thread has stored, which is no race if it stores the same.
  struct Doubtful {
    const Thread *thread;
    const Inst *inst;
    uint64_t address;
    std::vector<uint8_t> before;
    GlobalShadow::Race race;
  };
  std::optional<Doubtful> doubtful;
  // Looks what it has stored; false where that was a fault.
  bool settleDoubtful();

  void start(Launch &owner, uint64_t number);
  // Runs up to about so many instructions; true once all blocks have ended, or a fault has ended the launch.
  bool run(uint64_t budget);
  // A thread by its number: "(3, 0, 0)", and of which block where that is another one than `here`.
  std::string describe(uint32_t number, const Block &here) const;

  // barrier.cluster: a thread arrives, and later waits for all others that have not ended.
  const Inst *arrive(Thread &thread, const Inst *inst, bool releases);
  const Inst *wait(Thread &thread, const Inst *inst);
  void end(const Thread &thread);

private:
  void tryComplete();

  Random random{0};
  uint32_t arrived = 0, live = 0; // threads
  uint64_t completedPhases = 0;
  Clocks clocks, completed; // of who has arrived in this phase, and in the ones before
};

// Runs all clusters of a launch, some at a time.
class LaunchRun {
public:
  explicit LaunchRun(Launch &launch);
  // True once it has ended.
  bool run(uint64_t budget);

private:
  Launch &launch;
  Random random;
  uint64_t clusterCount, started = 0;
  uint64_t multiplier = 1, offset = 0; // clusters start in the order of (i * multiplier + offset) % clusterCount
  std::vector<std::unique_ptr<Cluster>> running, spare;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_MACHINE_H

// Clusters of blocks: what they know of each other, shared memory across blocks, multicasts, barrier.cluster.
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/tensor_map.h"

#include "gtest/gtest.h"

namespace kiln::cudasim {
namespace {

struct Outcome {
  std::string text;
  std::vector<uint32_t> out;
};

constexpr uint32_t kThreads = 64;

// A kernel in clusters of two blocks of 64 threads, over 256 words of input and of output: %t is the thread, %p that it
// is the first, %rank and %other are the block's in its cluster, and %far is where the other has `data`.
struct Text {
  std::string body;
  std::string cluster = ".reqnctapercluster 2";
  std::array<uint32_t, 3> grid{2, 1, 1};

  Outcome run(uint64_t seed = 0, const TensorMap *map = nullptr) const {
    KernelRun kernel(".visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) " + cluster +
                     R"( {
  .reg .b64 %in, %out, %o, %state, %map, %generic; .reg .b32 %t, %x, %y, %s, %bar, %rank, %other, %far, %farbar;
  .reg .pred %p, %q, %w; .reg .b16 %mask;
  .shared .align 1024 .b8 data[1024]; .shared .align 8 .b64 barrier[2];
  mov.b64 %map, map; cvta.param.u64 %map, %map;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
  mov.u32 %rank, %cluster_ctarank; xor.b32 %other, %rank, 1;
  mov.u32 %x, %ctaid.x; mad.lo.u32 %x, %x, 64, %t; mul.wide.u32 %o, %x, 4; add.u64 %out, %out, %o;
  shl.b32 %x, %t, 2; mov.u32 %s, data; add.u32 %s, %s, %x; mov.u32 %bar, barrier;
)" + body + "\nret; }");
    EXPECT_EQ(kernel.loadError(), "") << body;
    std::vector<uint32_t> values(256);
    for (uint32_t i = 0; i < 256; ++i)
      values[i] = i * 3 + 1;
    const uint64_t in = kernel.allocate(values), out = kernel.allocate(std::vector<uint32_t>(256));
    std::vector<uint64_t> params{in, out};
    params.resize(24); // the map is at 64 bytes
    if (map) {
      TensorMap placed = *map;
      placed.address = in;
      std::memcpy(params.data() + 8, &placed, sizeof(placed));
    }
    std::string text = kernel.run(grid, {kThreads, 1, 1}, params, seed);
    return {text, kernel.read<uint32_t>(out, 256)};
  }
};

#define KILN_EXPECT_HAS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

// Each body runs with several orders of threads and blocks; a fault that depends on the order must be seen in one.
std::string faultOf(const std::string &body, std::string_view part, const TensorMap *map = nullptr) {
  std::string last;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    last = Text{body}.run(seed, map).text;
    if (last.find(part) != std::string::npos)
      return last;
  }
  return last;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string mapOther() {
  return "mapa.shared::cluster.u32 %far, %s, %other;\n";
}
std::string meet() {
  return "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n";
}
std::string storeWord() {
  return "st.global.u32 [%out], %x;\n";
}

TEST(Clusters, registersSayWhereABlockIs) {
  const struct {
    const char *name;
    uint32_t expected[8]; // by block of a grid of 4 x 2
  } cases[] = {
      {"%clusterid.x", {0, 0, 1, 1, 0, 0, 1, 1}},      {"%clusterid.y", {0, 0, 0, 0, 0, 0, 0, 0}},
      {"%nclusterid.x", {2, 2, 2, 2, 2, 2, 2, 2}},     {"%nclusterid.y", {1, 1, 1, 1, 1, 1, 1, 1}},
      {"%cluster_ctaid.x", {0, 1, 0, 1, 0, 1, 0, 1}},  {"%cluster_ctaid.y", {0, 0, 0, 0, 1, 1, 1, 1}},
      {"%cluster_nctaid.x", {2, 2, 2, 2, 2, 2, 2, 2}}, {"%cluster_nctaid.z", {1, 1, 1, 1, 1, 1, 1, 1}},
      {"%cluster_ctarank", {0, 1, 0, 1, 2, 3, 2, 3}},  {"%cluster_nctarank", {4, 4, 4, 4, 4, 4, 4, 4}},
  };
  for (const auto &[name, expected] : cases) {
    Text text{"mov.u32 %x, %ctaid.y; mul.wide.u32 %o, %x, 16; mov.u32 %y, %ctaid.x; mul.wide.u32 %state, %y, 4;"
              "ld.param.u64 %out, [out]; add.u64 %out, %out, %o; add.u64 %out, %out, %state;"
              "mov.u32 %x, " +
              std::string(name) + "; @%p st.global.u32 [%out], %x;"};
    text.cluster = ".explicitcluster .reqnctapercluster 2, 2, 1";
    text.grid = {4, 2, 1};
    Outcome found = text.run();
    ASSERT_EQ(found.text, "") << name;
    for (uint32_t i = 0; i < 8; ++i)
      EXPECT_EQ(found.out[i], expected[i]) << name << " " << i;
  }
  Text alone{"mov.pred %q, %is_explicit_cluster; selp.u32 %x, 1, 0, %q; mov.u32 %y, %cluster_nctarank; "
             "mad.lo.u32 %x, %x, 10, %y; st.global.u32 [%out], %x;"};
  EXPECT_EQ(alone.run().out[0], 12u);
  alone.cluster = "";
  EXPECT_EQ(alone.run().out[0], 1u);
}

TEST(Clusters, gridsAreMultiples) {
  Text text{"ret;"};
  text.grid = {3, 1, 1};
  EXPECT_EQ(text.run().text,
            "a grid of 3 x 1 x 1 blocks, which is no multiple of the clusters of 2 x 1 x 1 of kernel 'k'");
  text.cluster = ".reqnctapercluster 3, 3";
  EXPECT_EQ(text.run().text, "clusters of 3 x 3 x 1 blocks; 8 are possible");
}

TEST(Clusters, blocksReadWhatOthersWrote) {
  const std::string right = "mad.lo.u32 %x, %rank, 100, %t; st.shared.u32 [%s], %x;\n" + mapOther() + meet() +
                            "ld.shared::cluster.u32 %x, [%far];\n" + storeWord() +
                            "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n";
  const std::string generic = replaced(right, "ld.shared::cluster.u32 %x, [%far];",
                                       "cvt.u64.u32 %generic, %s; cvta.shared.u64 %generic, %generic;"
                                       "mapa.u64 %generic, %generic, %other; ld.u32 %x, [%generic];");
  for (const std::string &each : {right, generic})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Outcome found = Text{each}.run(seed);
      ASSERT_EQ(found.text, "");
      for (uint32_t i = 0; i < 2 * kThreads; ++i)
        ASSERT_EQ(found.out[i], (1 - i / kThreads) * 100 + i % kThreads);
    }
  // Without the first barrier, or with one that orders nothing.
  KILN_EXPECT_HAS(faultOf(replaced(right, meet(), ""), "which has not begun"),
                  "of its cluster, which has not begun; barrier.cluster is missing before");
  const std::string relaxed = faultOf(replaced(right, "arrive.release", "arrive.relaxed"), "a race");
  KILN_EXPECT_HAS(relaxed, "a race: thread (");
  KILN_EXPECT_HAS(relaxed, " of block (");
  // A fence before a relaxed arrival releases.
  EXPECT_EQ(
      Text{replaced(right, "barrier.cluster.arrive.release", "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed")}
          .run()
          .text,
      "");
  // Without the second barrier a block may have ended.
  KILN_EXPECT_HAS(
      faultOf(replaced(right, "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n", ""), "all threads of which"),
      "of its cluster, all threads of which have ended; barrier.cluster is missing at its end");
  // An address of the cluster's window is none of the block's own.
  KILN_EXPECT_HAS(Text{replaced(right, "ld.shared::cluster.u32", "ld.shared.u32")}.run().text,
                  "of which the block has");
}

TEST(Clusters, addressesTellTheirRank) {
  const std::string text = mapOther() +
                           "getctarank.shared::cluster.u32 %x, %far; cvt.u64.u32 %generic, %s; "
                           "cvta.shared.u64 %generic, %generic; getctarank.u32 %y, %generic;" +
                           " @0 bra end; mad.lo.u32 %x, %x, 10, %y;\nend: " + storeWord();
  const std::string wide = replaced(replaced(text, "getctarank.u32", "getctarank.u64"), "@0 bra end;", "");
  Outcome found = Text{wide}.run();
  ASSERT_EQ(found.text, "");
  EXPECT_EQ(found.out[0], 10u);
  EXPECT_EQ(found.out[kThreads], 1u);
  const std::string spaces = "cvt.u64.u32 %generic, %s; cvta.shared.u64 %generic, %generic; mapa.u64 %generic, "
                             "%generic, %other; isspacep.shared::cta %q, %generic; isspacep.shared::cluster %w, "
                             "%generic; selp.u32 %x, 1, 0, %q; selp.u32 %y, 2, 0, %w; add.u32 %x, %x, %y;" +
                             storeWord();
  EXPECT_EQ(Text{spaces}.run().out[5], 2u);
  KILN_EXPECT_HAS(Text{"mapa.shared::cluster.u32 %far, %s, 2;"}.run().text,
                  "maps to rank 2 of a cluster that has 2 blocks");
  KILN_EXPECT_HAS(Text{"mapa.u64 %generic, %in, 1;"}.run().text, "which is not of shared memory");
}

TEST(Clusters, barriersAreArrivedAtOnce) {
  KILN_EXPECT_HAS(Text{"barrier.cluster.wait;"}.run().text, "waits at barrier.cluster, at which it has not arrived");
  KILN_EXPECT_HAS(Text{"barrier.cluster.arrive; barrier.cluster.arrive;"}.run().text,
                  "arrives at barrier.cluster a second time");
  // Who has ended is not waited for; who waits elsewhere is.
  EXPECT_EQ(Text{"@%p bra end; " + meet() + meet() + "end:"}.run(3).text, "");
  const std::string stuck = "setp.eq.u32 %q, %rank, 0; @!%q bra second; " + meet() +
                            "bra end;\nsecond: @%p bra lonely; " + meet() +
                            "bra end;\nlonely: mbarrier.init.shared.b64 [%bar], 1;\n"
                            "again: mbarrier.try_wait.parity.shared.b64 %w, [%bar], 0; @!%w bra again;\nend:";
  KILN_EXPECT_HAS(Text{stuck}.run().text,
                  "block (1, 0, 0), thread (0, 0, 0): waits for the mbarrier at 0x400 of shared "
                  "memory, whose phase 0 lacks 1 of 1 arrivals and 0 bytes");
}

// The first thread of each block makes its barrier, and every thread of the other arrives there.
std::string initialize() {
  return "mapa.shared::cluster.u32 %farbar, %bar, %other;\n"
         "@%p mbarrier.init.shared.b64 [%bar], 64; @%p fence.mbarrier_init.release.cluster;\n";
}
std::string meetRelaxed() {
  return "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n";
}

TEST(Clusters, arrivalsCrossBlocks) {
  // A word for the other block, then an arrival at its barrier; it reads the word behind its wait.
  const std::string right = initialize() + mapOther() + meetRelaxed() +
                            "st.shared::cluster.u32 [%far], %t;\n"
                            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%farbar];\n"
                            "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %w, [%bar], 0; @!%w bra "
                            "again;\n"
                            "ld.shared.u32 %x, [%s];\n" +
                            storeWord() + meet();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome found = Text{right}.run(seed);
    ASSERT_EQ(found.text, "");
    EXPECT_EQ(found.out[100], 36u);
  }
  // Scopes of a block order nothing for another one.
  KILN_EXPECT_HAS(faultOf(replaced(right, "arrive.release.cluster.shared", "arrive.shared"), "a race"), "a race");
  KILN_EXPECT_HAS(faultOf(replaced(right, "parity.acquire.cluster", "parity"), "a race"), "a race");
  KILN_EXPECT_HAS(faultOf(replaced(right, "arrive.release.cluster.shared", "arrive.relaxed.cluster.shared"), "a race"),
                  "a race");
  // Nobody knows of a barrier that is not fenced, where the cluster's barrier releases nothing.
  KILN_EXPECT_HAS(faultOf(replaced(right, "@%p fence.mbarrier_init.release.cluster;", ""), "nothing orders"),
                  "nothing orders the two");
  KILN_EXPECT_HAS(faultOf(replaced(right, "b64 _, [%farbar]", "b64 %state, [%farbar]"), "'_' is expected"),
                  "'_' is expected");
  // Others arrive; they do not wait.
  KILN_EXPECT_HAS(
      faultOf(replaced(right, "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %w, [%bar], 0;",
                       "cvt.u64.u32 %generic, %bar; cvta.shared.u64 %generic, %generic; mapa.u64 %generic, %generic, "
                       "%other;\n again: mbarrier.try_wait.parity.acquire.cluster.b64 %w, [%generic], 0;"),
              "where others can arrive only"),
      "where others can arrive only");
  const std::string ended =
      faultOf(replaced(replaced(right, meet(), ""),
                       "again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %w, [%bar], "
                       "0; @!%w bra again;\nld.shared.u32 %x, [%s];\n",
                       ""),
              "all threads of which have ended");
  KILN_EXPECT_HAS(ended, "all threads of which have ended");
}

// Each block copies a half of 256 bytes to both, and waits for all of it.
std::string multicast() {
  return replaced(initialize(), "[%bar], 64", "[%bar], 1") + meetRelaxed() +
         "@%p mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 256; shl.b32 %x, %rank, 7; mul.wide.u32 %o, %x, 1; "
         "add.u64 %in, %in, %o; mov.u32 %y, data; add.u32 %y, %y, %x; mov.u16 %mask, 3;\n"
         "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%y], [%in], 128, "
         "[%bar], "
         "%mask;\n"
         "again: mbarrier.try_wait.parity.shared.b64 %w, [%bar], 0; @!%w bra again;\n"
         "ld.shared.u32 %x, [%s];\n" +
         storeWord() + meet();
}

TEST(Clusters, copiesReachAllBlocksOfTheMask) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome found = Text{multicast()}.run(seed);
    ASSERT_EQ(found.text, "");
    for (uint32_t i = 0; i < 2 * kThreads; ++i)
      ASSERT_EQ(found.out[i], i % kThreads * 3 + 1);
  }
  // To the other alone: each has the other's half, and waits for ever for its own.
  const std::string other = replaced(multicast(), "mov.u16 %mask, 3",
                                     "shl.b32 %y, 1, %other; cvt.u16.u32 %mask, %y; "
                                     "mov.u32 %y, data; add.u32 %y, %y, %x");
  KILN_EXPECT_HAS(Text{other}.run().text, "lacks 0 of 1 arrivals and 128 bytes");
  KILN_EXPECT_HAS(Text{replaced(multicast(), "mov.u16 %mask, 3", "mov.u16 %mask, 5")}.run().text,
                  "copies to the blocks of the mask 0x5; the cluster has 2");
  KILN_EXPECT_HAS(Text{replaced(multicast(), "mov.u16 %mask, 3", "mov.u16 %mask, 0")}.run().text, "the mask 0x0");
  // The cluster's barrier tells of what is not fenced for copies, which does not make it so.
  KILN_EXPECT_HAS(
      Text{replaced(replaced(multicast(), "@%p fence.mbarrier_init.release.cluster;", ""), meetRelaxed(), meet())}
          .run()
          .text,
      "fence.mbarrier_init is missing after that");
  // Without a barrier between what makes ready and the copy.
  KILN_EXPECT_HAS(faultOf(replaced(multicast(), meetRelaxed(), "bar.sync 0;\n"), "no mbarrier"),
                  "where no mbarrier was initialized");
  KILN_EXPECT_HAS(faultOf(replaced(multicast(), meetRelaxed(), "bar.sync 0;\n"), "nothing orders"),
                  "nothing orders the two");
  // Whoever leaves early is written to when it has gone, or asked to be.
  std::string leaving = replaced(multicast(), "@%p mbarrier.arrive.expect_tx",
                                 "setp.eq.u32 %q, %rank, 1; @%q bra end;\n"
                                 "@%p mbarrier.arrive.expect_tx");
  leaving = replaced(leaving, "[%bar], 256;", "[%bar], 128;");
  leaving = replaced(leaving, "ld.shared.u32 %x, [%s];\n" + storeWord() + meet(), "end:");
  KILN_EXPECT_HAS(faultOf(leaving, "copies into the shared memory of block (1, 0, 0) of its cluster"),
                  "copies into the shared memory of block (1, 0, 0) of its cluster, all threads of which have ended");
  KILN_EXPECT_HAS(faultOf(leaving, "uses the shared memory"),
                  "uses the shared memory of block (1, 0, 0) of its cluster");
}

TEST(Clusters, copiesWaitForReadersOfAllBlocks) {
  // A second round of copies over the first one's data: only where each has told all who write to it.
  const std::string release = "@%p mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%farbar+8];"
                              "@%p mbarrier.arrive.shared.b64 %state, [%bar+8];\n";
  const std::string acquire = "@!%p bra skip; full: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %w, [%bar+8], "
                              "0; @!%w bra full;\nskip:\n";
  std::string twice = replaced(multicast(), storeWord() + meet(), "bar.sync 0;\n" + release + acquire);
  twice = replaced(twice, "[%bar], 1;", "[%bar], 1; @%p mbarrier.init.shared.b64 [%bar+8], 2;");
  twice += "@%p mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 256;\n"
           "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%y], [%in+256], "
           "128, [%bar], %mask;\n"
           "last: mbarrier.try_wait.parity.shared.b64 %w, [%bar], 1; @!%w bra last;\n"
           "ld.shared.u32 %x, [%s];\n" +
           storeWord() + meet();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome found = Text{twice}.run(seed);
    ASSERT_EQ(found.text, "") << seed;
    EXPECT_EQ(found.out[kThreads + 7], (64 + 7) * 3 + 1u);
  }
  KILN_EXPECT_HAS(
      faultOf(replaced(twice, "parity.acquire.cluster.shared.b64 %w, [%bar+8]", "parity.shared.b64 %w, [%bar+8]"),
              "a race"),
      "a race");
  KILN_EXPECT_HAS(
      faultOf(replaced(twice, "arrive.release.cluster.shared::cluster", "arrive.shared::cluster"), "a race"), "a race");
  KILN_EXPECT_HAS(faultOf(replaced(twice, acquire, ""), "a race"), "a race");

  // Reads by the async proxy that were waited for are over: an arrival suffices that orders no memory.
  std::string copied = replaced(twice, "ld.shared.u32 %x, [%s];\nbar.sync 0;\n",
                                "@%p cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 256; @%p "
                                "cp.async.bulk.commit_group; @%p cp.async.bulk.wait_group.read 0;\n");
  copied = replaced(copied, "arrive.release.cluster.shared::cluster", "arrive.shared::cluster");
  copied = replaced(copied, "parity.acquire.cluster.shared.b64 %w, [%bar+8]", "parity.shared.b64 %w, [%bar+8]");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Outcome found = Text{copied}.run(seed);
    ASSERT_EQ(found.text, "") << seed;
    EXPECT_EQ(found.out[kThreads + 7], (64 + 7) * 3 + 1u);
  }
  KILN_EXPECT_HAS(faultOf(replaced(copied, "@%p mbarrier.arrive.shared::cluster.b64 _, [%farbar+8];", ""), "lacks"),
                  "lacks 1 of 2 arrivals");
  KILN_EXPECT_HAS(
      faultOf(replaced(copied, "@%p cp.async.bulk.wait_group.read 0;", ""), "into which an asynchronous copy"),
      "into which an asynchronous copy");
  // A thread's own reads are not, and neither is what it has written.
  KILN_EXPECT_HAS(faultOf(replaced(copied, "@%p mbarrier.arrive.shared::cluster",
                                   "@%p ld.shared.u32 %x, [data]; @%p mbarrier.arrive.shared::cluster"),
                          "a race"),
                  "a race");
}

// A box of 8 rows of 32 words: each block copies four of its rows to both.
TEST(Clusters, boxesAreMulticast) {
  TensorMap map;
  const uint64_t extents[] = {32, 7}, strides[] = {128};
  const uint32_t box[] = {32, 4}, ones[] = {1, 1};
  ASSERT_EQ(encodeTiled(map, 2, 2, 0, extents, strides, box, ones, 0, 3, false), "");
  const std::string text =
      replaced(initialize(), "[%bar], 64", "[%bar], 1") + meetRelaxed() +
      "@%p mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], 1024; shl.b32 %y, %rank, 2; shl.b32 %x, %rank, 9; "
      "mov.u32 %far, data; add.u32 %far, %far, %x; mov.u16 %mask, 3; mov.u32 %x, 0; add.u32 %far, %far, 16; add.u32 "
      "%farbar, %bar, 8;\n"
      "@%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%far+-16], "
      "[%map, {%x, %y}], [%farbar+-8], %mask;\n"
      "again: mbarrier.try_wait.parity.shared.b64 %w, [%bar], 0; @!%w bra again;\n"
      // Row 5 of the first 64 words, and the row that is outside.
      "ld.shared.u32 %x, [%s+512]; setp.lt.u32 %q, %t, 32; @%q bra write; ld.shared.u32 %x, [%s+768];\nwrite: " +
      storeWord() + meet();
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Outcome found = Text{text}.run(seed, &map);
    ASSERT_EQ(found.text, "");
    for (uint32_t block = 0; block < 2; ++block)
      for (uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(found.out[block * kThreads + i], (4 * 32 + (i / 4 ^ 4) * 4 + i % 4) * 3 + 1);
        EXPECT_EQ(found.out[block * kThreads + 32 + i], 0u);
      }
  }
}

} // namespace
} // namespace kiln::cudasim

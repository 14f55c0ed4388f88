// mbarrier, and copies by the async proxy.
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/tensor_map.h"

#include "gtest/gtest.h"

namespace kiln::cudasim {
namespace {

struct Outcome {
  std::string text;
  std::vector<uint32_t> out;
};

// A kernel of 64 threads over 256 words of input and of output; %t is the thread, %p that it is the first.
Outcome run(const std::string &body, uint64_t seed = 0, const TensorMap *map = nullptr) {
  KernelRun kernel(R"(.visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128]) {
  .reg .b64 %in, %out, %o, %state, %map; .reg .b32 %t, %x, %y, %s, %bar; .reg .pred %p, %q, %w;
  .shared .align 1024 .b8 data[1024]; .shared .align 8 .b64 barrier;
  mov.b64 %map, map; cvta.param.u64 %map, %map;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;
  mul.wide.u32 %o, %t, 4; shl.b32 %x, %t, 2; mov.u32 %s, data; add.u32 %s, %s, %x; mov.u32 %bar, barrier;
)" + body + "\nret; }");
  EXPECT_EQ(kernel.loadError(), "") << body;
  std::vector<uint32_t> values(256);
  for (uint32_t i = 0; i < 256; ++i)
    values[i] = i * 3 + 1;
  const uint64_t in = kernel.allocate(values), out = kernel.allocate(std::vector<uint32_t>(256));
  std::vector<uint64_t> params{in, out};
  params.resize(8); // the map is at 64 bytes
  if (map) {
    TensorMap placed = *map;
    placed.address += placed.address == 0 ? in : out - 1024;
    params.resize(8 + 16);
    std::memcpy(params.data() + 8, &placed, sizeof(placed));
  }
  params.resize(24);
  std::string text = kernel.run({1, 1, 1}, {64, 1, 1}, params, seed);
  return {text, kernel.read<uint32_t>(out, 256)};
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string kWait = "again: mbarrier.try_wait.parity.shared.b64 %w, [barrier], 0; @!%w bra again;\n";
const std::string kInitialize =
    "@%p mbarrier.init.shared.b64 [barrier], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n";

TEST(Mbarrier, arrivalsOrderThreads) {
  const std::string text = R"(
    @%p mbarrier.init.shared.b64 [barrier], 32; bar.sync 0;
    setp.ge.u32 %q, %t, 32; @%q bra reader;
    st.shared.u32 [%s], %t; ARRIVE bra done;
  reader: WAIT ld.shared.u32 %x, [%s+-128]; add.u64 %out, %out, %o; st.global.u32 [%out], %x;
  done:)";
  auto with = [&](std::string arrive, std::string wait) {
    std::string all = text;
    all.replace(all.find("ARRIVE"), 6, arrive);
    return all.replace(all.find("WAIT"), 4, wait);
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 %state, [barrier];";
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Outcome right = run(with(arrive, kWait), seed);
    EXPECT_EQ(right.text, "");
    EXPECT_EQ(right.out[40], 8u);
    const std::string early = run(with(arrive, ""), seed).text;
    EXPECT_TRUE(has(early, "a race") || has(early, "never written")) << early;
  }
  const std::string stuck = run(with("", kWait)).text;
  EXPECT_TRUE(has(stuck, "instruction 'mbarrier.try_wait.parity.shared.b64 %w, [barrier], 0'")) << stuck;
  EXPECT_TRUE(has(stuck,
                  "whose phase 0 lacks 32 of 32 arrivals and 0 bytes; 32 of the block's 64 threads have ended, and "
                  "the block cannot proceed"))
      << stuck;
  EXPECT_TRUE(has(run("mbarrier.arrive.shared.b64 %state, [barrier];").text, "where no mbarrier was initialized"));
  // The other parity is that of the phase before the first.
  EXPECT_EQ(run(kInitialize + "once: mbarrier.test_wait.parity.shared.b64 %w, [barrier], 1; @!%w bra once;").text, "");
}

const std::string kLoad =
    "@%p mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], 256;\n"
    "@%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%in], 256, [barrier];\n";
const std::string kRead = "ld.shared.u32 %x, [%s]; add.u64 %out, %out, %o; st.global.u32 [%out], %x;";

TEST(Bulk, bytesArriveAtABarrier) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Outcome right = run(kInitialize + kLoad + kWait + kRead, seed);
    EXPECT_EQ(right.text, "");
    EXPECT_EQ(right.out[63], 63u * 3 + 1);
    const std::string early = run(kInitialize + kLoad + kRead, seed).text;
    EXPECT_TRUE(has(early, "an asynchronous copy of thread (0, 0, 0) goes on") || has(early, "never written") ||
                has(early, "a race"))
        << early;
  }
  std::string wrong = kLoad;
  wrong.replace(wrong.find("256"), 3, "512");
  const std::string stuck = run(kInitialize + wrong + kWait + kRead).text;
  EXPECT_TRUE(has(stuck, "lacks 0 of 1 arrivals and 256 bytes")) << stuck;
  const std::string gone = run(kInitialize + kLoad).text;
  EXPECT_TRUE(gone.empty() || has(gone, "goes on when all threads of the block have ended")) << gone;
  std::string odd = kLoad;
  odd.replace(odd.find("[%in]"), 5, "[%in+4]");
  EXPECT_TRUE(has(run(kInitialize + odd + kWait).text, "must be multiples of 16"));
}

TEST(Mbarrier, liesAlone) {
  const std::string onIt = run(kInitialize + "@%p st.shared.u64 [barrier], 0;").text;
  EXPECT_TRUE(has(onIt, "writes 8 bytes at 0x400 of shared memory, where an mbarrier lies")) << onIt;
  const std::string again = run(kInitialize + "@%p mbarrier.init.shared.b64 [barrier], 1;").text;
  EXPECT_TRUE(has(again, "where an mbarrier lies; mbarrier.inval ends it")) << again;
  EXPECT_EQ(run(kInitialize + "@%p mbarrier.inval.shared.b64 [barrier]; @%p st.shared.u64 [barrier], 0; @%p "
                              "mbarrier.init.shared.b64 [barrier], 1;")
                .text,
            "");
  const std::string large = run(kInitialize + "@%p mbarrier.expect_tx.relaxed.cta.shared.b64 [barrier], 2000000;").text;
  EXPECT_TRUE(has(large, "lack 2000000 bytes; 1048575 are possible")) << large;
}

// Waiting for what a copy reads is not waiting for what it writes.
TEST(Bulk, whatIsReadIsNotYetWritten) {
  auto copy = [](const std::string &wait) {
    return "@!%p bra done; st.shared.u32 [data], 99; st.shared.u32 [data+4], 99; st.shared.u64 [data+8], 99; "
           "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 16; "
           "cp.async.bulk.commit_group; " +
           wait + " st.shared.u32 [data], 1; ld.global.u32 %x, [%out]; st.global.u32 [%out+16], %x; done:";
  };
  bool early = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Outcome full = run(copy("cp.async.bulk.wait_group 0;"), seed),
                  reads = run(copy("cp.async.bulk.wait_group.read 0;"), seed);
    EXPECT_EQ(full.text + reads.text, "");
    EXPECT_EQ(full.out[4], 99u);
    EXPECT_EQ(reads.out[0], 99u);
    early |= reads.out[4] == 0;
  }
  EXPECT_TRUE(early);
}

TEST(Bulk, storesNeedTheirFence) {
  auto store = [](const std::string &fence) {
    return "st.shared.u32 [%s], %t; " + fence +
           " bar.sync 0; @!%p bra done; cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 256; "
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:";
  };
  Outcome right = run(store("fence.proxy.async.shared::cta;"));
  EXPECT_EQ(right.text, "");
  EXPECT_EQ(right.out[63], 63u);
  EXPECT_TRUE(has(run(store("fence.proxy.async.global;")).text, "fence.proxy.async is missing between the two"));
  const std::string unfenced = run(store("")).text;
  EXPECT_TRUE(has(unfenced, "fence.proxy.async is missing between the two")) << unfenced;
  EXPECT_TRUE(has(unfenced, "wrote byte 0x0 at PTX line 8")) << unfenced;
}

TEST(Tensors, mapsAreChecked) {
  TensorMap map;
  const uint64_t extents[] = {64, 8}, strides[] = {128}, odd[] = {100};
  const uint32_t box[] = {64, 8}, ones[] = {1, 1}, large[] = {64, 257}, wide[] = {128, 8};
  EXPECT_EQ(encodeTiled(map, 6, 2, 4096, extents, strides, box, ones, 0, 3, false), "");
  EXPECT_EQ(encodeTiled(map, 6, 2, 4096, extents, odd, box, ones, 0, 3, false),
            "the stride 100 of dimension 1 is no multiple of 16 below 2^40");
  EXPECT_EQ(encodeTiled(map, 6, 2, 4096, extents, strides, large, ones, 0, 3, false),
            "the box has 257 elements in dimension 1; 1 to 256 are possible");
  EXPECT_EQ(encodeTiled(map, 6, 2, 4096, extents, strides, wide, ones, 0, 3, false),
            "a row of the box has 256 bytes, and the swizzle takes 128");
  EXPECT_EQ(encodeTiled(map, 6, 2, 4, extents, strides, box, ones, 0, 0, false),
            "the address 0x4 is no multiple of 16");
}

// A box of 8 rows of 32 words out of 12 rows of 20 words at (4, 6): what is outside is zero.
TEST(Tensors, boxesAreSwizzledAndPadded) {
  for (int swizzle : {0, 3}) {
    TensorMap map;
    const uint64_t extents[] = {20, 12}, strides[] = {80};
    const uint32_t box[] = {32, 8}, ones[] = {1, 1};
    ASSERT_EQ(encodeTiled(map, 2, 2, 0, extents, strides, box, ones, 0, swizzle, false), "");
    const std::string load = kInitialize + R"(
  @%p mbarrier.arrive.expect_tx.shared.b64 %state, [barrier], 1024;
  mov.u32 %x, 4; mov.u32 %y, 6;
  @%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [data], [%map, {%x, %y}], [barrier];
)" + kWait + R"(
  add.u64 %out, %out, %o;
  ld.shared.u32 %x, [%s]; st.global.u32 [%out], %x; ld.shared.u32 %x, [%s+256]; st.global.u32 [%out+256], %x;
  ld.shared.u32 %x, [%s+512]; st.global.u32 [%out+512], %x; ld.shared.u32 %x, [%s+768]; st.global.u32 [%out+768], %x;)";
    Outcome loaded = run(load, 1, &map);
    ASSERT_EQ(loaded.text, "");
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t column = 0; column < 32; ++column) {
        const bool isInside = row + 6 < 12 && column + 4 < 20;
        const uint32_t chunk = column / 4 ^ (swizzle ? row : 0); // of 16 bytes
        EXPECT_EQ(loaded.out[row * 32 + chunk * 4 + column % 4], isInside ? ((row + 6) * 20 + column + 4) * 3 + 1 : 0)
            << row << " " << column;
      }
  }
}

TEST(Tensors, boxesAreStored) {
  TensorMap map;
  const uint64_t extents[] = {12, 4}, strides[] = {64};
  const uint32_t box[] = {8, 4}, ones[] = {1, 1};
  ASSERT_EQ(encodeTiled(map, 2, 2, 1024, extents, strides, box, ones, 0, 0, false), "");
  Outcome stored =
      run("st.shared.u32 [%s], %t; fence.proxy.async; bar.sync 0; @!%p bra done; mov.u32 %x, 8; mov.u32 %y, 1; "
          "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%x, %y}], [data]; "
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; done:",
          2, &map);
  ASSERT_EQ(stored.text, "");
  EXPECT_EQ(stored.out[1 * 16 + 8], 0u);
  EXPECT_EQ(stored.out[1 * 16 + 11], 3u);
  EXPECT_EQ(stored.out[1 * 16 + 12], 0u); // outside
  EXPECT_EQ(stored.out[3 * 16 + 9], 17u);
}

} // namespace
} // namespace kiln::cudasim

// Kernels with planted faults, and what is said of them; and the same without the fault.
#include "kiln/targets/cuda/sim/kernel_run.h"

#include "gtest/gtest.h"

#include <numeric>

namespace kiln::cudasim {
namespace {

// That the text has that part.
#define KILN_EXPECT_HAS(text, part)                                                                                    \
  do {                                                                                                                 \
    const std::string kilnText = (text);                                                                               \
    EXPECT_NE(kilnText.find(part), std::string::npos) << kilnText;                                                     \
  } while (false)

// A kernel with the parameters out and n, whose thread's number is %t, and what it does.
std::string kernel(const std::string &body) {
  return R"(.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out, .param .u64 n) {
  .reg .b64 %out, %n, %a, %s; .reg .b32 %t, %x, %y, %z; .reg .pred %p, %q;
  .shared .align 16 .b8 data[1024];
  ld.param.u64 %out, [out]; ld.param.u64 %n, [n];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %s, %t, 4; add.u64 %a, %out, %s;
)" + body +
         "\nret; }";
}

struct Result {
  std::string text;
  FaultCode code;
};

Result run(const std::string &body, uint32_t threads, uint64_t n = 0, uint64_t seed = 0) {
  KernelRun simulated(kernel(body));
  EXPECT_EQ(simulated.loadError(), "") << body;
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
  std::string text = simulated.run({1, 1, 1}, {threads, 1, 1}, {out, n}, seed);
  return {text, simulated.faultCode()};
}

TEST(Checks, accessesOutsideOfAllocations) {
  EXPECT_EQ(run("st.global.u32 [%a], %t;", 64).text, "");
  Result past = run("st.global.u32 [%a], %t;", 65);
  EXPECT_EQ(past.code, FaultCode::IllegalAddress);
  KILN_EXPECT_HAS(past.text, ("kernel 'k', instruction 'st.global.u32 [%a], %t' at PTX line 9, block (0, 0, 0), "
                              "thread (64, 0, 0): writes 4 bytes at 0x"));
  KILN_EXPECT_HAS(past.text, ("of global memory, which is 0 bytes past the end of an allocation of 256 bytes"));
  KILN_EXPECT_HAS(run("ld.global.u32 %x, [%out+-4];", 1).text,
                  ("reads 4 bytes at 0x107fffffffc of global memory, which is 4 bytes before an allocation"));
  KILN_EXPECT_HAS(run("ld.global.v2.u32 {%x, %y}, [%out+256];", 1).text, ("0 bytes past the end"));
  KILN_EXPECT_HAS(run("ld.global.u32 %x, [%n];", 1).text, ("at 0x0 of global memory, which is in no allocation"));
  KILN_EXPECT_HAS(run("st.shared.u32 [data+1024], %t;", 1).text,
                  ("writes 4 bytes at 0x400 of shared memory, of which the block has 1024 bytes"));
  KILN_EXPECT_HAS(run("cvta.shared.u64 %a, 2048; st.u32 [%a], %t;", 1).text, ("at 0x800 of shared memory"));
  KILN_EXPECT_HAS(run(".local .u32 l[4]; mov.u64 %a, l; st.local.u32 [%a+16], %t;", 1).text,
                  ("writes 4 bytes at 0x10 of local memory, of which the thread has 16 bytes"));
  KILN_EXPECT_HAS(run("ld.param.u64 %a, [out+16];", 1).text, ("of parameter memory, of which the kernel has 16"));
  KILN_EXPECT_HAS(run("atom.global.add.u32 %x, [%out+256], 1;", 1).text, ("updates 4 bytes"));
}

// What a load takes beside what is there is no number to rely on; nothing may be stored there, or begin there.
TEST(Checks, loadsAcrossTheEnd) {
  KernelRun simulated(kernel("ld.global.nc.b32 %x, [%n+4]; st.global.u32 [%out], %x; ld.global.nc.v2.u8 {%y, %z}, "
                             "[%n+4]; st.global.v2.u32 [%out+8], {%y, %z};"));
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
  const uint64_t seven = simulated.allocate(std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(simulated.run({1, 1, 1}, {1, 1, 1}, {out, seven}), "");
  const std::vector<uint32_t> read = simulated.read<uint32_t>(out, 4);
  EXPECT_EQ(read[0] & 0xffffff, 0x070605u);
  EXPECT_NE(read[0] >> 24, 0u);
  EXPECT_EQ(read[2], 5u);
  for (const char *body : {"st.global.u32 [%n+4], %t;", "red.global.add.u32 [%n+4], %t;", "ld.global.u8 %x, [%n+7];"}) {
    KernelRun wrong(kernel(body));
    const uint64_t unused = wrong.allocate(std::vector<uint32_t>(64));
    KILN_EXPECT_HAS(wrong.run({1, 1, 1}, {1, 1, 1}, {unused, wrong.allocate(std::vector<uint8_t>(7))}),
                    ("past the end of an allocation of 7 bytes"));
  }
}

TEST(Checks, racesInGlobalMemory) {
  const std::string stores = "st.global.u32 [%out], VALUE;";
  auto with = [&](const std::string &value) { return std::string(stores).replace(stores.find("VALUE"), 5, value); };
  KILN_EXPECT_HAS(run(with("%t"), 64).text, ("a race: thread ("));
  EXPECT_EQ(run(with("7"), 64).text, ""); // all the same
  // What another thread has stored, with a barrier and without, and of another warp than that of the barrier.
  const std::string exchange = "st.global.u32 [%a], %t; BARRIER xor.b32 %x, %t, 33; mul.wide.u32 %s, %x, 4; "
                               "add.u64 %a, %out, %s; ld.global.u32 %x, [%a];";
  auto behind = [&](const std::string &barrier) {
    return std::string(exchange).replace(exchange.find("BARRIER"), 7, barrier);
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(run(behind("bar.sync 0;"), 64, 0, seed).text, "");
    for (const char *barrier : {"", "bar.warp.sync 0xffffffff;"}) {
      const std::string text = run(behind(barrier), 64, 0, seed).text;
      KILN_EXPECT_HAS(text, ("reads 4 bytes at 0x"));
      KILN_EXPECT_HAS(text, ("of global memory, a race: thread ("));
      KILN_EXPECT_HAS(text, ("wrote there at PTX line 9, and no barrier is between the two"));
    }
  }
  // Atomics order nothing by themselves, and race with nothing.
  EXPECT_EQ(run("red.global.add.u32 [%out], %t;", 64).text, "");
}

TEST(Checks, freedMemory) {
  KernelRun simulated(kernel("st.global.u32 [%a], %t;"));
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
  ASSERT_TRUE(simulated.memory.free(out));
  EXPECT_FALSE(simulated.memory.free(out));
  KILN_EXPECT_HAS(simulated.run({1, 1, 1}, {1, 1, 1}, {out, 0}),
                  ("which is in freed memory: byte 0 of what was an allocation of 256 bytes"));
}

TEST(Checks, alignment) {
  Result result = run("st.global.u32 [%out+2], %t;", 1);
  EXPECT_EQ(result.code, FaultCode::Misaligned);
  KILN_EXPECT_HAS(result.text, ("of global memory, which is no multiple of 4"));
  KILN_EXPECT_HAS(run("ld.global.v4.u32 {%x, %y, %z, %t}, [%out+8];", 1).text, ("no multiple of 16"));
  EXPECT_EQ(run("ld.global.v2.u32 {%x, %y}, [%out+8];", 1).text, "");
  KILN_EXPECT_HAS(run("st.shared.u64 [data+4], %a;", 1).text, ("of shared memory, which is no multiple of 8"));
}

TEST(Checks, uninitializedSharedMemory) {
  Result result = run("st.shared.u16 [data], 1; ld.shared.u32 %x, [data];", 1);
  EXPECT_EQ(result.code, FaultCode::LaunchFailed);
  KILN_EXPECT_HAS(result.text, ("reads 4 bytes at 0x0 of shared memory, of which byte 0x2 was never written"));
  EXPECT_EQ(run("st.shared.u32 [data], 1; ld.shared.u32 %x, [data];", 1).text, "");
}

// Each thread writes a word and reads its neighbour's.
const std::string kExchange = R"(
  cvt.u32.u64 %x, %s; mov.u32 %y, data; add.u32 %x, %x, %y; st.shared.u32 [%x], %t;
  BARRIER
  xor.b32 %z, %x, 4; ld.shared.u32 %y, [%z]; st.global.u32 [%a], %y;)";

std::string exchange(const std::string &barrier) {
  std::string text = kExchange;
  return text.replace(text.find("BARRIER"), 7, barrier);
}

TEST(Checks, racesBetweenBarriers) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(run(exchange("bar.sync 0;"), 64, 0, seed).text, "");
    EXPECT_EQ(run(exchange("barrier.sync 0;"), 64, 0, seed).text, "");
    EXPECT_EQ(run(exchange("bar.warp.sync 0xffffffff;"), 64, 0, seed).text, "");
    EXPECT_EQ(run(exchange("bar.sync 1, 64;"), 64, 0, seed).text, "");
    std::string race = run(exchange(""), 64, 0, seed).text;
    EXPECT_TRUE(race.find("a race: thread (") != race.npos || race.find("was never written") != race.npos) << race;
  }
  // What another warp writes is not known after a barrier of one's own warp.
  bool found = false;
  for (uint64_t seed = 0; seed < 20; ++seed)
    found |= run("@%p bra done; mov.u32 %y, data; setp.ge.u32 %p, %t, 32; @%p st.shared.u32 [data], 1; "
                 "bar.warp.sync 0xffffffff; setp.eq.u32 %q, %t, 0; @%q st.shared.u32 [data], 2; done:",
                 33, 0, seed)
                 .text.find("a race") != std::string::npos;
  EXPECT_TRUE(found);
  std::string text = run("st.shared.u32 [data], %t;", 2).text;
  KILN_EXPECT_HAS(text, ("writes 4 bytes at 0x0 of shared memory, a race: thread ("));
  KILN_EXPECT_HAS(text, ("wrote byte 0x0 at PTX line 9, and no barrier is between the two"));
  // A read before the write of another, and the other way round; two readers of which one writes.
  KILN_EXPECT_HAS(run("setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [data], 0; bar.sync 0; ld.shared.u32 %x, [data]; "
                      "@%p st.shared.u32 [data], 1;",
                      4)
                      .text,
                  ("a race: thread ("));
  EXPECT_EQ(run("setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [data], 0; bar.sync 0; ld.shared.u32 %x, [data]; "
                "bar.sync 0; @%p st.shared.u32 [data], 1;",
                4)
                .text,
            "");
  // Atomics do not race with each other, and do with what is none.
  EXPECT_EQ(
      run("setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [data], 0; bar.sync 0; red.shared.add.u32 [data], 1;", 64).text,
      "");
  KILN_EXPECT_HAS(run("setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [data], 0; bar.sync 0; red.shared.add.u32 [data], 1; "
                      "ld.shared.u32 %x, [data];",
                      64)
                      .text,
                  ("a race"));
}

TEST(Checks, orderByFlags) {
  // One thread writes, fences and raises a flag; another waits for the flag and reads.
  const std::string text = R"(
    setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [data], 0; bar.sync 0; @%p bra reader;
    st.shared.u32 [data+4], 7; FENCE st.volatile.shared.u32 [data], 1; bra done;
  reader: ld.volatile.shared.u32 %x, [data]; setp.eq.u32 %q, %x, 0; @%q bra reader;
    membar.cta; ld.shared.u32 %y, [data+4]; st.global.u32 [%out], %y;
  done:)";
  auto with = [&](const std::string &fence) { return std::string(text).replace(text.find("FENCE"), 5, fence); };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(run(with("membar.cta;"), 2, 0, seed).text, "");
    KILN_EXPECT_HAS(run(with(""), 2, 0, seed).text, ("a race"));
    // A fence is for what came before it, and a flag of another address tells nothing.
    KILN_EXPECT_HAS(run("membar.cta; " + with(""), 2, 0, seed).text, ("a race"));
    KILN_EXPECT_HAS(run(with("st.release.cta.shared.u32 [data+8], 1;"), 2, 0, seed).text, ("a race"));
    EXPECT_EQ(run(with("fence.acq_rel.cta; st.volatile.shared.u32 [data+8], 1;"), 2, 0, seed).text, "");
    // The reader's fence is missing, or comes with the read.
    std::string reader = with("membar.cta;");
    reader.erase(reader.rfind("membar.cta;"), 11);
    KILN_EXPECT_HAS(run(reader, 2, 0, seed).text, ("a race"));
    reader.replace(reader.find("ld.volatile"), 11, "ld.acquire.cta");
    EXPECT_EQ(run(reader, 2, 0, seed).text, "");
  }
}

// Of several readers one has not told the writer that it is done, whichever it is.
TEST(Checks, oneOfManyReaders) {
  for (uint32_t missing = 0; missing < 5; ++missing)
    for (uint64_t seed = 0; seed < 10; ++seed) {
      const std::string out = std::to_string(missing), mask = std::to_string(~(1u << missing));
      const std::string text =
          run("setp.ne.u32 %p, %t, 31; @!%p st.shared.u32 [data], 5; bar.sync 0; setp.gt.u32 %q, %t, 4; "
              "@!%q ld.shared.u32 %x, [data]; setp.eq.u32 %q, %t, " +
                  out + "; @%q bra done; bar.warp.sync " + mask + "; @!%p st.shared.u32 [data], 6; done:",
              32, 0, seed)
              .text;
      // It may have come after the write.
      KILN_EXPECT_HAS(text, ("a race: thread ("));
    }
}

TEST(Checks, earlyStart) {
  const std::string head = ".entry k(.param .u64 out) { .reg .b64 %out; ld.param.u64 %out, [out];\n";
  auto run = [&](const std::string &body) {
    KernelRun kernel(head + body + "}");
    EXPECT_EQ(kernel.loadError(), "");
    kernel.options.startsEarly = true;
    return kernel.run({1, 1, 1}, {1, 1, 1}, {kernel.allocate(std::vector<uint32_t>{0})});
  };
  EXPECT_EQ(run("griddepcontrol.launch_dependents; griddepcontrol.wait; st.global.u32 [%out], 1;"), "");
  KILN_EXPECT_HAS(run("st.global.u32 [%out], 1; griddepcontrol.wait;"),
                  ("uses global memory before griddepcontrol.wait, while the kernels before may still run"));
}

TEST(Checks, barriersThatNotAllReach) {
  Result result = run("setp.eq.u32 %p, %t, 3; @%p ret; bar.sync 0;", 64);
  EXPECT_EQ(result.code, FaultCode::LaunchFailed);
  KILN_EXPECT_HAS(result.text, ("instruction 'bar.sync 0'"));
  KILN_EXPECT_HAS(result.text, ("waits at barrier 0 for 64 threads, of which 63 have come; 1 of the block's 64 "
                                "threads have ended, and the block cannot proceed"));
  KILN_EXPECT_HAS(run("setp.eq.u32 %p, %t, 3; @%p bra other; bar.sync 0; bra done; other: bar.sync 1; done:", 64).text,
                  ("the block cannot proceed"));
  KILN_EXPECT_HAS(run("setp.eq.u32 %p, %t, 3; @%p bra other; bar.sync 0; bra done; other: bar.sync 0; done:", 64).text,
                  ("of its warp is at another one, at PTX line 9; an aligned barrier is for whole warps"));
  EXPECT_EQ(
      run("setp.eq.u32 %p, %t, 3; @%p bra other; barrier.sync 0; bra done; other: barrier.sync 0; done:", 64).text, "");
  EXPECT_EQ(run("setp.eq.u32 %p, %t, 3; @%p ret; shfl.sync.idx.b32 %x, %t, 0, 31, -1;", 32).text, "");
  KILN_EXPECT_HAS(
      run("setp.eq.u32 %p, %t, 3; @%p bra done; shfl.sync.idx.b32 %x, %t, 0, 31, -1; done: bar.sync 0;", 32).text,
      ("the block cannot proceed"));
  KILN_EXPECT_HAS(run("bar.sync 16;", 32).text, ("names barrier 16; there are 16"));
  KILN_EXPECT_HAS(run("bar.sync 0, 33;", 64).text, ("which must be a multiple of 32"));
}

TEST(Checks, whatNeverEnds) {
  KernelRun simulated(kernel("again: bra again;"));
  simulated.options.mostInstructions = 1 << 20;
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
  KILN_EXPECT_HAS(simulated.run({1, 1, 1}, {2, 1, 1}, {out, 0}), ("instruction 'bra again' at PTX line 9"));
  EXPECT_EQ(simulated.faultCode(), FaultCode::LaunchTimeout);
  KILN_EXPECT_HAS(run("trap;", 1).text, ("the kernel has given up by itself"));
}

TEST(Checks, sourceLines) {
  KernelRun simulated(".file 1 \"product.mlir\"\n" + kernel(".loc 1 42 3\n st.global.u32 [%n], %t;"));
  KILN_EXPECT_HAS(simulated.run({1, 1, 1}, {1, 1, 1}, {0, 0}), ("at PTX line 11 (product.mlir:42), block"));
}

//===--- What is right --------------------------------------------------------------------------------------------===//

TEST(Threads, shufflesAndVotes) {
  auto values = [](const std::string &code) {
    KernelRun simulated(kernel(code + " st.global.u32 [%a], %x;"));
    EXPECT_EQ(simulated.loadError(), "") << code;
    const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
    EXPECT_EQ(simulated.run({1, 1, 1}, {64, 1, 1}, {out, 0}, 5), "");
    return simulated.read<uint32_t>(out, 64);
  };
  auto up = values("shfl.sync.up.b32 %x, %t, 1, 0, -1;"), down = values("shfl.sync.down.b32 %x|%p, %t, 4, 31, -1;"),
       across = values("shfl.sync.bfly.b32 %x, %t, 3, 31, -1;"),
       segments = values("shfl.sync.idx.b32 %x, %t, 5, 0x1807, -1;"),
       ballot = values("setp.lt.u32 %p, %t, 3; vote.sync.ballot.b32 %x, %p, -1;"),
       sum = values("redux.sync.add.u32 %x, %t, -1;"),
       least = values("sub.u32 %y, 40, %t; redux.sync.min.s32 %x, %y, -1;"),
       equal = values("shr.u32 %y, %t, 2; match.any.sync.b32 %x, %y, -1;"),
       elected = values("elect.sync _|%p, -1; selp.u32 %x, 1, 0, %p;"),
       count = values("setp.lt.u32 %p, %t, 40; bar.red.popc.u32 %x, 0, %p;");
  for (uint32_t t = 0; t < 64; ++t) {
    EXPECT_EQ(up[t], t % 32 ? t - 1 : t);
    EXPECT_EQ(down[t], t % 32 < 28 ? t + 4 : t);
    EXPECT_EQ(across[t], t ^ 3);
    EXPECT_EQ(segments[t], t / 8 * 8 + 5);
    EXPECT_EQ(ballot[t], t < 32 ? 7u : 0);
    EXPECT_EQ(sum[t], t < 32 ? 496u : 1520u);
    EXPECT_EQ(least[t], t < 32 ? 9u : uint32_t(-23));
    EXPECT_EQ(equal[t], 0xfu << (t % 32 / 4 * 4));
    EXPECT_EQ(elected[t], t % 32 == 0);
    EXPECT_EQ(count[t], 40u);
  }
}

TEST(Threads, atomicsAndManyBlocks) {
  KernelRun simulated(kernel("atom.global.add.u32 %x, [%out], 1; mov.u32 %y, %ctaid.x; mov.u32 %z, %ctaid.y; "
                             "mad.lo.u32 %y, %z, 7, %y; mul.wide.u32 %s, %y, 4; add.u64 %a, %out, %s; "
                             "red.global.max.u32 [%a+4], %t;"));
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
    EXPECT_EQ(simulated.run({7, 3, 1}, {40, 1, 1}, {out, 0}, seed), "");
    std::vector<uint32_t> expected(64, 0);
    expected[0] = 7 * 3 * 40;
    std::fill_n(expected.begin() + 1, 21, 39);
    EXPECT_EQ(simulated.read<uint32_t>(out, 64), expected);
  }
}

// Blocks that wait for each other are there at the same time, whichever comes first.
TEST(Threads, blocksWaitForEachOther) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    KernelRun simulated(kernel("mov.u32 %x, %ctaid.x; atom.global.add.u32 %y, [%out], 1; "
                               "again: ld.volatile.global.u32 %z, [%out]; setp.lt.u32 %p, %z, 4; @%p bra again;"));
    const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
    EXPECT_EQ(simulated.run({4, 1, 1}, {1, 1, 1}, {out, 0}, seed), "");
  }
}

TEST(Threads, functionsAndTables) {
  KernelRun simulated(R"(
.func (.param .b32 result) factorial(.param .b32 n) {
  .reg .b32 %n, %r; .reg .pred %p;
  ld.param.u32 %n, [n];
  setp.gt.u32 %p, %n, 1;
  @%p bra more;
  st.param.b32 [result], 1;
  ret;
more:
  { .param .b32 p0; .param .b32 r0; sub.u32 %r, %n, 1; st.param.b32 [p0], %r;
    call.uni (r0), factorial, (p0); ld.param.b32 %r, [r0]; }
  mul.lo.u32 %r, %r, %n;
  st.param.b32 [result], %r;
  ret;
}
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = generic(table) + 8;
.visible .entry k(.param .u64 out) {
  .reg .b64 %out, %a; .reg .b32 %x, %y; .local .align 8 .b8 depot[16]; .reg .b64 %SP;
  ld.param.u64 %out, [out];
  { .param .b32 p0; .param .b32 r0; st.param.b32 [p0], 5; call.uni (r0), factorial, (p0); ld.param.b32 %x, [r0]; }
  st.global.u32 [%out], %x;
  mov.u64 %SP, depot; cvta.local.u64 %SP, %SP; st.u32 [%SP+4], 77; ld.local.u32 %y, [depot+4];
  st.global.u32 [%out+4], %y;
  mov.u32 %x, 2;
targets: .branchtargets first, second, third;
  brx.idx %x, targets;
first: mov.u32 %y, 1; bra done;
second: mov.u32 %y, 2; bra done;
third: ld.const.u32 %y, [table+12];
done: st.global.u32 [%out+8], %y;
  ld.global.u64 %a, [pointer]; ld.u32 %y, [%a]; st.global.u32 [%out+12], %y;
})");
  EXPECT_EQ(simulated.loadError(), "");
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(4));
  EXPECT_EQ(simulated.run({1, 1, 1}, {1, 1, 1}, {out}), "");
  EXPECT_EQ(simulated.read<uint32_t>(out, 4), (std::vector<uint32_t>{120, 77, 40, 30}));
}

TEST(Threads, countInstructions) {
  KernelRun simulated(kernel(R"(mov.u32 %x, 0; mov.u32 %y, 0;
again: mad.lo.u32 %y, %x, 3, %y; xor.b32 %y, %y, %t; add.u32 %x, %x, 1; setp.lt.u32 %p, %x, 20000; @%p bra again;
  st.global.u32 [%a], %y;)"));
  const uint64_t out = simulated.allocate(std::vector<uint32_t>(64));
  EXPECT_EQ(simulated.run({1, 1, 1}, {64, 1, 1}, {out, 0}), "");
  EXPECT_GT(simulated.instructions(), 64u * 5 * 20000);
  EXPECT_LT(simulated.instructions(), 64u * 5 * 20000 + 64 * 100);
}

} // namespace
} // namespace kiln::cudasim

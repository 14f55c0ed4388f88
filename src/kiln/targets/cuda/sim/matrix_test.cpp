// Products of matrices by warps and their loads, laid out as the manual's figures say; and asynchronous copies.
#include "kiln/base/random.h"
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/values.h"

#include "gtest/gtest.h"

#include <functional>

namespace kiln::cudasim {
namespace {

// A kernel of one warp that loads a and b registers for each thread, multiplies, and stores d registers.
std::vector<uint32_t> multiply(const std::string &instruction, int a, int b, int d, const std::string &type,
                               const std::vector<uint32_t> &inputs) {
  std::string text = R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %in, %out, %o; .reg .b32 %t, %a<4>, %b<2>; .reg .)" +
                     type + R"( %d<4>;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, )" +
                     std::to_string(4 * (a + b)) + "; add.u64 %in, %in, %o; mul.wide.u32 %o, %t, " +
                     std::to_string(4 * d) + "; add.u64 %out, %out, %o;\n";
  auto list = [](const char *name, int count) {
    std::string result = "{";
    for (int i = 0; i < count; ++i)
      result += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
    return result + "}";
  };
  for (int i = 0; i < a + b; ++i)
    text += "ld.global.u32 %" + (i < a ? "a" + std::to_string(i) : "b" + std::to_string(i - a)) + ", [%in+" +
            std::to_string(4 * i) + "];\n";
  for (int i = 0; i < d; ++i)
    text += "mov.b32 %d" + std::to_string(i) + ", 0;\n";
  text += instruction + " " + list("d", d) + ", " + list("a", a) + ", " + list("b", b) + ", " + list("d", d) + ";\n";
  for (int i = 0; i < d; ++i)
    text += "st.global.b32 [%out+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
  KernelRun kernel(text + "ret; }");
  EXPECT_EQ(kernel.loadError(), "");
  const uint64_t in = kernel.allocate(inputs), out = kernel.allocate(std::vector<uint32_t>(size_t(32 * d)));
  EXPECT_EQ(kernel.run({1, 1, 1}, {32, 1, 1}, {in, out}, 3), "");
  return kernel.read<uint32_t>(out, size_t(32 * d));
}

// Small integers, so that every order of sums gives the same.
struct Problem {
  int m = 16, n = 8, k;
  std::vector<int> a, b;
  Problem(int k, uint64_t seed) : k(k) {
    Random random(seed);
    for (int i = 0; i < m * k; ++i)
      a.push_back(int(random.below(9)) - 4);
    for (int i = 0; i < k * n; ++i)
      b.push_back(int(random.below(9)) - 4);
  }
  int expected(int row, int column) const {
    int sum = 0;
    for (int i = 0; i < k; ++i)
      sum += a[size_t(row * k + i)] * b[size_t(i * n + column)];
    return sum;
  }
};

// c0, c1 of row lane / 4 and columns 2 * (lane % 4) + {0, 1}; c2, c3 eight rows below.
void expectProduct(const Problem &problem, const std::vector<uint32_t> &d, const std::function<int(uint32_t)> &value) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(value(d[size_t(lane * 4 + i)]), problem.expected(lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)));
}

TEST(Matrices, productsOfHalves) {
  for (bool isBrain : {false, true}) {
    Problem problem(16, isBrain);
    auto bits = [&](int value) { return encode(value, isBrain ? kBrain : kHalf); };
    std::vector<uint32_t> inputs;
    for (int lane = 0; lane < 32; ++lane) {
      uint32_t a[4] = {}, b[2] = {};
      for (int i = 0; i < 8; ++i) { // the manual: rows of a0, a1, a4, a5 are lane / 4; of the others eight below
        const int row = lane / 4 + ((i < 2 || (i >= 4 && i < 6)) ? 0 : 8),
                  column = lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        a[i / 2] |= bits(problem.a[size_t(row * 16 + column)]) << (16 * (i & 1));
      }
      for (int i = 0; i < 4; ++i) {
        const int row = lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0);
        b[i / 2] |= bits(problem.b[size_t(row * 8 + lane / 4)]) << (16 * (i & 1));
      }
      inputs.insert(inputs.end(), a, a + 4);
      inputs.insert(inputs.end(), b, b + 2);
    }
    const std::string type = isBrain ? "bf16.bf16" : "f16.f16";
    expectProduct(problem, multiply("mma.sync.aligned.m16n8k16.row.col.f32." + type + ".f32", 4, 2, 4, "f32", inputs),
                  [](uint32_t value) { return int(std::bit_cast<float>(value)); });
    if (isBrain)
      continue;
    std::vector<uint32_t> d = multiply("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, "b32", inputs);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(int(halfToFloat(uint16_t(d[size_t(lane * 2 + i / 2)] >> (16 * (i & 1))))),
                  problem.expected(lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1)));
  }
}

TEST(Matrices, productsOfTf32) {
  Problem problem(8, 5);
  std::vector<uint32_t> inputs;
  for (int lane = 0; lane < 32; ++lane) {
    // The low 13 bits are not looked at.
    auto bits = [](int value) { return std::bit_cast<uint32_t>(float(value)) | 0x1fff * (value != 0); };
    for (int i = 0; i < 4; ++i)
      inputs.push_back(bits(problem.a[size_t((lane / 4 + (i & 1) * 8) * 8 + lane % 4 + (i >= 2 ? 4 : 0))]));
    for (int i = 0; i < 2; ++i)
      inputs.push_back(bits(problem.b[size_t((lane % 4 + i * 4) * 8 + lane / 4)]));
  }
  expectProduct(problem, multiply("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4, "f32", inputs),
                [](uint32_t value) { return int(std::bit_cast<float>(value)); });
}

TEST(Matrices, productsOfBytes) {
  Problem problem(32, 7);
  std::vector<uint32_t> inputs;
  for (int lane = 0; lane < 32; ++lane) {
    uint32_t a[4] = {}, b[2] = {};
    for (int i = 0; i < 16; ++i) { // the manual: rows of a0 to a3 and a8 to a11 are lane / 4
      const int row = lane / 4 + ((i < 4 || (i >= 8 && i < 12)) ? 0 : 8),
                column = lane % 4 * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      a[i / 4] |= uint32_t(uint8_t(problem.a[size_t(row * 32 + column)])) << (8 * (i & 3));
    }
    for (int i = 0; i < 8; ++i) {
      const int row = lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0);
      b[i / 4] |= uint32_t(uint8_t(problem.b[size_t(row * 8 + lane / 4)])) << (8 * (i & 3));
    }
    inputs.insert(inputs.end(), a, a + 4);
    inputs.insert(inputs.end(), b, b + 2);
  }
  expectProduct(problem, multiply("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4, "b32", inputs),
                [](uint32_t value) { return int(value); });
}

std::string errorOf(const std::string &code) {
  return KernelRun(".entry k() { .reg .b32 %a<4>, %b<4>; .reg .f32 %d<4>; " + code + " ret; }").loadError();
}

TEST(Matrices, formsThatAreNone) {
  EXPECT_EQ(
      errorOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, "
              "{%d0,%d1,%d2,%d3};"),
      "");
  EXPECT_NE(errorOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, {%a0,%a1}, {%b0,%b1}, "
                    "{%d0,%d1,%d2,%d3};")
                .find("an operand has 4 registers"),
            std::string::npos);
  EXPECT_NE(errorOf("mma.sync.aligned.m16n16k16.row.col.f32.f16.f16.f32 %d0, %a0, %b0, %d0;")
                .find("it has no product of this shape and these types that is simulated"),
            std::string::npos);
  EXPECT_NE(errorOf("cp.async.cg.shared.global [%a0], [%a1], 8;").find("with .cg 16"), std::string::npos);
}

TEST(Matrices, loadsAndStores) {
  auto load = [](const std::string &form) {
    KernelRun kernel(R"(.visible .entry k(.param .u64 out) {
  .reg .b64 %out, %o; .reg .b32 %t, %s, %v, %r<4>; .reg .b16 %h; .shared .align 16 .b8 data[512];
  ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %s, data;
  shl.b32 %v, %t, 4; add.u32 %s, %s, %v;  // each thread fills a row of 8 numbers: its row times 8, and the column
  shl.b32 %v, %t, 3; cvt.u16.u32 %h, %v;
  st.shared.u16 [%s], %h; add.u16 %h, %h, 1; st.shared.u16 [%s+2], %h; add.u16 %h, %h, 1; st.shared.u16 [%s+4], %h;
  add.u16 %h, %h, 1; st.shared.u16 [%s+6], %h; add.u16 %h, %h, 1; st.shared.u16 [%s+8], %h; add.u16 %h, %h, 1;
  st.shared.u16 [%s+10], %h; add.u16 %h, %h, 1; st.shared.u16 [%s+12], %h; add.u16 %h, %h, 1; st.shared.u16 [%s+14], %h;
  bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4)" +
                     form + R"(.shared.b16 {%r0, %r1, %r2, %r3}, [%s];
  bar.sync 0;
  stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%r0, %r1, %r2, %r3};
  mul.wide.u32 %o, %t, 16; add.u64 %out, %out, %o;
  bar.sync 0;
  ld.shared.u32 %v, [%s];
  st.global.v4.u32 [%out], {%r0, %r1, %r2, %v}; ret; })");
    EXPECT_EQ(kernel.loadError(), "");
    const uint64_t out = kernel.allocate(std::vector<uint32_t>(128));
    EXPECT_EQ(kernel.run({1, 1, 1}, {32, 1, 1}, {out}, 1), "");
    return kernel.read<uint32_t>(out, 128);
  };
  const std::vector<uint32_t> plain = load(""), transposed = load(".trans");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t matrix = 0; matrix < 3; ++matrix) {
      const uint32_t first = matrix * 64 + lane / 4 * 8 + lane % 4 * 2;
      EXPECT_EQ(plain[lane * 4 + matrix], first | (first + 1) << 16);
      const uint32_t below = matrix * 64 + lane % 4 * 16 + lane / 4;
      EXPECT_EQ(transposed[lane * 4 + matrix], below | (below + 8) << 16);
    }
    EXPECT_EQ(plain[lane * 4 + 3], lane * 8 | (lane * 8 + 1) << 16);
    const uint32_t column = lane / 8 * 64 + lane % 8; // of the stored transpose, the first two of the row
    EXPECT_EQ(transposed[lane * 4 + 3], column | (column + 8) << 16);
  }
}

std::string copyOf(const std::string &wait) {
  KernelRun kernel(R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %in, %out, %o; .reg .b32 %t, %s, %v, %w; .shared .align 16 .b8 data[1024];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 16; add.u64 %in, %in, %o; add.u64 %out, %out, %o;
  mov.u32 %s, data; shl.b32 %v, %t, 4; add.u32 %s, %s, %v;
  cp.async.cg.shared.global [%s], [%in], 16; cp.async.commit_group;
  cp.async.ca.shared.global [%s+512], [%in], 16, 8; cp.async.commit_group;
  )" + wait + R"(
  xor.b32 %s, %s, 16;
  ld.shared.u32 %v, [%s+4]; ld.shared.u32 %w, [%s+524]; add.u32 %v, %v, %w; st.global.u32 [%out], %v; ret; })");
  EXPECT_EQ(kernel.loadError(), "");
  std::vector<uint32_t> values(128);
  for (uint32_t i = 0; i < 128; ++i)
    values[i] = i * i;
  const uint64_t in = kernel.allocate(values), out = kernel.allocate(values);
  std::string fault = kernel.run({1, 1, 1}, {32, 1, 1}, {in, out}, 1);
  for (uint32_t i = 0; fault.empty() && i < 32; ++i)
    EXPECT_EQ(kernel.read<uint32_t>(out, 128)[i * 4], values[(i ^ 1) * 4 + 1]);
  return fault;
}

TEST(Copies, areThereOnceTheyAreAwaited) {
  EXPECT_EQ(copyOf("cp.async.wait_group 0; bar.sync 0;"), "");
  EXPECT_EQ(copyOf("cp.async.wait_all; bar.sync 0;"), "");
  EXPECT_NE(copyOf("cp.async.wait_group 1; bar.sync 0;").find("into which an asynchronous copy of thread ("),
            std::string::npos);
  EXPECT_NE(copyOf("bar.sync 0;").find("nothing has waited for its end"), std::string::npos);
  const std::string unordered = copyOf("cp.async.wait_group 0;");
  EXPECT_TRUE(unordered.find("a race") != unordered.npos || unordered.find("never written") != unordered.npos ||
              unordered.find("asynchronous copy") != unordered.npos)
      << unordered;
}

} // namespace
} // namespace kiln::cudasim

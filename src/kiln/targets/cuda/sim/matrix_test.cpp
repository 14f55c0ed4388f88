// Products of matrices by warps and their loads, laid out as the manual's figures say; and asynchronous copies.
#include "kiln/base/random.h"
#include "kiln/targets/cuda/sim/kernel_run.h"
#include "kiln/targets/cuda/sim/values.h"

#include "gtest/gtest.h"

#include <functional>
#include <set>

namespace kiln::cudasim {
namespace {

size_t at(int i) {
  return size_t(i);
}

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
  return kernel.read<uint32_t>(out, size_t(32) * d);
}

// Small integers, so that every order of sums gives the same.
struct Problem {
  int m, n, k;
  std::vector<int> a, b;
  Problem(int k, uint64_t seed) : Problem(16, 8, k, seed) {}
  Problem(int m, int n, int k, uint64_t seed) : m(m), n(n), k(k) {
    Random random(seed);
    for (int i = 0; i < m * k; ++i)
      a.push_back(int(random.below(9)) - 4);
    for (int i = 0; i < k * n; ++i)
      b.push_back(int(random.below(9)) - 4);
  }
  int expected(int row, int column) const {
    int sum = 0;
    for (int i = 0; i < k; ++i)
      sum += a[at(row * k + i)] * b[at(i * n + column)];
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
        a[i / 2] |= bits(problem.a[at(row * 16 + column)]) << (16 * (i & 1));
      }
      for (int i = 0; i < 4; ++i) {
        const int row = lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0);
        b[i / 2] |= bits(problem.b[at(row * 8 + lane / 4)]) << (16 * (i & 1));
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

// In f64 a register has one element: rows lane / 4 and eight below in turn, four columns further each second register.
TEST(Matrices, wideProductsOfDoubles) {
  for (int k : {4, 8, 16}) {
    const Problem problem(k, uint64_t(k));
    const int aCount = k / 2, bCount = k / 4;
    std::vector<double> inputs;
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < aCount; ++i)
        inputs.push_back(problem.a[at((lane / 4 + i % 2 * 8) * k + i / 2 * 4 + lane % 4)]);
      for (int i = 0; i < bCount; ++i)
        inputs.push_back(problem.b[at((i * 4 + lane % 4) * 8 + lane / 4)]);
    }
    const int count = aCount + bCount;
    std::string text = R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %in, %out, %o; .reg .b32 %t; .reg .f64 %x<12>, %d<4>;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, )" +
                       std::to_string(8 * count) +
                       "; add.u64 %in, %in, %o; mul.wide.u32 %o, %t, 32; add.u64 %out, %out, %o;\n";
    std::string a, b;
    for (int i = 0; i < count; ++i) {
      const std::string name = "%x" + std::to_string(i);
      text += "ld.global.f64 " + name + ", [%in+" + std::to_string(8 * i) + "];\n";
      std::string &list = i < aCount ? a : b;
      list += (list.empty() ? "" : ", ") + name;
    }
    for (int i = 0; i < 4; ++i)
      text += "mov.f64 %d" + std::to_string(i) + ", 0d0000000000000000;\n";
    text += "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col.f64.f64.f64.f64 {%d0, %d1, %d2, %d3}, {";
    text += a + "}, {" + b;
    text += "}, {%d0, %d1, %d2, %d3};\n";
    for (int i = 0; i < 4; ++i)
      text += "st.global.f64 [%out+" + std::to_string(8 * i) + "], %d" + std::to_string(i) + ";\n";
    KernelRun kernel(text + "ret; }");
    ASSERT_EQ(kernel.loadError(), "");
    const uint64_t in = kernel.allocate(inputs), out = kernel.allocate(std::vector<double>(128));
    ASSERT_EQ(kernel.run({1, 1, 1}, {32, 1, 1}, {in, out}, 3), "");
    const std::vector<double> d = kernel.read<double>(out, 128);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(d[at(lane * 4 + i)], problem.expected(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)) << k;
  }
}

TEST(Matrices, productsOfTf32) {
  Problem problem(8, 5);
  std::vector<uint32_t> inputs;
  for (int lane = 0; lane < 32; ++lane) {
    // The low 13 bits are not looked at.
    auto bits = [](int value) { return std::bit_cast<uint32_t>(float(value)) | 0x1fff * (value != 0); };
    for (int i = 0; i < 4; ++i)
      inputs.push_back(bits(problem.a[at((lane / 4 + (i & 1) * 8) * 8 + lane % 4 + (i >= 2 ? 4 : 0))]));
    for (int i = 0; i < 2; ++i)
      inputs.push_back(bits(problem.b[at((lane % 4 + i * 4) * 8 + lane / 4)]));
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
      a[i / 4] |= uint32_t(uint8_t(problem.a[at(row * 32 + column)])) << (8 * (i & 3));
    }
    for (int i = 0; i < 8; ++i) {
      const int row = lane % 4 * 4 + (i & 3) + (i >= 4 ? 16 : 0);
      b[i / 4] |= uint32_t(uint8_t(problem.b[at(row * 8 + lane / 4)])) << (8 * (i & 3));
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

// NOLINTBEGIN(performance-inefficient-string-concatenation): kernels are put together.
// Products of wmma, whose fragments nothing but wmma understands.
struct Fragments {
  int m = 16, n = 16, k = 16;
  std::string type = "f16", sum = "f32", space = "global";
  bool turned[3] = {}; // column-major in memory: A, B, C and D
  int padding = 32;    // elements, from the end of a row or column to the next

  std::string shape() const { return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k); }
  static int bytes(const std::string &type) {
    return type == "f32" || type == "s32" || type == "tf32" ? 4 : type == "s8" || type == "u8" ? 1 : 2;
  }
  int registers(int rows, int columns, const std::string &of, bool isSum) const {
    return of == "f16" && !isSum ? 8 : rows * columns * bytes(of) / 128;
  }
  int stride(int rows, int columns, bool isTurned) const { return (isTurned ? rows : columns) + padding; }

  static std::string list(const std::string &name, int count) {
    std::string result = "{%" + name + "0";
    for (int i = 1; i < count; ++i)
      result += ", %" + name + std::to_string(i);
    return result + "}";
  }
  std::string layout(int which) const { return turned[which] ? ".col" : ".row"; }
  // A kernel of one warp. `between` stands before the products.
  std::string kernel(const std::string &between = "") const {
    const std::string ss = space.empty() ? "" : "." + space, types = "." + type + "." + type;
    auto load = [&](const std::string &name, int which, int rows, int columns, const std::string &of) {
      return "ld.param.u64 %p, [" + name + "]; " + (space == "global" ? "cvta.to.global.u64 %p, %p; " : "") +
             "wmma.load." + name + ".sync.aligned" + layout(which) + "." + shape() + ss + "." + of + " " +
             list(name, registers(rows, columns, of, name == "c")) + ", [%p], " +
             std::to_string(stride(rows, columns, turned[which])) + ";\n";
    };
    const int sums = registers(m, n, sum, true);
    return ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) { .reg .b64 %p; .reg .b32 "
           "%t, %a<8>, %b<8>; .reg .pred %q; .reg ." +
           std::string(sum == "f32" ? "f32" : "b32") + " %c<8>, %d<8>;\n" + load("a", 0, m, k, type) +
           load("b", 1, k, n, type) + load("c", 2, m, n, sum) + between + "wmma.mma.sync.aligned" + layout(0) +
           layout(1) + "." + shape() + "." + sum + (type == "f16" ? "" : types) + "." + sum + " " + list("d", sums) +
           ", " + list("a", registers(m, k, type, false)) + ", " + list("b", registers(k, n, type, false)) + ", " +
           list("c", sums) + ";\nld.param.u64 %p, [d]; wmma.store.d.sync.aligned" + layout(2) + "." + shape() + "." +
           sum + " [%p], " + list("d", sums) + ", " + std::to_string(stride(m, n, turned[2])) + ";\nret; }";
  }

  static uint32_t bits(int value, const std::string &type) {
    return type == "f16"    ? encode(value, kHalf)
           : type == "bf16" ? encode(value, kBrain)
           : type == "f32"  ? std::bit_cast<uint32_t>(float(value))
           : type == "tf32" ? std::bit_cast<uint32_t>(float(value)) | 0x1fff * (value != 0) // not looked at
                            : uint32_t(value);
  }
  size_t place(int row, int column, int rows, int columns, bool isTurned) const {
    return size_t(isTurned ? column * stride(rows, columns, true) + row : row * stride(rows, columns, false) + column);
  }
  // Runs the kernel, and gives the fault; where there is none, the result is that of `problem` plus row - column.
  std::string run(const Problem &problem, uint64_t seed, const std::string &between = "", bool isRight = true) const {
    KernelRun run(kernel(between));
    EXPECT_EQ(run.loadError(), "");
    auto store = [&](int which, int rows, int columns, const std::string &of, auto value) {
      const size_t size = size_t(bytes(of));
      std::vector<uint8_t> memory(size_t(stride(rows, columns, turned[which]) * (turned[which] ? columns : rows)) *
                                  size);
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) {
          const uint32_t element = bits(value(row, column), of);
          std::memcpy(memory.data() + place(row, column, rows, columns, turned[which]) * size, &element, size);
        }
      return run.allocate(memory);
    };
    const uint64_t a = store(0, m, k, type, [&](int row, int column) { return problem.a[at(row * k + column)]; });
    const uint64_t b = store(1, k, n, type, [&](int row, int column) { return problem.b[at(row * n + column)]; });
    const uint64_t c = store(2, m, n, sum, [&](int row, int column) { return row - column; });
    const uint64_t d = store(2, m, n, sum, [&](int, int) { return 99; });
    std::string fault = run.run({1, 1, 1}, {32, 1, 1}, {a, b, c, d}, seed);
    bool allRight = true;
    for (int row = 0; fault.empty() && row < m; ++row)
      for (int column = 0; column < n; ++column) {
        uint32_t found = 0;
        std::memcpy(&found,
                    run.memory.find(d + place(row, column, m, n, turned[2]) * size_t(bytes(sum)), size_t(bytes(sum))),
                    size_t(bytes(sum)));
        allRight = allRight && found == bits(problem.expected(row, column) + row - column, sum);
      }
    EXPECT_EQ(allRight, isRight) << kernel();
    return fault;
  }
};

TEST(Matrices, fragmentsOfEveryShapeTypeAndLayout) {
  uint64_t seed = 0;
  for (auto [type, sum] :
       {std::pair("f16", "f16"), {"f16", "f32"}, {"bf16", "f32"}, {"s8", "s32"}, {"u8", "s32"}, {"tf32", "f32"}})
    for (auto [m, n] : {std::pair(16, 16), {8, 32}, {32, 8}})
      for (int layouts = 0; layouts < 8; ++layouts) {
        Fragments product{m, n, type == std::string("tf32") ? 8 : 16, type, sum};
        if (product.k == 8 && m != 16)
          continue;
        for (int i = 0; i < 3; ++i)
          product.turned[i] = layouts >> i & 1;
        product.space = layouts % 3 == 0 ? "" : "global";
        Problem problem(m, n, product.k, ++seed);
        if (product.type == "u8")
          for (std::vector<int> *inputs : {&problem.a, &problem.b})
            for (int &value : *inputs)
              value += 200;
        EXPECT_EQ(product.run(problem, seed), "");
      }
}

// Elements of one matrix alone are where they are in another one of the same shape, type and layout.
TEST(Matrices, fragmentsAreOpaque) {
  const Problem problem(16, 16, 16, 3);
  // A sum in its thread's other register, an input's registers exchanged, and an input taken as the other one.
  EXPECT_EQ(Fragments().run(problem, 1, "mov.f32 %d0, %c0; mov.f32 %c0, %c1; mov.f32 %c1, %d0;\n", false), "");
  EXPECT_EQ(Fragments().run(problem, 1, "mov.b32 %t, %a0; mov.b32 %a0, %a1; mov.b32 %a1, %t;\n", false), "");
  // What does the same to all elements knows no layout.
  EXPECT_EQ(Fragments().run(problem, 2, "xor.b32 %a0, %a0, 0;\n"), "");
  // Where elements are depends on the seed: of the first eight seeds, the first register has an element of its own.
  std::set<float> found;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    KernelRun run(
        ".visible .entry k(.param .u64 c, .param .u64 d) { .reg .b64 %p; .reg .f32 %c<8>; .reg .b32 %t; .reg .pred "
        "%q;\n"
        "mov.u32 %t, %tid.x; setp.eq.u32 %q, %t, 0;"
        "ld.param.u64 %p, [c]; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
        "%c7}, [%p];\nld.param.u64 %p, [d]; @%q st.f32 [%p], %c0; ret; }");
    std::vector<float> values(256);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i);
    const uint64_t c = run.allocate(values), d = run.allocate(values);
    EXPECT_EQ(run.run({1, 1, 1}, {32, 1, 1}, {c, d}, seed), "");
    found.insert(run.read<float>(d, 1)[0]);
  }
  EXPECT_GT(found.size(), 4U);
}

TEST(Matrices, whatFragmentsWant) {
  const Problem problem(16, 16, 16, 4);
  Fragments product;
  product.padding = 8; // 48 bytes of f16
  EXPECT_NE(product.run(problem, 1, "", true).find("every 48 bytes from there, which are no multiples of 32"),
            std::string::npos);
  EXPECT_NE(Fragments()
                .run(problem, 1,
                     "ld.param.u64 %p, [c]; add.u64 %p, %p, 16; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, "
                     "%c2, %c3, %c4, %c5, %c6, %c7}, [%p];\n")
                .find("no multiples of 32"),
            std::string::npos);
  EXPECT_NE(Fragments()
                .run(problem, 1,
                     "ld.param.u64 %p, [c]; mov.u32 %t, %laneid; wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, "
                     "%c2, %c3, %c4, %c5, %c6, %c7}, [%p], %t;\n")
                .find("has the address"),
            std::string::npos);
  EXPECT_NE(
      Fragments()
          .run(problem, 1,
               "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%p], 4096;\n")
          .find("reads 4 bytes"),
      std::string::npos);
  EXPECT_NE(
      Fragments()
          .run(problem, 1,
               "mov.u32 %t, %laneid; setp.lt.u32 %q, %t, 16; @%q bra $end;\n"
               "wmma.load.c.sync.aligned.row.m16n16k16.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%p];\n$end:\n")
          .find("wmma"),
      std::string::npos);
}

// A sum stored to shared memory is other threads' once the warp has met.
std::string throughSharedMemory(const std::string &meeting, bool isWritten = true) {
  const std::string list = "{%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}";
  KernelRun kernel(R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b64 %in, %out, %o; .reg .b32 %t, %s, %v; .reg .f32 %c<8>, %f; .shared .align 32 .b8 data[1024];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %s, data;
  wmma.load.c.sync.aligned.row.m16n16k16.global.f32 )" +
                   list + ", [%in];\n" +
                   (isWritten ? "wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%s], " + list + ";\n" : "") +
                   meeting +
                   (isWritten ? "" : "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " + list + ", [%s];\n") + R"(
  shl.b32 %v, %t, 2; add.u32 %s, %s, %v; mul.wide.u32 %o, %t, 4; add.u64 %out, %out, %o;
  ld.shared.f32 %f, [%s]; st.global.f32 [%out], %f; ret; })");
  EXPECT_EQ(kernel.loadError(), "");
  std::vector<float> values(256);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  const uint64_t in = kernel.allocate(values), out = kernel.allocate(values);
  std::string fault = kernel.run({1, 1, 1}, {32, 1, 1}, {in, out}, 5);
  for (size_t i = 0; fault.empty() && i < 32; ++i) {
    const size_t expected = i % 16 * 16 + i / 16;
    EXPECT_EQ(kernel.read<float>(out, 32)[i], float(expected));
  }
  return fault;
}

TEST(Matrices, fragmentsInSharedMemory) {
  EXPECT_EQ(throughSharedMemory("bar.warp.sync -1;\n"), "");
  EXPECT_NE(throughSharedMemory("").find("a race"), std::string::npos);
  EXPECT_NE(throughSharedMemory("", false).find("never written"), std::string::npos);
}

TEST(Matrices, fragmentsThatAreNone) {
  const std::string four = "{%a0, %a1, %a2, %a3}", eight = "{%d0, %d1, %d2, %d3, %d0, %d1, %d2, %d3}";
  EXPECT_EQ(errorOf("wmma.load.a.sync.aligned.row.m16n16k16.shared::cta.bf16 " + four + ", [%a0];"), "");
  for (const auto &[code, error] : {
           std::pair("wmma.load.a.sync.aligned.row.m16n16k16.f16 " + four + ", [%a0];", "an operand has 8 registers"),
           {"wmma.load.a.sync.aligned.row.m16n16k8.bf16 " + four + ", [%a0];", "it has no fragment of this shape"},
           {"wmma.load.a.sync.aligned.m16n16k16.bf16 " + four + ", [%a0];", "'.row' or '.col' is expected"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.local.bf16 " + four + ", [%a0];", "in global or shared memory"},
           {"wmma.load.d.sync.aligned.row.m16n16k16.f32 " + eight + ", [%a0];", "'.a', '.b' or '.c' is expected"},
           {"wmma.store.d.sync.aligned.row.m16n16k8.f16 [%a0], " + four + ";", "it has no fragment of this shape"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.s8.s8.f32 " + eight + ", {%a0, %a1}, {%a0, %a1}, " + eight +
                ";",
            "it has no product of this shape and these types"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 " + eight + ", {%a0, %a1}, {%a0, %a1}, " + eight +
                ";",
            "it has no product of this shape and these types"},
           {"wmma.mma.sync.aligned.row.m16n16k16.f32.f32 " + eight + ", " + four + ", " + four + ", " + eight + ";",
            "'.row' or '.col' is expected"},
       })
    EXPECT_NE(errorOf(code).find(error), std::string::npos) << code << "\n" << errorOf(code);
}

// NOLINTEND(performance-inefficient-string-concatenation)

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

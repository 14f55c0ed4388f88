// Kernels from vector-level IR to results.
#include "kiln/targets/cpu/codegen/test/CompiledKernel.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace kiln {
namespace {

const char *const featureSets[] = {"", "+avx,+avx2,+f16c,+fma",
                                   "+avx,+avx2,+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c,+fma"};

class Kernel : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    if (!hostHas(GetParam()))
      GTEST_SKIP() << "this machine lacks some of " << GetParam();
  }
  std::unique_ptr<LoadedKernel> load(KernelSource source) {
    source.features = GetParam();
    Compilation compilation = compileKernel(source);
    EXPECT_EQ(compilation.errors, "");
    if (compilation.bytes.empty())
      return nullptr;
    return std::make_unique<LoadedKernel>(compilation.bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(Features, Kernel, testing::ValuesIn(featureSets), [](const auto &info) {
  return std::string(info.index == 0 ? "generic" : info.index == 1 ? "avx2" : "avx512");
});

TEST_P(Kernel, multipliesMatricesAsTheDocumentsSecondSpecLeavesThem) {
  auto kernel = load({{{"mm", 0, 3}}, R"(
    func.func @mm() {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %z = arith.constant 0.0 : f32
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<128x128xf32, #hal.descriptor_type<storage_buffer>>
      %b = hal.interface.binding.subspan binding(1) <readonly> : memref<128x128xf32>
      %c = hal.interface.binding.subspan binding(2) <readwrite> : memref<128x128xf32>
      %id = hal.interface.workgroup.id[0] : index
      %i = arith.muli %id, %c2 : index
      %va = vector.transfer_read %a[%i, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32, #hal.descriptor_type<storage_buffer>>, vector<2x128xf32>
      %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<128x128xf32>
      %vc = vector.transfer_read %c[%i, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<2x128xf32>
      %r = vector.contract {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %va, %vb, %vc : vector<2x128xf32>, vector<128x128xf32> into vector<2x128xf32>
      vector.transfer_write %r, %c[%i, %c0] {in_bounds = [true, true]} : vector<2x128xf32>, memref<128x128xf32>
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<float> a(128 * 128), b(128 * 128), c(128 * 128);
  std::vector<float> expected(128 * 128);
  for (int i = 0; i < 128 * 128; ++i) {
    a[i] = static_cast<float>(i * 7 % 13 - 6);
    b[i] = static_cast<float>(i * 5 % 11 - 5);
    c[i] = expected[i] = static_cast<float>(i % 3);
  }
  for (int m = 0; m < 128; ++m)
    for (int n = 0; n < 128; ++n)
      for (int k = 0; k < 128; ++k)
        expected[m * 128 + n] += a[m * 128 + k] * b[k * 128 + n];
  kernel->run(0, {{a.bytes(), b.bytes(), c.bytes()}, {}, {64, 1, 1}});
  for (int i = 0; i < 128 * 128; ++i)
    ASSERT_EQ(c[i], expected[i]) << "at " << i;
}

TEST_P(Kernel, masksTailsOfDynamicShapes) {
  auto kernel = load({{{"add", 1, 3}}, R"(
    func.func @add() {
      %n = hal.interface.constant.load[0] : index
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %z = arith.constant 0.0 : f32
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32>{%n}
      %b = hal.interface.binding.subspan binding(1) <readonly> : memref<?xf32>{%n}
      %c = hal.interface.binding.subspan binding(2) <writeonly> : memref<?xf32>{%n}
      scf.for %i = %c0 to %n step %c16 {
        %x = vector.transfer_read %a[%i], %z : memref<?xf32>, vector<16xf32>
        %y = vector.transfer_read %b[%i], %z : memref<?xf32>, vector<16xf32>
        %s = arith.addf %x, %y : vector<16xf32>
        vector.transfer_write %s, %c[%i] : vector<16xf32>, memref<?xf32>
      }
      return
    })"});
  ASSERT_TRUE(kernel);
  for (uint64_t n : {0, 1, 15, 16, 17, 31, 100}) {
    Binding<float> a(n), b(n), c(n);
    for (uint64_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = 0.5f;
    }
    kernel->run(0, {{a.bytes(), b.bytes(), c.bytes()}, {n}});
    for (uint64_t i = 0; i < n; ++i)
      ASSERT_EQ(c[i], static_cast<float>(i) + 0.5f);
    ASSERT_TRUE(c.guardIsIntact()) << n;
  }
}

TEST_P(Kernel, seesItsWorkgroupAndConstants) {
  auto kernel = load({{{"ids", 3, 1}}, R"(
    func.func @ids() {
      %x = hal.interface.workgroup.id[0] : index
      %y = hal.interface.workgroup.id[1] : index
      %z = hal.interface.workgroup.id[2] : index
      %nx = hal.interface.workgroup.count[0] : index
      %ny = hal.interface.workgroup.count[1] : index
      %nz = hal.interface.workgroup.count[2] : index
      %i = hal.interface.constant.load[0] : index
      %f = hal.interface.constant.load[1] : f32
      %b = hal.interface.constant.load[2] : i8
      %m = hal.interface.binding.subspan binding(0) <writeonly> : memref<?x3x2x8xf32>{%nz}
      %wide = arith.extsi %b : i8 to i32
      %byte = arith.sitofp %wide : i32 to f32
      %number = arith.index_cast %i : index to i64
      %index = arith.sitofp %number : i64 to f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %counts = arith.muli %nx, %ny : index
      %counts64 = arith.index_cast %counts : index to i64
      %product = arith.sitofp %counts64 : i64 to f32
      memref.store %f, %m[%z, %y, %x, %c0] : memref<?x3x2x8xf32>
      memref.store %byte, %m[%z, %y, %x, %c1] : memref<?x3x2x8xf32>
      memref.store %index, %m[%z, %y, %x, %c2] : memref<?x3x2x8xf32>
      memref.store %product, %m[%z, %y, %x, %c3] : memref<?x3x2x8xf32>
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<float> m(4 * 3 * 2 * 8, -1.0f);
  kernel->run(0, {{m.bytes()}, {12345, 0x40200000 /* 2.5f */, 0xFD /* -3 */}, {2, 3, 4}});
  for (size_t i = 0; i < m.size(); ++i) {
    const float expected[8] = {2.5f, -3.0f, 12345.0f, 6.0f, -1, -1, -1, -1};
    ASSERT_EQ(m[i], expected[i % 8]) << "at " << i;
  }
}

TEST_P(Kernel, keepsTemporariesOnTheStackAndInLocalMemory) {
  auto kernel = load({{{"reverse", 0, 2}}, R"(
    func.func @reverse() {
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<16384xf32>
      %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<16384xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 16384 : index
      %last = arith.constant 16383 : index
      %large = memref.alloc() : memref<16384xf32>
      scf.for %i = %c0 to %n step %c1 {
        %small = memref.alloc() : memref<1xf32>
        %x = memref.load %a[%i] : memref<16384xf32>
        memref.store %x, %small[%c0] : memref<1xf32>
        %j = arith.subi %last, %i : index
        %y = memref.load %small[%c0] : memref<1xf32>
        memref.store %y, %large[%j] : memref<16384xf32>
        memref.dealloc %small : memref<1xf32>
      }
      memref.copy %large, %b : memref<16384xf32> to memref<16384xf32>
      memref.dealloc %large : memref<16384xf32>
      return
    })"});
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->library()->exports[0].local_memory_bytes, 65536u);
  Binding<float> a(16384), b(16384);
  for (int i = 0; i < 16384; ++i)
    a[i] = static_cast<float>(i);
  kernel->run(0, {{a.bytes(), b.bytes()}});
  for (int i = 0; i < 16384; ++i)
    ASSERT_EQ(b[i], static_cast<float>(16383 - i));
}

TEST_P(Kernel, contractsBytesIntoWords) {
  auto kernel = load({{{"dot", 0, 3}}, R"(
    func.func @dot() {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0 : i8
      %zw = arith.constant 0 : i32
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<3x40xi8>
      %b = hal.interface.binding.subspan binding(1) <readonly> : memref<20x40xi8>
      %c = hal.interface.binding.subspan binding(2) <readwrite> : memref<3x20xi32>
      %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<3x40xi8>, vector<3x40xi8>
      %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<20x40xi8>, vector<20x40xi8>
      %vc = vector.transfer_read %c[%c0, %c0], %zw {in_bounds = [true, true]} : memref<3x20xi32>, vector<3x20xi32>
      %r = vector.contract {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %va, %vb, %vc : vector<3x40xi8>, vector<20x40xi8> into vector<3x20xi32>
      vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<3x20xi32>, memref<3x20xi32>
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<int8_t> a(3 * 40), b(20 * 40);
  Binding<int32_t> c(3 * 20, 1000);
  for (int i = 0; i < 120; ++i)
    a[i] = static_cast<int8_t>(i * 37);
  for (int i = 0; i < 800; ++i)
    b[i] = static_cast<int8_t>(i * 91 + 5);
  kernel->run(0, {{a.bytes(), b.bytes(), c.bytes()}});
  for (int m = 0; m < 3; ++m)
    for (int n = 0; n < 20; ++n) {
      int32_t expected = 1000;
      for (int k = 0; k < 40; ++k)
        expected += a[m * 40 + k] * b[n * 40 + k];
      ASSERT_EQ(c[m * 20 + n], expected);
    }
}

TEST_P(Kernel, keepsBooleansAsBytesInMemory) {
  auto kernel = load({{{"less", 0, 3}}, R"(
    func.func @less() {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %no = arith.constant false
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<21xf32>
      %m = hal.interface.binding.subspan binding(1) <readonly> : memref<21xi1>
      %r = hal.interface.binding.subspan binding(2) <writeonly> : memref<21xi1>
      %x = vector.transfer_read %a[%c0], %z {in_bounds = [true]} : memref<21xf32>, vector<21xf32>
      %y = vector.transfer_read %m[%c0], %no {in_bounds = [true]} : memref<21xi1>, vector<21xi1>
      %ten = arith.constant dense<10.0> : vector<21xf32>
      %less = arith.cmpf olt, %x, %ten : vector<21xf32>
      %both = arith.andi %less, %y : vector<21xi1>
      vector.transfer_write %both, %r[%c0] {in_bounds = [true]} : vector<21xi1>, memref<21xi1>
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<float> a(21);
  Binding<uint8_t> m(21), r(21, 7);
  for (int i = 0; i < 21; ++i) {
    a[i] = static_cast<float>(i);
    m[i] = i % 3 != 0;
  }
  kernel->run(0, {{a.bytes(), m.bytes(), r.bytes()}});
  for (int i = 0; i < 21; ++i)
    ASSERT_EQ(r[i], i < 10 && i % 3 != 0) << i;
}

// What the first spec of the documents leaves: linalg on memory, tiled, without vectors.
TEST_P(Kernel, runsLinalgThatNobodyVectorized) {
  auto kernel = load({{{"mm", 0, 3}}, R"(
    func.func @mm() {
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<3x5xf32>
      %b = hal.interface.binding.subspan binding(1) <readonly> : memref<5x3xf32>
      %c = hal.interface.binding.subspan binding(2) <readwrite> : memref<3x3xf32>
      %id = hal.interface.workgroup.id[0] : index
      %i = affine.apply affine_map<()[s] -> (s * 2)>()[%id]
      %rows = affine.min affine_map<()[s] -> (s * -2 + 3, 2)>()[%id]
      %as = memref.subview %a[%i, 0] [%rows, 5] [1, 1] : memref<3x5xf32> to memref<?x5xf32, strided<[5, 1], offset: ?>>
      %cs = memref.subview %c[%i, 0] [%rows, 3] [1, 1] : memref<3x3xf32> to memref<?x3xf32, strided<[3, 1], offset: ?>>
      linalg.matmul ins(%as, %b : memref<?x5xf32, strided<[5, 1], offset: ?>>, memref<5x3xf32>)
                    outs(%cs : memref<?x3xf32, strided<[3, 1], offset: ?>>)
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<float> a(15, 1.0f), b(15, 2.0f), c(9, 42.0f);
  kernel->run(0, {{a.bytes(), b.bytes(), c.bytes()}, {}, {2, 1, 1}});
  for (float value : c)
    ASSERT_EQ(value, 52.0f);
}

TEST_P(Kernel, callsTheMathLibrary) {
  auto kernel = load({{{"sines", 0, 4}}, R"(
    func.func @sines() {
      %c0 = arith.constant 0 : index
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<20xf32>
      %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<20xf32>
      %c = hal.interface.binding.subspan binding(2) <readonly> : memref<20xf64>
      %d = hal.interface.binding.subspan binding(3) <writeonly> : memref<20xf64>
      %x = vector.load %a[%c0] : memref<20xf32>, vector<20xf32>
      %s = math.sin %x : vector<20xf32>
      %p = math.powf %s, %x : vector<20xf32>
      vector.store %s, %b[%c0] : memref<20xf32>, vector<20xf32>
      %y = vector.load %c[%c0] : memref<20xf64>, vector<20xf64>
      %e = math.exp %y : vector<20xf64>
      %q = math.cbrt %e : vector<20xf64>
      vector.store %q, %d[%c0] : memref<20xf64>, vector<20xf64>
      return
    })"});
  ASSERT_TRUE(kernel);
  Binding<float> a(20), b(20);
  Binding<double> c(20), d(20);
  for (int i = 0; i < 20; ++i) {
    a[i] = static_cast<float>(i) * 0.3f;
    c[i] = i * 0.7 - 5;
  }
  kernel->run(0, {{a.bytes(), b.bytes(), c.bytes(), d.bytes()}});
  for (int i = 0; i < 20; ++i) {
    EXPECT_FLOAT_EQ(b[i], std::sin(a[i]));
    EXPECT_DOUBLE_EQ(d[i], std::cbrt(std::exp(c[i])));
  }
}

//===--- What a compilation leaves, and how it fails --------------------------------------------------------------===//

const KernelSource copySource = {{{"first", 0, 2}, {"second", 0, 2}},
                                 R"(
    memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
    func.func @second() {
      %c1 = arith.constant 1 : index
      %a = hal.interface.binding.subspan binding(0) <readonly> : memref<4xf32>
      %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<4xf32>
      %x = memref.load %a[%c1] : memref<4xf32>
      memref.store %x, %b[%c1] : memref<4xf32>
      return
    }
    func.func @first() {
      %c2 = arith.constant 2 : index
      %id = hal.interface.workgroup.id[0] : index
      %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<4xf32>
      %t = memref.get_global @table : memref<4xf32>
      %i = arith.addi %id, %c2 : index
      %x = memref.load %t[%i] : memref<4xf32>
      memref.store %x, %b[%id] : memref<4xf32>
      return
    })",
                                 ""};

TEST(SharedObject, listsDispatchesByOrdinalAndIsDeterministic) {
  Compilation one = compileKernel(copySource), two = compileKernel(copySource);
  ASSERT_EQ(one.errors, "");
  EXPECT_EQ(one.bytes, two.bytes);
  LoadedKernel kernel(one.bytes);
  ASSERT_EQ(kernel.library()->export_count, 2u);
  EXPECT_EQ(kernel.library()->abi_version, uint32_t(KILN_EXECUTABLE_ABI_VERSION));
  EXPECT_STREQ(kernel.library()->exports[0].name, "first");
  EXPECT_STREQ(kernel.library()->exports[1].name, "second");
  EXPECT_EQ(kernel.symbol("first"), nullptr); // local to the object
  Binding<float> a(4, 9.0f), b(4, 0.0f);
  kernel.run(0, {{a.bytes(), b.bytes()}});
  kernel.run(1, {{a.bytes(), b.bytes()}});
  EXPECT_EQ(b[0], 3.0f);
  EXPECT_EQ(b[1], 9.0f);
}

TEST(SharedObject, leavesTheFilesThatAreAskedFor) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("kiln-codegen-test", folder));
  SerializationOptions options;
  options.intermediatesPath = std::string(folder) + "/intermediates";
  options.binariesPath = std::string(folder) + "/binaries";
  options.baseName = "module_kernel_llvm_cpu";
  Compilation compilation = compileKernel(copySource, options);
  EXPECT_EQ(compilation.errors, "");
  auto read = [&](const std::string &name) {
    std::ifstream file(std::string(folder) + "/" + name, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  std::string start = "intermediates/module_kernel_llvm_cpu";
  EXPECT_NE(read(start + ".codegen.ll").find("define internal void @first.body"), std::string::npos);
  EXPECT_NE(read(start + ".optimized.ll").find("define hidden noundef i32 @first"), std::string::npos);
  EXPECT_NE(read(start + ".s").find("first:"), std::string::npos);
  EXPECT_EQ(read(start + ".optimized.bc").substr(0, 2), "BC");
  EXPECT_EQ(read(start + ".o").substr(1, 3), "ELF");
  EXPECT_EQ(read("binaries/module_kernel_llvm_cpu.so"),
            std::string(compilation.bytes.begin(), compilation.bytes.end()));

  options.intermediatesPath = std::string(folder) + "/intermediates/module_kernel_llvm_cpu.s/inside-a-file";
  Compilation failed = compileKernel(copySource, options);
  EXPECT_TRUE(failed.bytes.empty());
  EXPECT_NE(failed.errors.find("cannot make the folder"), std::string::npos) << failed.errors;
  EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
}

std::string errorsOf(int bindings, const std::string &body) {
  return compileKernel({{{"f", 1, bindings}}, "func.func @f() {\n" + body + "\nreturn\n}"}).errors;
}

TEST(SharedObject, namesWhatItCannotCompile) {
  EXPECT_EQ(errorsOf(1, R"(
      %c0 = arith.constant 0 : index
      %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<4xf32>
      %r = memref.realloc %m : memref<4xf32> to memref<8xf32>
      %x = memref.load %r[%c0] : memref<8xf32>
      memref.store %x, %m[%c0] : memref<4xf32>)"),
            "'memref.realloc' op cannot be compiled for the CPU: there is no lowering of it to machine code here\n");
  EXPECT_EQ(errorsOf(1, R"(
      %c0 = arith.constant 0 : index
      %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<4xf32>
      %x = memref.load %m[%c0] : memref<4xf32>
      vector.print %x : f32 punctuation <no_punctuation>)"),
            "a kernel cannot call 'printF32': of other libraries it may use the C library's mathematics only\n");
  EXPECT_NE(errorsOf(0, R"(
      %n = hal.interface.constant.load[0] : index
      %m = memref.alloc(%n) : memref<?xf32>)")
                .find("no constant bound"),
            std::string::npos);
  EXPECT_NE(errorsOf(1, R"(
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<1024x1024xf32>
      %v = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true, true]} : memref<1024x1024xf32>, vector<1024x1024xf32>
      %w = arith.addf %v, %v : vector<1024x1024xf32>
      vector.transfer_write %w, %m[%c0, %c0] {in_bounds = [true, true]} : vector<1024x1024xf32>, memref<1024x1024xf32>)")
                .find("tile the operation before it is vectorized"),
            std::string::npos);
  EXPECT_NE(compileKernel({{{"f", 0, 0}}, "func.func @g() { return }"}).errors.find("has no function of its name"),
            std::string::npos);
}

} // namespace
} // namespace kiln

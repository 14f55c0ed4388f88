// RUN: kiln-opt %s --pass-pipeline='builtin.module(func.func(kiln-llvmcpu-split-vectors{native-vector-bits=512},kiln-llvmcpu-expand-math{features=+avx512f,+fma,+f16c}),kiln-llvmcpu-call-math-library,kiln-llvmcpu-convert-to-llvm)' | sed -n '/llvm.func internal/,/llvm.return/p' | FileCheck %s --implicit-check-not='llvm.call ' --implicit-check-not=llvm.extractelement --implicit-check-not=llvm.br --implicit-check-not=llvm.cond_br

// The operations that are never computed element by element: on vectors they end as LLVM operations on vectors. A call, an
// element taken out of a vector, or a loop in here would mean that one of them is.

// CHECK-LABEL: llvm.func internal @floats.body
// CHECK: llvm.fadd {{.*}} : vector<16xf32>
// CHECK: llvm.fsub {{.*}} : vector<16xf32>
// CHECK: llvm.fmul {{.*}} : vector<16xf32>
// CHECK: llvm.fdiv {{.*}} : vector<16xf32>
// CHECK: llvm.intr.fma{{.*}} (vector<16xf32>
// CHECK: llvm.intr.maximum{{.*}} (vector<16xf32>
// CHECK: llvm.intr.minimum{{.*}} (vector<16xf32>
// CHECK: llvm.intr.fabs{{.*}} (vector<16xf32>
// CHECK: llvm.fneg {{.*}} : vector<16xf32>
// CHECK: llvm.intr.sqrt{{.*}} (vector<16xf32>
// CHECK: llvm.fcmp "olt" {{.*}} : vector<16xf32>
// CHECK: llvm.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @floats() {
  %c0 = arith.constant 0 : index
  %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<32xf32>
  %x = vector.load %m[%c0] : memref<32xf32>, vector<32xf32>
  %0 = arith.addf %x, %x : vector<32xf32>
  %1 = arith.subf %0, %x : vector<32xf32>
  %2 = arith.mulf %1, %x : vector<32xf32>
  %3 = arith.divf %2, %0 : vector<32xf32>
  %4 = math.fma %3, %x, %0 : vector<32xf32>
  %5 = arith.maximumf %4, %x : vector<32xf32>
  %6 = arith.minimumf %5, %x : vector<32xf32>
  %7 = math.absf %6 : vector<32xf32>
  %8 = arith.negf %7 : vector<32xf32>
  %9 = math.sqrt %8 : vector<32xf32>
  %10 = arith.cmpf olt, %9, %x : vector<32xf32>
  %11 = arith.select %10, %9, %x : vector<32xi1>, vector<32xf32>
  vector.store %11, %m[%c0] : memref<32xf32>, vector<32xf32>
  return
}

// CHECK-LABEL: llvm.func internal @functions.body
// CHECK-COUNT-80: llvm.intr.fma{{.*}} (vector<16xf32>
func.func @functions() {
  %c0 = arith.constant 0 : index
  %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<32xf32>
  %x = vector.load %m[%c0] : memref<32xf32>, vector<32xf32>
  %0 = math.exp %x : vector<32xf32>
  %1 = math.exp2 %0 : vector<32xf32>
  %2 = math.expm1 %1 : vector<32xf32>
  %3 = math.log %2 : vector<32xf32>
  %4 = math.log2 %3 : vector<32xf32>
  %5 = math.log10 %4 : vector<32xf32>
  %6 = math.log1p %5 : vector<32xf32>
  %7 = math.tanh %6 : vector<32xf32>
  %8 = math.erf %7 : vector<32xf32>
  %9 = math.rsqrt %8 : vector<32xf32>
  %10 = math.floor %9 : vector<32xf32>
  %11 = math.ceil %10 : vector<32xf32>
  %12 = math.roundeven %11 : vector<32xf32>
  vector.store %12, %m[%c0] : memref<32xf32>, vector<32xf32>
  return
}

// CHECK-LABEL: llvm.func internal @integers.body
// CHECK: llvm.sext {{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: llvm.add {{.*}} : vector<16xi32>
// CHECK: llvm.mul {{.*}} : vector<16xi32>
// CHECK: llvm.intr.smax{{.*}} (vector<16xi32>
// CHECK: llvm.icmp "slt" {{.*}} : vector<16xi32>
// CHECK: llvm.sitofp {{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: llvm.fptosi {{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: llvm.trunc {{.*}} : vector<16xi32> to vector<16xi8>
func.func @integers() {
  %c0 = arith.constant 0 : index
  %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<32xi8>
  %x = vector.load %m[%c0] : memref<32xi8>, vector<32xi8>
  %w = arith.extsi %x : vector<32xi8> to vector<32xi32>
  %0 = arith.addi %w, %w : vector<32xi32>
  %1 = arith.muli %0, %w : vector<32xi32>
  %2 = arith.maxsi %1, %w : vector<32xi32>
  %3 = arith.cmpi slt, %2, %1 : vector<32xi32>
  %4 = arith.select %3, %2, %0 : vector<32xi1>, vector<32xi32>
  %f = arith.sitofp %4 : vector<32xi32> to vector<32xf32>
  %5 = arith.fptosi %f : vector<32xf32> to vector<32xi32>
  %b = arith.trunci %5 : vector<32xi32> to vector<32xi8>
  vector.store %b, %m[%c0] : memref<32xi8>, vector<32xi8>
  return
}

// Bytes alone fill a register with 64 of them.
// CHECK-LABEL: llvm.func internal @bytes.body
// CHECK: llvm.add {{.*}} : vector<64xi8>
func.func @bytes() {
  %c0 = arith.constant 0 : index
  %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<64xi8>
  %x = vector.load %m[%c0] : memref<64xi8>, vector<64xi8>
  %y = arith.addi %x, %x : vector<64xi8>
  vector.store %y, %m[%c0] : memref<64xi8>, vector<64xi8>
  return
}

// CHECK-LABEL: llvm.func internal @narrow.body
// CHECK: llvm.fpext {{.*}} : vector<{{.*}}xf16> to vector<{{.*}}xf32>
// CHECK: llvm.fmul {{.*}} : vector<{{.*}}xf32>
// CHECK: llvm.fptrunc {{.*}} : vector<{{.*}}xf32> to vector<{{.*}}xf16>
// CHECK: llvm.shl {{.*}} : vector<{{.*}}xi32>
// CHECK: llvm.fadd {{.*}} : vector<{{.*}}xf32>
// CHECK: llvm.trunc {{.*}} : vector<{{.*}}xi32> to vector<{{.*}}xi16>
func.func @narrow() {
  %c0 = arith.constant 0 : index
  %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<32xf16>
  %n = hal.interface.binding.subspan binding(1) <readwrite> : memref<32xbf16>
  %x = vector.load %m[%c0] : memref<32xf16>, vector<32xf16>
  %y = arith.mulf %x, %x : vector<32xf16>
  vector.store %y, %m[%c0] : memref<32xf16>, vector<32xf16>
  %u = vector.load %n[%c0] : memref<32xbf16>, vector<32xbf16>
  %v = arith.addf %u, %u : vector<32xbf16>
  vector.store %v, %n[%c0] : memref<32xbf16>, vector<32xbf16>
  return
}

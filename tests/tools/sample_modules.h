// Modules that the tests of tools run, written without a compiler.
#ifndef KILN_TESTS_TOOLS_SAMPLE_MODULES_H
#define KILN_TESTS_TOOLS_SAMPLE_MODULES_H

#include <string>

namespace kiln::testing {

// The bytes of module "abs" with @abs on f32 tensors of rank 0; its kernel is native code.
std::string absModule();

// Module "sample", host code and commands without kernels:
//   @identity(tensor<?xf32>) -> tensor<?xf32>     anything, in fact
//   @four(tensor<4xf32>) -> tensor<4xf32>         checks type and shape
//   @bytes(tensor<2xi8>) -> tensor<2xi8>          likewise
//   @scalars(i32, i64, f32, f64) -> the same
//   @narrow(i8) -> i8
//   @half(f16) -> f16
//   @truth(i1) -> i1
//   @fill(index) -> tensor<?xf32>                 that many elements of 1.5, on the device
//   @transients()                                 two transients of 4096 bytes, one after the other
//   @nothing() -> a null reference
//   @pair(tensor, tensor) -> both, swapped
//   @fails()                                      "went wrong", OUT_OF_RANGE
std::string sampleModule(const std::string &name = "sample");

// Module "bench" for benchmarks:
//   @spin()           some ten microseconds of host code
//   @allocate()       one buffer of 1024 bytes
//   @dispatch()       marked as a dispatch benchmark
//   @marked(tensor)   takes an argument, and is marked as an entry benchmark
//   @takes(tensor)    takes an argument
// `attributes` may add kiln.dispatch_repeat_count.
std::string benchModule(const std::string &dispatchRepeatCount = "");

// Module "abs" with 16 MiB of constants that stay in its file; see constantDesc of vm/testing/abs_program.h.
std::string constantModule();

// Module "endless" with @spin(), as above, and @forever(), neither of which takes arguments.
std::string endlessModule();

// Module "failing" with @good() and @fails(), which do not take arguments.
std::string failingModule();

} // namespace kiln::testing

#endif // KILN_TESTS_TOOLS_SAMPLE_MODULES_H

// Rows whose variance is zero, and one that is far larger than epsilon.
// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x2xf32=[3 3][-1024 1024]' --input='2xf32=2 4' --input='2xf32=0.5 -1' \
// RUN:   --expected_output='2x2xf32=[0.5 -1][-1.5 3]'

// RUN: kiln-compile %s --kiln-hal-target-backends=llvm-cpu -o %t.vmfb
// RUN: kiln-run-module --module=%t.vmfb \
// RUN:   --input='2x4xf16=[1000 -1000 1000 -1000][0 0 0 0]' --input='4xf16=1 2 3 -4' \
// RUN:   --expected_output='2x4xf16=[1 -2 3 4][0 0 0 0]'

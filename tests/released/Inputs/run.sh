# Runs the functions of each released module, and of one more: run.sh FOLDER DEVICE MODULE. Ends at the first that is not as it was.
set -eu
for module in "$1"/*.vmfb "$3"; do
  count=0
  # run FUNCTION ARGUMENT...
  run() {
    kiln-run-module --device="$device" --module="$module" --function="$@" >"$log" || { cat "$log"; exit 1; }
    count=$((count + 1))
  }
  device=$2 log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  run dense --input=3x24xf32=2 --expected_output=3x10xf32="[6 6.5 7 7.5 8 8.5 9 9.5 10 10.5][6 6.5 7 7.5 8 8.5 9 9.5 10 10.5][6 6.5 7 7.5 8 8.5 9 9.5 10 10.5]"
  run softmax --input=4x8xf32=3 --expected_output=4x8xf32=0.125
  run loop --input=4xi32="[1 2 3 4]" --input=5 --expected_output=4xi32="[11 12 13 14]" --expected_output=i32=5
  run parts --input=3x5xf16=2 --expected_output=5x7xf16="[1 1 1 1 1 1 1][1 2 2 2 2 2 1][1 2 2 2 2 2 1][1 2 2 2 2 2 1][1 1 1 1 1 1 1]"
  run checked --input=4xi32="[1 2 4 5]" --expected_output=4xi32="[100 50 25 20]"
  if kiln-run-module --device="$device" --module="$module" --function=checked --input=4xi32="[1 0 4 5]" >"$log" 2>&1; then
    echo "an assertion did not fail"
    exit 1
  fi
  grep -q "an element must be positive" "$log"
  echo "$(basename "$module"): $count functions as ever"
done

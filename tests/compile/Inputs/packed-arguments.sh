# packed-arguments.sh PROGRAM OUT: calls its functions with packed arguments.
set -eu
kiln-compile --iree-hal-target-backends=llvm-cpu "$1" -o "$2.packed.vmfb"
call() { kiln-run-module --module="$2.packed.vmfb" --function="$1" "${@:3}" 2>&1 || true; }
echo odd; call twice "$2" --input="5xi4=1 -2 3 7 0"
echo bytes
printf '\xe1\x73\x00' > "$2.in.bin"
call twice "$2" --input="5xi4=@$2.in.bin" --output="@$2.out.bin"
od -An -tx1 "$2.out.bin"
echo dynamic; call dynamic "$2" --input="3x3xi4=1 2 3 4 5 6 7 -8 0"; call dynamic "$2" --input="3x0xi4"
echo values; call floats "$2" --input="3xf4E2M1FN=0.5 -6 1.5"
echo range; call twice "$2" --input="5xi4=8"; call floats "$2" --input="3xf4E2M1FN=7"
echo scalars; call scalars "$2" --input=-3 --input=1.5
echo type; call twice "$2" --input="5xi8=1"

/* What a module in C (kiln-compile --output-format=vm-c) and the runtime know of each other. An application needs of it
 * only the type of the one function that such a file exports; the rest is for the files that the compiler writes.
 *
 * Each function of the program is a C function with its own control flow, and its numbers are C variables. References
 * are counted by the runtime: they stand in registers of the function's frame there, which C names by their numbers.
 * What a program asks of the runtime goes through kiln_runtime_t, so that an object file needs no library.
 *
 * Versions. A module names the version of this header that it was written for, and a runtime takes it where it has the
 * same major and no earlier minor version. Within a major version structs only grow at their ends, members keep their
 * meaning, and the numbers of kiln_runtime_t.compute stay. Whoever adds a member raises the minor version.
 */
#ifndef KILN_COMPILED_H
#define KILN_COMPILED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KILN_COMPILED_MAJOR 1
#define KILN_COMPILED_MINOR 0

#ifdef __cplusplus
extern "C" {
#endif

/* An active function, with its reference registers. */
typedef struct kiln_frame_t kiln_frame_t;

/* What the runtime does for a module. `position` is where the program is, for backtraces. Functions that return an int
 * return 0, or else the caller returns at once with a result that is not 0; the runtime knows why. */
typedef struct kiln_runtime_t {
  size_t struct_size;
  /* Begins a call of another function of the module. `references` are the caller's registers of its reference
   * arguments, followed by those that take its reference results; they must stay until the call has ended. NULL where
   * it cannot begin. */
  kiln_frame_t *(*enter)(kiln_frame_t *caller, uint32_t position, uint32_t function, const uint16_t *references);
  /* Ends the call with reference results. Always 0. */
  int (*leave)(kiln_frame_t *frame, uint32_t count, const uint16_t *references);
  /* Calls import `import`: `values` holds its value arguments and takes its value results behind them; `references` are
   * registers of its reference arguments, followed by those that take its reference results. */
  int (*call_import)(kiln_frame_t *frame, uint32_t position, uint32_t import, uint64_t *values, uint32_t value_count,
                     const uint16_t *references, uint32_t reference_count);
  /* Whether the call is over, as its limit says. Asked now and then by each loop. */
  int (*is_over)(kiln_frame_t *frame, uint32_t position);
  /* Fails the call with a message, a constant of the module. Never 0. */
  int (*fail)(kiln_frame_t *frame, uint32_t position, uint64_t code, uint32_t constant);
  /* Fails an integer division: by zero, or because the result is too large. Never 0. */
  int (*fail_division)(kiln_frame_t *frame, uint32_t position, int by_zero);
  /* The module's variables that are no references. */
  uint64_t *(*globals)(kiln_frame_t *frame);
  void (*load_global)(kiln_frame_t *frame, uint16_t target, uint32_t global);
  void (*store_global)(kiln_frame_t *frame, uint32_t global, uint16_t source);
  void (*load_constant)(kiln_frame_t *frame, uint16_t target, uint32_t constant);
  void (*load_executable)(kiln_frame_t *frame, uint16_t target, uint32_t executable);
  /* Copies `count` registers at once: pairs of source and target. */
  void (*copy)(kiln_frame_t *frame, uint32_t count, const uint16_t *pairs);
  void (*discard)(kiln_frame_t *frame, uint32_t count, const uint16_t *references);
  int (*is_null)(kiln_frame_t *frame, uint16_t reference);
  /* Computes what C leaves to a library, so that results are those of the runtime: the operation is the number of an
   * opcode, operands and result are bits. */
  uint64_t (*compute)(uint32_t operation, uint64_t a, uint64_t b);
} kiln_runtime_t;

typedef struct kiln_compiled_attribute_t {
  const char *key;
  const char *value;
} kiln_compiled_attribute_t;

typedef struct kiln_compiled_function_t {
  const char *name;
  const char *signature; /* kinds of arguments, '_', kinds of results */
  /* Registers, and how many more of each are needed at a time for what one call or branch passes. */
  uint32_t value_registers, value_scratch;
  uint32_t reference_registers, reference_scratch;
  /* `values` holds the value arguments, and takes the value results behind them. */
  int (*code)(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
} kiln_compiled_function_t;

typedef struct kiln_compiled_export_t {
  const char *name;
  uint32_t function;
  uint32_t attribute_count;
  const kiln_compiled_attribute_t *attributes;
} kiln_compiled_export_t;

typedef struct kiln_compiled_import_t {
  const char *name;
  const char *signature;
} kiln_compiled_import_t;

/* The version of a native module that the module was compiled against. */
typedef struct kiln_compiled_requirement_t {
  const char *name;
  uint32_t major, minor;
} kiln_compiled_requirement_t;

/* Data starts at a multiple of 64. */
typedef struct kiln_compiled_data_t {
  const char *name;
  const void *bytes;
  uint64_t size;
} kiln_compiled_data_t;

typedef struct kiln_compiled_dispatch_t {
  const char *name;
  uint32_t binding_count, constant_count;
} kiln_compiled_dispatch_t;

typedef struct kiln_compiled_variant_t {
  const char *target, *format, *cpu, *cpu_features;
  const kiln_compiled_dispatch_t *dispatches;
  uint32_t dispatch_count;
  const void *bytes;
  uint64_t size;
} kiln_compiled_variant_t;

typedef struct kiln_compiled_executable_t {
  const char *name;
  const kiln_compiled_variant_t *variants;
  uint32_t variant_count;
} kiln_compiled_executable_t;

typedef struct kiln_compiled_module_t {
  uint32_t major, minor; /* of this header */
  size_t struct_size;
  const char *name, *producer;
  const kiln_compiled_function_t *functions;
  const kiln_compiled_export_t *exports;
  const kiln_compiled_import_t *imports;
  const kiln_compiled_requirement_t *requirements;
  const kiln_compiled_data_t *constants;
  const kiln_compiled_executable_t *executables;
  const kiln_compiled_attribute_t *attributes;
  uint32_t function_count, export_count, import_count, requirement_count, constant_count, executable_count;
  uint32_t attribute_count;
  uint32_t value_globals, reference_globals;
  int32_t initializer; /* the function that runs once at instantiation, or -1 */
} kiln_compiled_module_t;

#ifdef __cplusplus
} /* extern "C" */
#else

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: a program's floats are those of IEEE 754"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "compile for a machine that computes floats in their own type: -msse2 -mfpmath=sse"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a module's data is little-endian"
#endif
/* A program may compare a number with itself. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wtautological-compare"
#endif
/* A product and a sum are rounded each by itself. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* How many times a loop goes round before it asks whether the call is over. */
#define KILN_ROUNDS_PER_ASKING 1024

typedef float kiln_f32_t;
typedef double kiln_f64_t;

static inline float kiln_f32(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof(value));
  return value;
}
static inline double kiln_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}
static inline uint64_t kiln_f32_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}
static inline uint64_t kiln_f64_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/* IEEE 754 minimum and maximum: NaN where either is NaN, and -0 is less than +0. Conversions to integers go towards
 * zero, saturate, and give 0 for NaN. */
#define KILN_DEFINE_FLOAT(type, sign_shift)                                                                            \
  static inline uint64_t kiln_min_##type(uint64_t a, uint64_t b) {                                                     \
    a = kiln_##type##_bits(kiln_##type(a)), b = kiln_##type##_bits(kiln_##type(b));                                    \
    if (kiln_##type(a) != kiln_##type(a) || kiln_##type(b) != kiln_##type(b))                                          \
      return kiln_##type##_bits(kiln_##type(a) + kiln_##type(b));                                                      \
    if (kiln_##type(a) == kiln_##type(b))                                                                              \
      return a >> sign_shift ? a : b;                                                                                  \
    return kiln_##type(a) < kiln_##type(b) ? a : b;                                                                    \
  }                                                                                                                    \
  static inline uint64_t kiln_max_##type(uint64_t a, uint64_t b) {                                                     \
    a = kiln_##type##_bits(kiln_##type(a)), b = kiln_##type##_bits(kiln_##type(b));                                    \
    if (kiln_##type(a) != kiln_##type(a) || kiln_##type(b) != kiln_##type(b))                                          \
      return kiln_##type##_bits(kiln_##type(a) + kiln_##type(b));                                                      \
    if (kiln_##type(a) == kiln_##type(b))                                                                              \
      return a >> sign_shift ? b : a;                                                                                  \
    return kiln_##type(a) > kiln_##type(b) ? a : b;                                                                    \
  }                                                                                                                    \
  static inline uint64_t kiln_##type##_to_si64(uint64_t bits) {                                                        \
    if (kiln_##type(bits) != kiln_##type(bits))                                                                        \
      return 0;                                                                                                        \
    if (kiln_##type(bits) >= 9223372036854775808.0f)                                                                   \
      return INT64_MAX;                                                                                                \
    if (kiln_##type(bits) < -9223372036854775808.0f)                                                                   \
      return (uint64_t)INT64_MIN;                                                                                      \
    return (uint64_t)(int64_t)kiln_##type(bits);                                                                       \
  }                                                                                                                    \
  static inline uint64_t kiln_##type##_to_ui64(uint64_t bits) {                                                        \
    if (!(kiln_##type(bits) > 0))                                                                                      \
      return 0;                                                                                                        \
    if (kiln_##type(bits) >= 18446744073709551616.0f)                                                                  \
      return UINT64_MAX;                                                                                               \
    return (uint64_t)kiln_##type(bits);                                                                                \
  }
KILN_DEFINE_FLOAT(f32, 31)
KILN_DEFINE_FLOAT(f64, 63)
#undef KILN_DEFINE_FLOAT

/* Whether the quotient is too large: the least number by -1. And the remainder, 0 there. */
#define KILN_DEFINE_INTEGER(bits, min)                                                                                 \
  static inline int kiln_overflows_i##bits(uint64_t a, uint64_t b) {                                                   \
    return (int##bits##_t)b == -1 && (int##bits##_t)a == min;                                                          \
  }                                                                                                                    \
  static inline uint64_t kiln_rem_i##bits(uint64_t a, uint64_t b) {                                                    \
    return (int##bits##_t)b == -1 ? 0 : (uint##bits##_t)((int##bits##_t)a % (int##bits##_t)b);                         \
  }
KILN_DEFINE_INTEGER(32, INT32_MIN)
KILN_DEFINE_INTEGER(64, INT64_MIN)
#undef KILN_DEFINE_INTEGER

#endif /* __cplusplus */

#if defined(__GNUC__)
#define KILN_COMPILED_API __attribute__((visibility("default")))
#else
#define KILN_COMPILED_API
#endif

#endif /* KILN_COMPILED_H */

// Each thread runs twelve chains of operations that do not depend on each other, all in registers: more than latency
// times throughput, so that nothing but the arithmetic units limits.
//
// Values stay normal numbers however long it runs: x * 0.5 + 1 goes to 2, and products of pairs cancel. The empty asm,
// which seems to change the register, keeps the compiler from merging rounds. The chains are variables of their own,
// because a compiler that meets a loop over an array may keep the array in memory.
#include "kiln/measure/machine/peak.h"

#include <algorithm>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kiln::measure {

namespace {

constexpr double kChains = 12;

// clang-format off
#define PEAK_TWELVE(Do, ...)                                                                                           \
  Do(0, __VA_ARGS__) Do(1, __VA_ARGS__) Do(2, __VA_ARGS__) Do(3, __VA_ARGS__) Do(4, __VA_ARGS__) Do(5, __VA_ARGS__)    \
  Do(6, __VA_ARGS__) Do(7, __VA_ARGS__) Do(8, __VA_ARGS__) Do(9, __VA_ARGS__) Do(10, __VA_ARGS__) Do(11, __VA_ARGS__)
#define PEAK_DECLARE(i, Register, ...) Register chain##i = b;
#define PEAK_STEP(i, Step, constraint) chain##i = Step(chain##i, a, b); asm volatile("" : constraint(chain##i), constraint(a));
#define PEAK_KEEP(i, constraint) asm volatile("" : constraint(chain##i));
// `a` and `b` are the constants that Step takes beside the chain.
#define PEAK_KERNEL(function, Register, Operand, first, second, Step, constraint)                                      \
  void function(uint64_t rounds) {                                                                                     \
    Operand a = first;                                                                                                 \
    Register b = second;                                                                                               \
    PEAK_TWELVE(PEAK_DECLARE, Register)                                                                                \
    for (uint64_t round = 0; round < rounds; ++round) {                                                                \
      PEAK_TWELVE(PEAK_STEP, Step, constraint)                                                                         \
    }                                                                                                                  \
    PEAK_TWELVE(PEAK_KEEP, constraint)                                                                                 \
  }

#if defined(__x86_64__)

#define MUL_ADD(x, a, b) ((x) * (a) + (b))
#define MUL_ADD_PS(x, a, b) _mm_add_ps(_mm_mul_ps(x, a), b)
#define MUL_ADD_PD(x, a, b) _mm_add_pd(_mm_mul_pd(x, a), b)
PEAK_KERNEL(scalarF32, float, float, 0.5F, 1.0F, MUL_ADD, "+x")
PEAK_KERNEL(scalarF64, double, double, 0.5, 1.0, MUL_ADD, "+x")
PEAK_KERNEL(sseF32, __m128, __m128, _mm_set1_ps(0.5F), _mm_set1_ps(1.0F), MUL_ADD_PS, "+x")
PEAK_KERNEL(sseF64, __m128d, __m128d, _mm_set1_pd(0.5), _mm_set1_pd(1.0), MUL_ADD_PD, "+x")

#define TARGET(features) __attribute__((target(features)))
TARGET("fma") PEAK_KERNEL(scalarFmaF32, float, float, 0.5F, 1.0F, __builtin_fmaf, "+x")
TARGET("fma") PEAK_KERNEL(scalarFmaF64, double, double, 0.5, 1.0, __builtin_fma, "+x")
TARGET("avx2,fma") PEAK_KERNEL(avx2F32, __m256, __m256, _mm256_set1_ps(0.5F), _mm256_set1_ps(1.0F), _mm256_fmadd_ps, "+x")
TARGET("avx2,fma") PEAK_KERNEL(avx2F64, __m256d, __m256d, _mm256_set1_pd(0.5), _mm256_set1_pd(1.0), _mm256_fmadd_pd, "+x")
TARGET("avx512f") PEAK_KERNEL(avx512F32, __m512, __m512, _mm512_set1_ps(0.5F), _mm512_set1_ps(1.0F), _mm512_fmadd_ps, "+v")
TARGET("avx512f") PEAK_KERNEL(avx512F64, __m512d, __m512d, _mm512_set1_pd(0.5), _mm512_set1_pd(1.0), _mm512_fmadd_pd, "+v")

#define FMA_PH(x, a, b) _mm512_castph_ps(_mm512_fmadd_ph(_mm512_castps_ph(x), _mm512_castps_ph(a), _mm512_castps_ph(b)))
// Two f16 of 0.5, and two of 1, as the bits of a f32.
TARGET("avx512f,avx512bw,avx512fp16")
PEAK_KERNEL(avx512F16, __m512, __m512, _mm512_castsi512_ps(_mm512_set1_epi32(0x38003800)),
            _mm512_castsi512_ps(_mm512_set1_epi32(0x3C003C00)), FMA_PH, "+v")

// x + 1 * 1 + 1 * -1: `a` holds pairs of bf16, 1 and 1; what it is multiplied with, 1 and -1.
#define DOT_BF16(x, a, b) _mm512_dpbf16_ps(x, (__m512bh)(a), (__m512bh)_mm512_set1_epi32(static_cast<int>(0xBF803F80)))
TARGET("avx512f,avx512bw,avx512bf16")
PEAK_KERNEL(avx512BF16, __m512, __m512i, _mm512_set1_epi32(0x3F803F80), _mm512_set1_ps(1.0F), DOT_BF16, "+v")

#define DOT_I8_256(x, a, b) _mm256_dpbusd_avx_epi32(x, a, a)
#define DOT_I8_512(x, a, b) _mm512_dpbusd_epi32(x, a, a)
#define MADD_I16(x, a, b) _mm256_add_epi32(x, _mm256_madd_epi16(a, a))
TARGET("avx2") PEAK_KERNEL(avx2I16, __m256i, __m256i, _mm256_set1_epi16(3), _mm256_set1_epi32(1), MADD_I16, "+x")
TARGET("avx2,avxvnni")
PEAK_KERNEL(avxVnni, __m256i, __m256i, _mm256_set1_epi8(3), _mm256_set1_epi32(1), DOT_I8_256, "+x")
TARGET("avx512f,avx512vnni")
PEAK_KERNEL(avx512Vnni, __m512i, __m512i, _mm512_set1_epi8(3), _mm512_set1_epi32(1), DOT_I8_512, "+v")

// Products of tiles, of 16 rows of 64 bytes, are added to six others. The tiles are zero.
constexpr double kTileChains = 6, kTileRows = 16, kTileBytes = 64;
constexpr double kTileI8 = 2 * kTileRows * kTileRows * kTileBytes, kTileBF16 = kTileI8 / 2;
struct TileShapes {
  uint8_t palette = 1, firstRow = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// The shapes are a constant of the program: gcc takes it that an instruction which loads them reads 8 of their bytes, and
// leaves the others of one on the stack as they were.
#define PEAK_TILES(function, Step)                                                                                     \
  void function(uint64_t rounds) {                                                                                     \
    static constexpr TileShapes shapes;                                                                                \
    _tile_loadconfig(&shapes);                                                                                         \
    _tile_zero(0); _tile_zero(1); _tile_zero(2); _tile_zero(3);                                                        \
    _tile_zero(4); _tile_zero(5); _tile_zero(6); _tile_zero(7);                                                        \
    for (uint64_t round = 0; round < rounds; ++round) {                                                                \
      Step(0, 6, 7); Step(1, 6, 7); Step(2, 6, 7); Step(3, 6, 7); Step(4, 6, 7); Step(5, 6, 7);                        \
    }                                                                                                                  \
    _tile_release();                                                                                                   \
  }
TARGET("amx-tile,amx-int8") PEAK_TILES(amxI8, _tile_dpbssd)
TARGET("amx-tile,amx-bf16") PEAK_TILES(amxBF16, _tile_dpbf16ps)

#elif defined(__aarch64__)

#define FMA_NEON_F32(x, a, b) vfmaq_f32(b, x, a)
#define FMA_NEON_F64(x, a, b) vfmaq_f64(b, x, a)
PEAK_KERNEL(scalarFmaF32, float, float, 0.5F, 1.0F, __builtin_fmaf, "+w")
PEAK_KERNEL(scalarFmaF64, double, double, 0.5, 1.0, __builtin_fma, "+w")
PEAK_KERNEL(neonF32, float32x4_t, float32x4_t, vdupq_n_f32(0.5F), vdupq_n_f32(1.0F), FMA_NEON_F32, "+w")
PEAK_KERNEL(neonF64, float64x2_t, float64x2_t, vdupq_n_f64(0.5), vdupq_n_f64(1.0), FMA_NEON_F64, "+w")

#endif
    // clang-format on

    struct Entry {
  const char *needs; // a feature; empty: all CPUs of the architecture have it
  PeakKernel kernel;
};

#if defined(__x86_64__)
constexpr Entry kEntries[] = {
    {"", {"f32", "scalar", kChains * 2, scalarF32}},
    {"", {"f64", "scalar", kChains * 2, scalarF64}},
    {"fma", {"f32", "scalar_fma", kChains * 2, scalarFmaF32}},
    {"fma", {"f64", "scalar_fma", kChains * 2, scalarFmaF64}},
    {"", {"f32", "sse", kChains * 8, sseF32}},
    {"", {"f64", "sse", kChains * 4, sseF64}},
    {"avx2", {"f32", "avx2_fma", kChains * 16, avx2F32}},
    {"avx2", {"f64", "avx2_fma", kChains * 8, avx2F64}},
    {"avx512f", {"f32", "avx512_fma", kChains * 32, avx512F32}},
    {"avx512f", {"f64", "avx512_fma", kChains * 16, avx512F64}},
    {"avx512_fp16", {"f16", "avx512_fp16", kChains * 64, avx512F16}},
    {"avx512_bf16", {"bf16", "avx512_bf16", kChains * 64, avx512BF16}},
    {"avx2", {"i8", "avx2_i16", kChains * 32, avx2I16}},
    {"avx_vnni", {"i8", "avx_vnni", kChains * 64, avxVnni}},
    {"avx512_vnni", {"i8", "avx512_vnni", kChains * 128, avx512Vnni}},
    {"amx_bf16", {"bf16", "amx_bf16", kTileChains * kTileBF16, amxBF16}},
    {"amx_int8", {"i8", "amx_int8", kTileChains * kTileI8, amxI8}},
};
#elif defined(__aarch64__)
constexpr Entry kEntries[] = {
    {"", {"f32", "scalar_fma", kChains * 2, scalarFmaF32}},
    {"", {"f64", "scalar_fma", kChains * 2, scalarFmaF64}},
    {"", {"f32", "neon_fma", kChains * 8, neonF32}},
    {"", {"f64", "neon_fma", kChains * 4, neonF64}},
};
#endif

} // namespace

// Linux lends a process the tiles' state when it is asked.
static bool maySetTiles() {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

static bool canRun(std::string_view needs, std::span<const std::string> features) {
  if (needs.empty())
    return true;
  return std::ranges::find(features, needs) != features.end() && (!needs.starts_with("amx") || maySetTiles());
}

std::vector<PeakKernel> peakKernels(std::span<const std::string> features) {
  std::vector<PeakKernel> kernels;
#if defined(__x86_64__) || defined(__aarch64__)
  for (const Entry &entry : kEntries)
    if (canRun(entry.needs, features))
      kernels.push_back(entry.kernel);
#endif
  return kernels;
}

} // namespace kiln::measure

// Architectures of NVIDIA's GPUs that Kiln generates code for, and the products that have them. The compiler and the
// lab take the same names, and neither links the other.
#ifndef KILN_TARGETS_CUDA_ARCHITECTURES_H
#define KILN_TARGETS_CUDA_ARCHITECTURES_H

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

namespace kiln {

// Code for one with an "a" runs on that architecture alone.
inline constexpr std::string_view kCudaArchitectures[] = {"sm_75",  "sm_80",  "sm_86",   "sm_87",  "sm_89",  "sm_90",
                                                          "sm_90a", "sm_100", "sm_100a", "sm_120", "sm_120a"};

struct CudaProduct {
  std::string_view name, architecture;
};

inline constexpr CudaProduct kCudaProducts[] = {
    {"t4", "sm_75"},      {"rtx2080", "sm_75"}, {"a100", "sm_80"},     {"a30", "sm_80"},      {"a10", "sm_86"},
    {"a10g", "sm_86"},    {"a40", "sm_86"},     {"a6000", "sm_86"},    {"rtx3080", "sm_86"},  {"rtx3090", "sm_86"},
    {"orin", "sm_87"},    {"l4", "sm_89"},      {"l40", "sm_89"},      {"l40s", "sm_89"},     {"rtx4080", "sm_89"},
    {"rtx4090", "sm_89"}, {"h100", "sm_90a"},   {"h200", "sm_90a"},    {"gh200", "sm_90a"},   {"b100", "sm_100a"},
    {"b200", "sm_100a"},  {"gb200", "sm_100a"}, {"rtx5080", "sm_120"}, {"rtx5090", "sm_120"},
};

// "t4, rtx2080, ...", for errors.
inline std::string cudaProductNames() {
  std::string names;
  for (const CudaProduct &product : kCudaProducts)
    names.append(names.empty() ? "" : ", ").append(product.name);
  return names;
}

// The architecture that an architecture's or a product's name means, in small letters or large ones; empty where it is
// neither.
inline std::string cudaArchitectureOf(std::string_view name) {
  std::string small;
  std::ranges::transform(name, std::back_inserter(small), [](unsigned char c) { return char(std::tolower(c)); });
  if (const auto *product = std::ranges::find(kCudaProducts, small, &CudaProduct::name);
      product != std::end(kCudaProducts))
    return std::string(product->architecture);
  return std::ranges::find(kCudaArchitectures, small) == std::end(kCudaArchitectures) ? "" : small;
}

// 80 of sm_80, 90 of sm_90a; 0 of what is no architecture.
inline int cudaGenerationOf(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (architecture.starts_with(kPrefix))
    std::from_chars(architecture.data() + kPrefix.size(), architecture.data() + architecture.size(), number);
  return number;
}

} // namespace kiln

#endif // KILN_TARGETS_CUDA_ARCHITECTURES_H

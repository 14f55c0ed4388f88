// The providers that Kiln brings itself, by name.
#ifndef KILN_BASE_OWN_PROVIDERS_H
#define KILN_BASE_OWN_PROVIDERS_H

#include <algorithm>
#include <iterator>
#include <string_view>

namespace kiln {

inline constexpr std::string_view kOwnProviders[] = {"cublas", "cublaslt", "cudnn",    "kiln",
                                                     "mkl",    "onednn",   "openblas", "reference"};

// All others are programs of users, of which Kiln knows what they say of themselves and nothing else.
constexpr bool isOwnProvider(std::string_view name) {
  return std::ranges::find(kOwnProviders, name) != std::end(kOwnProviders);
}
// Whether the provider runs code of Kiln's; the others are libraries, and programs of users.
constexpr bool isKilnsCode(std::string_view name) {
  return name == "kiln" || name == "reference";
}

} // namespace kiln

#endif // KILN_BASE_OWN_PROVIDERS_H

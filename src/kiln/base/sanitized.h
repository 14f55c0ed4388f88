// Whether this build runs under a sanitizer, for tests of limits: a sanitizer handles signals and allocations itself.
#ifndef KILN_BASE_SANITIZED_H
#define KILN_BASE_SANITIZED_H

namespace kiln {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

} // namespace kiln

#endif // KILN_BASE_SANITIZED_H

// Whether a sanitizer watches the tests.
#pragma once

namespace attnviz::test {

/// Sanitizers keep freed memory for a while and shadow the rest: limits and peaks mean nothing.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace attnviz::test

// What an x86 processor can do, as far as the operating system lets programs use it.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE  // glibc 2.34 and later
/// Whether the processor has a feature, given its names in the C library and in the compiler. The C
/// library's loader already knows. Asking the processor again costs some microseconds per query in
/// a virtual machine, and the compiler's library makes a dozen queries.
#define ATTNVIZ_HAS_CPU_FEATURE(c_library, compiler) (CPU_FEATURE_ACTIVE(c_library) != 0)
#else
#define ATTNVIZ_HAS_CPU_FEATURE(c_library, compiler) (__builtin_cpu_supports(compiler) != 0)
#endif
#endif

// What an x86 processor can do, as far as the system lets programs use it.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#ifdef CPU_FEATURE_ACTIVE  // of glibc from 2.34 on
/// Whether there is a feature, by the names that the C library and the compiler have for it. The
/// loader of the C library has found out: asking the processor again takes a virtual machine some
/// microseconds a question, of which the compiler's library has a dozen.
#define ATTNVIZ_HAS_CPU_FEATURE(c_library, compiler) (CPU_FEATURE_ACTIVE(c_library) != 0)
#else
#define ATTNVIZ_HAS_CPU_FEATURE(c_library, compiler) (__builtin_cpu_supports(compiler) != 0)
#endif
#endif

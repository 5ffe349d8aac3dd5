#include "attnviz/picture/fonts/harfbuzz-inl.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

std::optional<HarfBuzz> load() {
  constexpr const char* kLibrary = "libharfbuzz.so.0";
  errno = 0;
  void* library = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    if (const int error = errno; error != 0 && error != ENOENT) {  // it is there
      throw Error(ErrorKind::kIo,
                  fmt::format("{}: cannot read: {}", kLibrary,
                              std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
    }
    return std::nullopt;
  }
  HarfBuzz functions = {};
#define ATTNVIZ_HARFBUZZ_LOAD(name)                                                         \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, "hb_" #name)); \
  if (functions.name == nullptr) {                                                          \
    return std::nullopt;                                                                    \
  }
  ATTNVIZ_HARFBUZZ_FUNCTIONS(ATTNVIZ_HARFBUZZ_LOAD)
#undef ATTNVIZ_HARFBUZZ_LOAD
  return functions;
}

}  // namespace

const HarfBuzz* harfbuzz() {
  static const std::optional<HarfBuzz> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace attnviz

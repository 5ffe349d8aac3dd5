#include "attnviz/picture/fonts/harfbuzz-inl.h"

#include <dlfcn.h>

#include <optional>

namespace attnviz {

namespace {

std::optional<HarfBuzz> load() noexcept {
  void* library = dlopen("libharfbuzz.so.0", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
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

const HarfBuzz* harfbuzz() noexcept {
  static const std::optional<HarfBuzz> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace attnviz

#include "attnviz/picture/fonts/harfbuzz-inl.h"

#include <optional>

#include "attnviz/core/shared_library.h"

namespace attnviz {

namespace {

std::optional<HarfBuzz> load() {
  const auto library = SharedLibrary::load("libharfbuzz.so.0");
  HarfBuzz functions = {};
#define ATTNVIZ_HARFBUZZ_FIND(name) &&library->find("hb_" #name, functions.name)
  if (library ATTNVIZ_HARFBUZZ_FUNCTIONS(ATTNVIZ_HARFBUZZ_FIND)) {
    return functions;
  }
#undef ATTNVIZ_HARFBUZZ_FIND
  return std::nullopt;
}

}  // namespace

const HarfBuzz* harfbuzz() {
  static const std::optional<HarfBuzz> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace attnviz

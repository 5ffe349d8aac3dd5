#include "attnviz/core/shared_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "attnviz/core/error.h"

namespace attnviz {

std::optional<SharedLibrary> SharedLibrary::load(const char* name) {
  errno = 0;
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) {
    return SharedLibrary(handle);
  }
  if (const int error = errno; error != 0 && error != ENOENT) {  // it exists
    throw Error(ErrorKind::kIo,
                fmt::format("{}: cannot read: {}", name,
                            std::strerror(error)));  // NOLINT(concurrency-mt-unsafe)
  }
  return std::nullopt;
}

void* SharedLibrary::symbol(const char* name) const noexcept {
  return dlsym(handle_, name);
}

}  // namespace attnviz

// System libraries that are loaded at run time and that the program can do without.
#pragma once

#include <optional>

namespace attnviz {

/// A library that stays loaded until the program ends.
class SharedLibrary {
 public:
  /// Loads the library by its name (libharfbuzz.so.0); nothing if the system does not have it.
  /// Throws Error{kIo} if it exists but cannot be loaded.
  static std::optional<SharedLibrary> load(const char* name);

  /// Sets `function` to the library's symbol `name`, which must have this type; sets null and
  /// returns false if the library does not have it.
  template <typename Function>
  bool find(const char* name, Function*& function) const noexcept {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) noexcept : handle_(handle) {}
  void* symbol(const char* name) const noexcept;

  void* handle_;
};

}  // namespace attnviz

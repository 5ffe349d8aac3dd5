// Libraries of the system that the program starts and works without.
#pragma once

#include <optional>

namespace attnviz {

/// A library that stays loaded until the program ends.
class SharedLibrary {
 public:
  /// Loads it by its name (libharfbuzz.so.0); empty where the system has none. Throws Error{kIo}
  /// when it has one that cannot be loaded.
  static std::optional<SharedLibrary> load(const char* name);

  /// Sets `function` to what the library calls `name`, which has to be of its type; null and false
  /// when the library has nothing of that name.
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

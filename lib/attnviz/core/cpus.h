// The CPUs that this process may use, and threads bound to them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace attnviz {

/// The CPUs of this process's affinity mask, the one it runs on first and those after it next;
/// empty when the system does not tell.
std::vector<int> allowed_cpus();

/// How many CPUs' time a control group may use, rounded up, from its file cpu.max: "150000 100000"
/// is 2. Nothing for "max 100000", and for what is no such text.
std::optional<std::size_t> cpus_of_quota(std::string_view cpu_max) noexcept;

/// As many threads as the affinity mask and the control group's quota let run at once; at least 1.
std::size_t available_threads() noexcept;

/// Keeps the calling thread on these CPUs from now on; nothing happens when there are none, or when
/// the system refuses.
void keep_this_thread_on(const std::vector<int>& cpus) noexcept;

/// Keeps the calling thread on `cpu` until the end of the scope; nothing happens for -1.
class ScopedPin {
 public:
  explicit ScopedPin(int cpu) noexcept;
  ~ScopedPin();
  ScopedPin(const ScopedPin&) = delete;
  ScopedPin& operator=(const ScopedPin&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace attnviz

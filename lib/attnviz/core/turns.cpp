#include "attnviz/core/turns.h"

namespace attnviz {

void Turns::wait_for(std::size_t item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, item] { return next_ == item; });
}

Turns::Turn::~Turn() {
  turns_.wait_for(item_);
  {
    const std::scoped_lock lock(turns_.mutex_);
    ++turns_.next_;
  }
  turns_.changed_.notify_all();
}

void Turns::Turn::take(const std::function<void()>& step) {
  turns_.wait_for(item_);
  if (turns_.failed_) {  // only the item whose turn it is reads or writes it
    return;
  }
  try {
    step();
  } catch (...) {
    turns_.failed_ = true;
    throw;
  }
}

}  // namespace attnviz

#include "attnviz/analysis/why/asked_tokens.h"

#include <fmt/core.h>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

void require_token(std::size_t at, std::size_t n_tokens) {
  if (at >= n_tokens) {
    throw Error(ErrorKind::kUsage,
                fmt::format("token {}: the text has {}", at, counted(n_tokens, "token")));
  }
}

void require_id(std::uint32_t id, std::size_t n_vocab) {
  if (id >= n_vocab) {
    throw Error(ErrorKind::kUsage,
                fmt::format("token {}: expected less than {}", id, counted(n_vocab, "token")));
  }
}

void require_one_stream(const Model& model, std::string_view consequence) {
  if (model.altup.present()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: its layers compute with one of {} residual streams, which each of "
                            "them mixes (AltUp), {}",
                            model.config.name, model.altup.n_streams(), consequence));
  }
}

}  // namespace attnviz

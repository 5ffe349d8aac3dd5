#include "commands/unread_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/run_facts.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "system/talk.h"

namespace attnviz::app {

void report_unread_keys(std::string_view name, std::span<const PassedOver> harmless,
                        std::span<const std::string> unknown, const TalkOptions& talk) {
  if (talk.strict && !unknown.empty()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: unknown keys or tensors: {}; without --strict they are ignored",
                            name, few_keys(unknown)));
  }
  if (!talk.verbose && !unknown.empty()) {
    tell(talk, fmt::format("{}: {} (-v lists them, --strict refuses them)", name,
                           unknown_keys_note(unknown)));
  }
  if (!talk.verbose) {
    return;
  }
  for (const std::string& key : unknown) {
    say(fmt::format("ignored as unknown: {}", shown_name(key)));
  }
  for (const PassedOver& one : harmless) {
    say(fmt::format("passed over: {}: {}", shown_name(one.name), one.why));
  }
}

void report_unread_keys(const ModelConfig& config, const TalkOptions& talk) {
  report_unread_keys(config.name, config.passed_over, config.unknown_keys, talk);
}

void report_unread_keys(ModelConfig& config, std::span<const PassedOver> harmless,
                        std::span<const std::string> unknown, const TalkOptions& talk) {
  report_unread_keys(config.name, harmless, unknown, talk);
  std::ranges::copy(unknown, std::back_inserter(config.unknown_keys));
}

void report_unread_keys(ModelConfig& config, const Tokenizer& tokenizer, const TalkOptions& talk) {
  if (const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer)) {
    report_unread_keys(config, own->passed_over(), own->unknown_keys(), talk);
  }
}

void report_unread_keys(std::string_view name, const Tokenizer& tokenizer,
                        const TalkOptions& talk) {
  if (const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer)) {
    report_unread_keys(name, own->passed_over(), own->unknown_keys(), talk);
  }
}

}  // namespace attnviz::app

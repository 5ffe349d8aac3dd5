#include "commands/input.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <span>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/core/message.h"
#include "attnviz/text/template/chat_json.h"
#include "attnviz/text/token_choice.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "attnviz/text/tokenizers/prompt_lint.h"
#include "options/advice.h"
#include "system/diagnostics.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// Some tokenizers make no tokens of control characters.
class NoTokens : public Error {
 public:
  NoTokens() : Error(ErrorKind::kUsage, "the text has no tokens") {}
};

// Anything longer is not a text to look at, and reading on would fill the memory (/dev/zero, a
// wrong pipe).
constexpr std::size_t kLongestText = 64u << 20;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

void drop_line_end(std::string& text) {
  if (text.ends_with('\n')) {
    text.pop_back();
    if (text.ends_with('\r')) {
      text.pop_back();
    }
  }
}

// Some editors begin a file with a byte order mark, which is not part of the text.
void drop_byte_order_mark(std::string& text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
}

// Refuses pictures, models and the like instead of a text and suggests the line that takes the
// file.
void refuse_other_kinds(std::string_view first, const std::string& name, bool is_file) {
  const FileKind kind = kind_of_bytes(first);
  if (kind == FileKind::kOther) {
    return;
  }
  Advice advice{fmt::format("{}: is {}, not a text", name, name_of(kind))};
  if (is_file && kind == FileKind::kNumPy) {
    advice = {advice.message + "; to draw the attention in it:",
              {"attnviz render " + shell_quoted(name)}};
  } else if (is_file && kind == FileKind::kGguf) {
    advice = {advice.message + ":", {"attnviz -m " + shell_quoted(name) + " \"The cat sat\""}};
  }
  throw AdviceError(ErrorKind::kMalformed, std::move(advice));
}

// If nothing separates the two texts, the model almost certainly takes only one.
void require_separation(const TokenizedText& text, std::string_view tokenizer) {
  const auto is_text = [](const Token& token) { return !token.added; };
  const auto first = std::find_if(text.tokens.begin(), text.tokens.end(), is_text);
  const auto last = std::find_if(text.tokens.rbegin(), text.tokens.rend(), is_text).base();
  if (std::all_of(first, last, is_text)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--pair: this model takes one text only: its {} tokenizer cannot join two",
                    tokenizer));
  }
}

[[noreturn]] void fail_without_text() {
  throw AdviceError(ErrorKind::kUsage,
                    {"no TEXT. Try:",
                     {"attnviz tour                     what attention is, in six short screens",
                      "attnviz \"The cat sat\"            draw where each word looks",
                      "echo \"The cat sat\" | attnviz     the same from a pipe",
                      "attnviz --help                   everything else"}});
}

}  // namespace

TextSource::TextSource(const InputOptions& input, const Verbosity& verbosity,
                       bool model_may_have_one)
    : input_(input), quiet_(verbosity.quiet) {
  if (input.tools) {
    const MappedFile file(*input.tools);
    tools_ = read_tools(file.bytes(), input.tools->string());
  }
  if (input.ids) {
    return;
  }
  if (input.may_be_absent && !input.is_given()) {
    finished_ = ended_ = true;
    return;
  }
  if (input.text && *input.text != "-") {
    name_ = "TEXT";
    buffer_ = *input.text;
    ended_ = true;
  } else if (input.file && *input.file != "-") {
    stream_.emplace(*input.file);
    name_ = stream_->name();
  } else {
    absent_ = !input.text && !input.file && stdin_is_terminal();
    if (absent_ && (!model_may_have_one || input.many_texts())) {
      fail_without_text();
    }
    stream_.emplace();
    name_ = stream_->name();
  }
}

bool TextSource::fill() {
  constexpr std::size_t kChunk = 65536;
  buffer_.erase(0, std::exchange(consumed_, 0));
  if (buffer_.size() > kLongestText) {
    throw Error(ErrorKind::kUsage, fmt::format("{}: longer than {} MiB: cut it, or use --lines",
                                               place(), kLongestText >> 20));
  }
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kChunk);
  const std::size_t count = stream_->read(std::span(buffer_).subspan(size));
  buffer_.resize(size + count);
  if (size == 0 && lines_.count() == 0) {
    refuse_other_kinds(buffer_, name_, stream_->is_file());
  }
  ended_ = count == 0;
  if (stream_->was_interrupted()) {
    buffer_.clear();  // an incomplete line
    stopped_ = true;
  }
  return !ended_;
}

bool TextSource::is_empty() {
  return buffer_.empty() && (ended_ || !fill());
}

void TextSource::or_else(const std::string& text) {
  if (text.empty() && absent_) {
    fail_without_text();
  }
  if (text.empty() || input_.is_given() || input_.may_be_absent || (!absent_ && !is_empty())) {
    return;
  }
  name_ = "TEXT";
  stream_.reset();
  buffer_ = text;
  ended_ = true;
}

std::string TextSource::whole() {
  while (!ended_ && fill()) {
  }
  if (stream_) {
    drop_byte_order_mark(buffer_);
    drop_line_end(buffer_);
  }
  return std::exchange(buffer_, {});
}

std::optional<std::string> TextSource::next_line() {
  std::size_t searched = consumed_;
  std::size_t end = 0;
  while ((end = buffer_.find('\n', searched)) == std::string::npos && !ended_) {
    searched = buffer_.size() - consumed_;  // fill() moves the rest to the front
    fill();
  }
  if (end == std::string::npos) {
    if (consumed_ == buffer_.size()) {
      return std::nullopt;
    }
    end = buffer_.size() - 1;
  }
  std::string line = buffer_.substr(consumed_, end + 1 - consumed_);
  consumed_ = end + 1;
  if (lines_.count() == 0 && stream_) {
    drop_byte_order_mark(line);
  }
  drop_line_end(line);
  lines_.add(line);
  return line;
}

std::string TextSource::place() const {
  return input_.many_texts()
             ? fmt::format("{}: line {}", name_, std::max<std::size_t>(lines_.count(), 1))
             : name_;
}

Chat TextSource::parse_chat(const std::string& json) const {
  Chat chat = read_chat(json, place());
  if (chat.tools != nullptr && tools_ != nullptr) {
    throw Error(ErrorKind::kUsage, place() + ": \"tools\" and --tools exclude each other");
  }
  return chat;
}

InputText TextSource::parse_json_line(const std::string& line) const {
  using nlohmann::json;
  const auto fail = [this](const std::string& what) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: {}", place(), what));
  };
  const json value = parsed_json(line, place());
  if (value.is_string()) {
    return {value.get<std::string>(), input_.pair};
  }
  if (value.is_array() || (value.is_object() && value.contains("messages"))) {
    if (!input_.chat) {
      fail("a list of messages is read with --chat");
    }
    return {parse_chat(line)};
  }
  if (!value.is_object()) {
    fail(fmt::format("expected a string or an object, found {}", value.type_name()));
  }
  const bool has_text = value.contains("text");
  if (has_text == value.contains("ids")) {
    fail(has_text ? "\"text\" and \"ids\" exclude each other" : "expected \"text\" or \"ids\"");
  }
  for (const char* const key : {"ids", "pair", "system", "tools"}) {
    if (input_.chat && value.contains(key)) {
      fail(fmt::format("\"{}\": --chat takes only a text, or \"messages\" and \"tools\"", key));
    }
  }
  const auto text_at = [&](const char* key) {
    if (!value[key].is_string()) {
      fail(fmt::format("{}: expected a string, found {}", key, value[key].type_name()));
    }
    return value[key].get<std::string>();
  };
  if (!has_text && value.contains("pair")) {
    fail("\"pair\" needs \"text\": ids are used unchanged");
  }
  InputText text =
      has_text ? InputText{text_at("text"), value.contains("pair") ? text_at("pair") : input_.pair}
               : InputText{ids_in(value["ids"], place() + ": ids")};
  if (value.contains("target") && value.contains("decoder_ids")) {
    fail("\"target\" and \"decoder_ids\" exclude each other");
  }
  if (value.contains("target")) {
    text.target = text_at("target");
  }
  if (value.contains("decoder_ids")) {
    text.decoder_ids = ids_in(value["decoder_ids"], place() + ": decoder_ids");
  }
  return text;
}

std::vector<std::vector<TokenId>> read_id_lists(const std::filesystem::path& file) {
  const MappedFile bytes(file);
  const std::string name = file.string();
  const nlohmann::json lists = parsed_json(bytes.bytes(), name);
  if (!lists.is_array() || lists.empty()) {
    throw Error(ErrorKind::kMalformed, name + ": expected a list of lists of token ids");
  }
  std::vector<std::vector<TokenId>> all;
  for (const nlohmann::json& list : lists) {
    all.push_back(ids_in(list, fmt::format("{}: [{}]", name, all.size())));
  }
  return all;
}

std::optional<InputText> TextSource::next() {
  if (input_.ids) {
    return std::exchange(finished_, true) ? std::nullopt : std::optional(InputText{*input_.ids});
  }
  if (!input_.many_texts()) {
    if (std::exchange(finished_, true)) {
      return std::nullopt;
    }
    std::string text = whole();
    if (text.empty() || (is_blank(text) && (input_.messages || !input_.may_be_blank))) {
      throw Error(ErrorKind::kUsage, name_ + ": the text is empty or blank");
    }
    if (input_.messages) {
      return InputText{.content = parse_chat(text), .tools = tools_};
    }
    return InputText{.content = std::move(text), .pair = input_.pair, .tools = tools_};
  }
  while (!stopped_) {
    const auto line = next_line();
    if (!line) {
      break;
    }
    const bool blank = is_blank(*line);
    InputText text{blank ? std::string() : *line, input_.pair};
    if (!blank && input_.json_lines) {
      text = parse_json_line(*line);
    }
    const auto* words = std::get_if<std::string>(&text.content);
    if (words == nullptr || (input_.may_be_blank ? !words->empty() : !is_blank(*words))) {
      text.tools = tools_;
      return text;
    }
    if (!quiet_) {
      warn(place() + ": blank, skipped");
    }
  }
  return std::nullopt;
}

void TextSource::skip_lines(std::size_t count) {
  skipped_ = count > 0;
  while (count > 0 && next_line()) {
    --count;
  }
}

double TextSource::share_read() const {
  return stream_ ? stream_->share_read(buffer_.size() - consumed_) : 0.0;
}

void TextSource::for_each(const std::function<void(const InputText&)>& answer) {
  while (const auto text = next()) {
    try {
      answer(*text);
      ++texts_;
    } catch (const NoTokens& error) {
      if (!input_.many_texts()) {
        throw;
      }
      if (!quiet_) {
        warn(fmt::format("{}: {}, skipped", place(), error.what()));
      }
    } catch (const Error& error) {
      if (!input_.many_texts() || error.kind() == ErrorKind::kIo) {
        throw;
      }
      throw AdviceError(
          error.kind(),
          {fmt::format("{}: {}", place(), in_option_names(error.what(), error.parameter())),
           AdviceError(error).lines()});
    }
  }
  if (texts_ == 0 && !skipped_ && !stopped_) {
    throw Error(ErrorKind::kUsage, name_ + ": no line contains a text");
  }
}

TokenizedText tokenize(const Tokenizer& tokenizer, const InputText& text,
                       const InputOptions& options) {
  if (text.has_target()) {
    throw Error(
        ErrorKind::kUsage,
        "\"target\" and \"decoder_ids\" are for encoder-decoders, which attnviz show draws");
  }
  const auto* ids = std::get_if<std::vector<TokenId>>(&text.content);
  if (ids != nullptr && (options.bos || options.special || text.pair || options.pair)) {
    throw Error(ErrorKind::kUsage,
                "--pair, --bos, --no-bos and --special say how a text becomes tokens; ids are used "
                "unchanged");
  }
  attnviz::TokenizeOptions how;
  how.bos = options.bos;
  how.parse_special = options.special;
  how.pair = text.pair;
  const auto tokens_of_text = [&] {
    if (options.chat) {
      Chat chat = chat_of(text.content);
      chat.tools = chat.tools == nullptr ? text.tools : chat.tools;
      return tokenize_chat(tokenizer, std::move(chat), options);
    }
    return tokenizer.tokenize(std::get<std::string>(text.content), how);
  };
  TokenizedText tokens = ids != nullptr ? tokenizer.from_ids(*ids) : tokens_of_text();
  if (tokens.tokens.empty()) {
    throw NoTokens();
  }
  if (text.pair) {
    require_separation(tokens, tokenizer.name());
  }
  return tokens;
}

void check_prompt(const TokenizedText& text, const Tokenizer& tokenizer,
                  const InputOptions& options, const Verbosity& verbosity) {
  const auto* const own = dynamic_cast<const ModelTokenizer*>(&tokenizer);
  std::string fault = own != nullptr ? prompt_fault(text, *own) : std::string();
  if (fault.empty()) {
    return;
  }
  fault = in_option_names(fault, fault.ends_with("left out")         ? "bos"
                                 : fault.ends_with("renders a chat") ? "chat"
                                                                     : "");
  if (options.lint_prompt) {
    throw Error(ErrorKind::kUnexpected, fault);
  }
  inform(verbosity, fault);
}

std::size_t chosen_token(const TokenizedText& text, const std::string& word,
                         std::string_view option, const Verbosity& verbosity) {
  const TokenChoice choice = choose_token(text, word, option);
  inform(verbosity, choice.note);
  return choice.index;
}

std::optional<Focus> chosen_focus(const PatternOptions& options, const TokenizedText& text,
                                  const Verbosity& verbosity) {
  if (!options.focus) {
    return std::nullopt;
  }
  return Focus{chosen_token(text, *options.focus, "--focus", verbosity), options.as_key};
}

}  // namespace attnviz::app

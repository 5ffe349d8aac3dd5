#include "commands/commands.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/heads/head_names.h"
#include "attnviz/analysis/tour.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/run_facts.h"
#include "attnviz/terminal/tour_page.h"
#include "commands/input.h"
#include "commands/prepared_text.h"
#include "options/advice.h"
#include "stores/model_source.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

constexpr std::string_view kDefaultText = "The cat sat on the mat because it was tired";

// `own`: the model's own text, if any.
std::string chosen_text(const TourOptions& options, const std::string& own) {
  std::string usual = own.empty() ? std::string(kDefaultText) : own;
  if (!options.input.text && !stdin_is_pipe_or_file()) {
    return usual;
  }
  TextSource source(options.input, {});
  if (!options.input.text && source.is_empty()) {
    return usual;
  }
  auto input = source.next();
  return std::get<std::string>(std::move(input->content));
}

enum class Move { kNext, kBack, kLeave };

// Asks which screen comes next. The answer is an ordinary typed line, so the terminal behaves as
// usual.
Move ask(InputStream& input, bool is_first, bool is_last) {
  const std::string question =
      fmt::format("[Enter: {}{}{}] ", is_last ? "end" : "next", is_first ? "" : "   b: back",
                  is_last ? "" : "   q: quit");
  for (;;) {
    write_to_stdout(question);
    std::array<char, 64> typed{};
    const std::size_t count = input.read(typed);
    if (count == 0) {
      write_to_stdout("\n");
      return Move::kLeave;
    }
    std::string answer = ascii_lower(std::string(typed.data(), count));
    std::erase_if(answer, [](char c) { return c == ' ' || c == '\n' || c == '\r'; });
    if (answer.empty()) {
      return is_last ? Move::kLeave : Move::kNext;
    }
    if (answer == "b" || answer == "q") {
      return answer == "b" ? Move::kBack : Move::kLeave;
    }
  }
}

Model opened_model(ModelSource& source, const TourOptions& options) {
  Model model = open_model(source, options.model);
  report_unread_keys(model.config, options.verbosity);
  return model;
}

// A tour and the model that provides its numbers.
class ShownTour {
 public:
  explicit ShownTour(const TourOptions& options)
      : options_(options),
        source_(model_source(options.model)),
        model_(opened_model(source_, options)),
        tokenizer_(open_tokenizer(options.tokenizer, source_, model_)),
        model_option_(model_option()),
        heads_command_("attnviz heads" + model_option_) {
    if (!is_embedded(source_)) {
      model_.config.named_heads = names();
    }
    const std::string text = chosen_text(options, model_.text);
    tour_ = tour_of(text);
    if (!model_.inputs.empty()) {  // no vocabulary for probes: only its text has scores
      heads_command_ += " " + shell_quoted(text);
    }
    tour_.learned_simple_english = is_embedded(source_);
    warn_of_differences();
  }
  ShownTour(const ShownTour&) = delete;
  ShownTour& operator=(const ShownTour&) = delete;

  std::size_t screens() const { return tour_screens(tour_); }

  // Determines the drawing anew each time: a window may be resized meanwhile.
  std::string text(std::size_t screen) const {
    const TourOptionNames names = {"--head", "--query",     "--truncate right", "--temperature",
                                   "--help", model_option_, heads_command_};
    return render_tour_screen(tour_, screen, stdout_drawing(options_.style, options_.color), names);
  }

 private:
  std::string model_option() const {
    const StoredModel* const stored = stored_model(source_);
    return stored != nullptr      ? " -m " + shell_quoted(stored->given())
           : is_embedded(source_) ? ""
                                  : " --random";
  }

  Tour tour_of(const std::string& text) const {
    try {
      return make_tour(model_, *tokenizer_, text);
    } catch (const Error& error) {
      if (text != kDefaultText || options_.input.text || is_embedded(source_)) {
        throw;
      }
      throw Error(error.kind(), fmt::format("{}. This is about the tour's own text, {}; give a "
                                            "text that this model takes: attnviz tour{} \"TEXT\"",
                                            error.what(), in_quotes(kDefaultText), model_option_));
    }
  }

  // Empty if the model does not take the probes that identify heads.
  std::vector<NamedHead> names() const {
    if (model_.config.is_too_long(kShortestNamedProbe + 1)) {
      return {};
    }
    ProgressLine progress("probes", {});
    AttentionRequest request;
    request.n_threads = available_threads();
    request.report = progress.report();
    try {
      return measured_names(model_, dynamic_cast<const ModelTokenizer*>(tokenizer_.get()), request);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kIo || error.kind() == ErrorKind::kMalformed) {
        throw;
      }
      return {};
    }
  }

  void warn_of_differences() const {
    report_unread_keys(model_.config.name, *tokenizer_, options_.verbosity);
    const ModelFacts facts = model_facts(model_, tour_.text);
    if (facts.random) {
      warn(model_title(facts) +
           " mean nothing: the tour shows how attention is computed, not what "
           "it learns");
    }
    for (const std::string& sentence : tour_left_out(tour_)) {
      warn(sentence + "; what its heads score: " + heads_command_);
    }
  }

  const TourOptions& options_;
  ModelSource source_;
  Model model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::string model_option_;
  std::string heads_command_;
  Tour tour_;
};

void walk(const ShownTour& tour) {
  InputStream input;
  for (std::size_t screen = 0;;) {
    write_to_stdout(tour.text(screen) + "\n");
    switch (ask(input, screen == 0, screen + 1 == tour.screens())) {
      case Move::kLeave:
        return;
      case Move::kNext:
        ++screen;
        break;
      case Move::kBack:
        screen -= screen > 0 ? 1 : 0;
        break;
    }
    write_to_stdout("\n");
  }
}

}  // namespace

void run(const TourOptions& options) {
  const ShownTour tour(options);
  if (!options.all && stdin_is_terminal() && stdout_is_terminal()) {
    return walk(tour);
  }
  std::string all;
  for (std::size_t screen = 0; screen < tour.screens(); ++screen) {
    all += (screen == 0 ? "" : "\n") + tour.text(screen);
  }
  write_to_stdout(all);
}

}  // namespace attnviz::app

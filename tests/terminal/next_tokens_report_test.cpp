#include "attnviz/report/reports/reports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/views.h"
#include "support/json.h"
#include "support/screen_text.h"

namespace attnviz {

namespace {

Predictions two_tokens() {
  Predictions predictions;
  predictions.at = 4;
  predictions.token = " sat";
  predictions.top = {{" on", 319, 0.75, 2.5f}, {"\x1b[31m猫", 50000, 0.0001, -6.0f}};
  return predictions;
}

TerminalOptions options_of(TerminalStyle style, ColorDepth color, std::size_t columns) {
  return {style, color, columns};
}

std::string drawn(const AttentionDocument& document, const TerminalOptions& options) {
  return to_ansi(report_page(next_tokens_report({&document, 1}), options), options.color);
}

std::string drawn(const Predictions& predictions, const TerminalOptions& options) {
  AttentionDocument document;
  document.predictions = predictions;
  return drawn(document, options);
}

template <class Write>
nlohmann::json written(const Write& write) {
  std::string text;
  JsonWriter json([&text](std::string_view bytes) { text += bytes; });
  json.begin_object();
  write(json);
  json.end_object();
  json.finish();
  return test::parse_json(text);
}

}  // namespace

TEST_CASE("predictions: rank, token as shown elsewhere, id, percentage and a bar of that share") {
  const std::string text =
      drawn(two_tokens(), options_of(TerminalStyle::kBlocks, ColorDepth::kNone, 80));
  const std::vector<std::string> lines = test::screen_lines(text);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "next token after \"sat\" (4)");
  CHECK(lines[1] == "   token          id  probability");
  // 75 % of a bar's 26 columns are 19.5.
  std::string bar;
  for (int i = 0; i < 19; ++i) {
    bar += "█";
  }
  CHECK(lines[2] == "1  ␠on           319        75.0%  " + bar + "▌");
  CHECK(lines[3] == "2  \\x1B[31m猫  50000         <.1%  ▏");
}

TEST_CASE("predictions in ascii, with the name of the run") {
  Predictions predictions = two_tokens();
  predictions.replaces_it = true;
  AttentionDocument runs[2];
  runs[0].drawing.side_by_side = {"T 1", "T 0.5"};
  runs[1].predictions = predictions;
  const std::string text = to_plain(report_page(
      next_tokens_report(runs), options_of(TerminalStyle::kAscii, ColorDepth::kNone, 80)));
  CHECK(std::all_of(text.begin(), text.end(),
                    [](char c) { return static_cast<unsigned char>(c) < 128; }));
  CHECK(test::screen_lines(text)[0] == "instead of \"sat\" (4), T 0.5");
}

TEST_CASE("predictions fit the width, and have colours only on request") {
  Predictions predictions = two_tokens();
  predictions.top.push_back({std::string(100, 'w'), 7, 0.2, 0.0f});
  for (const std::size_t columns : {20u, 40u, 80u, 200u}) {
    CAPTURE(columns);
    const std::string text =
        drawn(predictions, options_of(TerminalStyle::kBlocks, ColorDepth::kNone, columns));
    CHECK(text.find('\x1b') == std::string::npos);
    for (const std::string& line : test::screen_lines(text)) {
      CHECK(display_width(line) <= columns);
    }
  }
  const std::string colored =
      drawn(predictions, options_of(TerminalStyle::kBlocks, ColorDepth::kTrueColor, 80));
  CHECK(colored.find("\x1b[1mnext token") != std::string::npos);
  CHECK(colored.find("\x1b[31m") == std::string::npos);
}

TEST_CASE("predictions at every position: next to the actual token, if there is one") {
  std::vector<Predictions> all = {two_tokens(), two_tokens()};
  all[0].actual = ActualToken{" by", 12, 0.25, 1};
  all[1].at = 5;
  const auto lines = [&all](const TerminalOptions& options) {
    AttentionDocument document;
    document.all_predictions = all;
    return test::screen_lines(drawn(document, options));
  };
  const std::vector<std::string> wide =
      lines(options_of(TerminalStyle::kBlocks, ColorDepth::kNone, 80));
  REQUIRE(wide.size() == 4);
  CHECK(wide[0] == "next token, at every position");
  CHECK(wide[1] == "   after  predicted  probability  came  probability  rank");
  CHECK(wide[2] == "4  ␠sat   ␠on              75.0%  ␠by         25.0%     2  █████");
  CHECK(wide[3] == "5  ␠sat   ␠on              75.0%");
  // Tables that do not fit continue below, with the actual token next to its own numbers.
  all[1].top[0].token = " understand";
  const std::vector<std::string> narrow =
      lines(options_of(TerminalStyle::kBlocks, ColorDepth::kNone, 40));
  REQUIRE(narrow.size() == 7);
  CHECK(narrow[1] == "   after  predicted   probability");
  CHECK(narrow[2] == "4  ␠sat   ␠on               75.0%");
  CHECK(narrow[3] == "5  ␠sat   ␠understa…        75.0%");
  CHECK(narrow[4] == "   came  probability  rank");
  CHECK(narrow[5] == "4  ␠by         25.0%     2");
  for (const std::size_t columns : {20u, 40u, 60u, 200u}) {
    CAPTURE(columns);
    for (const std::string& line :
         lines(options_of(TerminalStyle::kAscii, ColorDepth::kNone, columns))) {
      CHECK(display_width(line) <= columns);
    }
  }
}

TEST_CASE("a continuation is printed in lines that fit, escaped") {
  AttentionDocument document;
  Continuation& continuation = document.continuation.emplace();
  continuation.text = " and\n\x1b[2Jthen " + std::string(90, 'w');
  continuation.ids = {1, 2, 3};
  const std::string text = drawn(document, {.columns = 40});
  CHECK(text.starts_with("continuation: and \\x1B[2Jthen\n"));
  for (const std::string& line : test::screen_lines(text)) {
    CHECK(display_width(line) <= 40);
  }
  continuation.ids.clear();
  CHECK(drawn(document, {.columns = 40}) == "continuation: none\n");
}

TEST_CASE("the reason why a continuation is shorter than requested") {
  Continuation continuation;
  continuation.ids = {1, 2};
  continuation.asked = 2;
  CHECK(continuation_note(continuation).empty());
  continuation.asked = 9;
  continuation.end = ContinuationEnd::kContext;
  CHECK(continuation_note(continuation) == "the model's context is full: 2 of 9 tokens generated");
  continuation.end = ContinuationEnd::kEndOfText;
  continuation.end_token = "</s>";
  CHECK(continuation_note(continuation) ==
        "the model ended the text (\"</s>\") after 2 of 9 tokens");
  continuation.ids.clear();
  CHECK(continuation_note(continuation) ==
        "the model ends the text here (\"</s>\"): nothing was generated");
}

TEST_CASE("both as members of a document") {
  Continuation continuation;
  continuation.text = " on";
  continuation.ids = {319};
  continuation.end = ContinuationEnd::kEndOfText;
  continuation.end_of_text = 2;
  const nlohmann::json document = written([&](JsonWriter& json) {
    write_members(json, {{"generated", continuation_record(continuation)},
                         {"predictions", predictions_record(two_tokens())}});
  });
  CHECK(document["generated"] == nlohmann::json({{"text", " on"},
                                                 {"token_ids", {319}},
                                                 {"ended_by", "end_of_text"},
                                                 {"end_of_text_id", 2}}));
  const nlohmann::json& predictions = document["predictions"];
  CHECK(predictions["at"] == 4);
  CHECK(predictions["after"] == " sat");
  REQUIRE(predictions["top"].size() == 2);
  CHECK(predictions["top"][0] ==
        nlohmann::json({{"token", " on"}, {"id", 319}, {"probability", 0.75}, {"logit", 2.5}}));
}

}  // namespace attnviz

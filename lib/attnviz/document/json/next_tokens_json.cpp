#include "attnviz/document/json/next_tokens_json.h"

#include <cstdint>
#include <string_view>

namespace attnviz {

namespace {

std::string_view end_name(ContinuationEnd end) noexcept {
  switch (end) {
    case ContinuationEnd::kLength:
      break;
    case ContinuationEnd::kEndOfText:
      return "end_of_text";
    case ContinuationEnd::kContext:
      return "context";
  }
  return "length";
}

}  // namespace

void write_continuation_member(JsonWriter& json, const Continuation& continuation) {
  json.begin_object("generated");
  json.member("text", continuation.text);
  json.begin_array("token_ids");
  for (const TokenId id : continuation.ids) {
    json.value(std::uint64_t{id});
  }
  json.end_array();
  json.member("ended_by", end_name(continuation.end));
  if (continuation.end_of_text) {
    json.member("end_of_text_id", std::uint64_t{*continuation.end_of_text});
  }
  json.end_object();
}

void write_predictions_member(JsonWriter& json, const Predictions& predictions) {
  json.begin_object("predictions");
  json.member("at", std::uint64_t{predictions.at});
  json.member(predictions.replaces_it ? "in_place_of" : "after", predictions.token);
  json.begin_array("top");
  for (const PredictedToken& predicted : predictions.top) {
    json.begin_object();
    json.member("token", predicted.token);
    json.member("id", std::uint64_t{predicted.id});
    json.member("probability", static_cast<float>(predicted.probability));
    json.member("logit", predicted.logit);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace attnviz

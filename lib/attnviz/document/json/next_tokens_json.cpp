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
  json.key("generated");
  json.begin_object();
  json.key("text");
  json.value(continuation.text);
  json.key("token_ids");
  json.begin_array();
  for (const TokenId id : continuation.ids) {
    json.value(std::uint64_t{id});
  }
  json.end_array();
  json.key("ended_by");
  json.value(end_name(continuation.end));
  if (continuation.end_of_text) {
    json.key("end_of_text_id");
    json.value(std::uint64_t{*continuation.end_of_text});
  }
  json.end_object();
}

void write_predictions_member(JsonWriter& json, const Predictions& predictions) {
  json.key("predictions");
  json.begin_object();
  json.key("at");
  json.value(std::uint64_t{predictions.at});
  json.key(predictions.replaces_it ? "in_place_of" : "after");
  json.value(predictions.token);
  json.key("top");
  json.begin_array();
  for (const PredictedToken& predicted : predictions.top) {
    json.begin_object();
    json.key("token");
    json.value(predicted.token);
    json.key("id");
    json.value(std::uint64_t{predicted.id});
    json.key("probability");
    json.value(static_cast<float>(predicted.probability));
    json.key("logit");
    json.value(predicted.logit);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace attnviz

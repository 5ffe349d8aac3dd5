#include "attnviz/document/json/inspection_json.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/document/json/model_json.h"
#include "attnviz/document/json/tokens_json.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

void write_matrix(JsonWriter& json, std::string_view key, ConstMatrix matrix) {
  json.key(key);
  json.matrix(matrix);
}

void write_values(JsonWriter& json, std::string_view key, std::span<const float> values) {
  json.key(key);
  json.values(values);
}

void write_values_if_any(JsonWriter& json, std::string_view key, std::span<const float> values) {
  if (!values.empty()) {
    write_values(json, key, values);
  }
}

void write_number(JsonWriter& json, std::string_view key, float number) {
  json.key(key);
  json.value(number);
}

void write_count(JsonWriter& json, std::string_view key, std::size_t number) {
  json.key(key);
  json.value(std::uint64_t{number});
}

void write_weights(JsonWriter& json, const Inspection& head) {
  const HeadWeights& in = head.weights_in;
  write_matrix(json, "W_Q", in.query.weight.as_floats());
  write_values_if_any(json, "b_Q", in.query.bias);
  write_matrix(json, "W_K", in.key.weight.as_floats());
  write_values_if_any(json, "b_K", in.key.bias);
  write_matrix(json, "W_V", in.value.weight.as_floats());
  write_values_if_any(json, "b_V", in.value.bias);
  if (head.has_output()) {
    write_matrix(json, "W_O", head.w_output);
  }
  write_values_if_any(json, "b_O", head.b_output);
}

void write_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  json.value(text);
}

void write_norm(JsonWriter& json, std::string_view key, const Norm& norm) {
  if (!norm.present()) {
    return;
  }
  json.key(key);
  json.begin_object();
  write_text(json, "kind", norm.kind == NormKind::kLayer ? "layer" : "rms");
  write_number(json, "epsilon", static_cast<float>(norm.epsilon));
  write_values(json, "weight", norm.weight);
  if (norm.weight_offset != 0.0f) {
    write_number(json, "weight_offset", norm.weight_offset);
  }
  write_values_if_any(json, "bias", norm.bias);
  json.end_object();
}

void write_rope(JsonWriter& json, const Inspection& head) {
  if (!head.rope) {
    return;
  }
  const InspectedRope& rope = *head.rope;
  json.key("rope");
  json.begin_object();
  write_count(json, "n_rotated", 2 * rope.n_pairs());
  const std::vector<float> frequencies(rope.frequencies.begin(), rope.frequencies.end());
  write_values(json, "frequencies", frequencies);
  if (rope.pairing == RopePairing::kNeighbours) {
    write_text(json, "pairing", "neighbours");
  }
  if (rope.scaling != "none") {
    write_text(json, "scaling", rope.scaling);
  }
  if (rope.magnitude != 1.0f) {
    write_number(json, "magnitude", rope.magnitude);
  }
  json.end_object();
}

// What the head does beside its matrices, where it does.
void write_parts(JsonWriter& json, const Inspection& head) {
  if (head.n_kv_heads != head.n_heads) {
    write_count(json, "kv_head", head.kv_head);
    write_count(json, "n_kv_heads", head.n_kv_heads);
  }
  if (head.order != LayerOrder::kAttentionOnly) {
    write_text(json, "mask", head.mask.name());
  }
  if (head.soft_cap > 0.0f) {
    write_number(json, "soft_cap", head.soft_cap);
  }
  write_norm(json, "norm", head.norm);
  write_norm(json, "query_norm", head.query_norm);
  write_norm(json, "key_norm", head.key_norm);
  write_norm(json, "after_norm", head.after_norm);
  write_norm(json, "result_norm", head.result_norm);
  write_rope(json, head);
}

void write_matrix_if_any(JsonWriter& json, std::string_view key, const MatrixBuffer& matrix) {
  if (matrix.rows() > 0) {
    write_matrix(json, key, matrix.view());
  }
}

void write_all_queries(JsonWriter& json, const Inspection& head) {
  const InspectedMatrices& all = *head.all;
  write_matrix(json, "x", head.input->view());
  if (head.norm.present()) {
    write_matrix(json, "y", head.look->view());
  }
  write_matrix_if_any(json, "q_projected", head.q_projected);
  write_matrix_if_any(json, "q_normed", head.q_normed);
  write_matrix(json, "q", head.q.view());
  write_matrix_if_any(json, "k_projected", head.k_projected);
  write_matrix_if_any(json, "k_normed", head.k_normed);
  write_matrix(json, "k", head.k.view());
  write_matrix(json, "v", head.v.view());
  write_matrix(json, "scores", all.scores.view());
  write_matrix(json, "scaled", all.scaled.view());
  write_matrix_if_any(json, "capped", all.capped);
  write_matrix(json, "masked", all.masked.view());
  write_matrix(json, "weights", all.weights.view());
  write_matrix(json, "context", all.context.view());
  if (head.has_output()) {
    write_matrix(json, "output", all.output.view());
  }
}

void write_for_query(JsonWriter& json, const Inspection& head) {
  json.key("for_query");
  json.begin_object();
  write_values(json, "x", head.x());
  if (head.norm.present()) {
    write_values(json, "y", head.y());
  }
  if (head.q_projected.rows() > 0) {
    write_values(json, "q_projected", head.q_projected.view().row(head.query));
  }
  if (head.q_normed.rows() > 0) {
    write_values(json, "q_normed", head.q_normed.view().row(head.query));
  }
  write_values(json, "q", head.q.view().row(head.query));
  write_values(json, "scores", head.scores);
  write_values(json, "scaled", head.scaled);
  write_values_if_any(json, "capped", head.capped);
  write_values_if_any(json, "bias", head.bias);
  write_values(json, "masked", head.masked);
  write_number(json, "max", head.max);
  write_values(json, "exponentials", head.exponentials);
  write_number(json, "sum", head.sum);
  write_values(json, "softmax", head.probabilities);
  write_values(json, "weights", head.weights);
  write_matrix(json, "shares", head.shares.view());
  write_values(json, "context", head.context);
  write_values_if_any(json, "output", head.output);
  write_values_if_any(json, "other_heads", head.others);
  if (head.after_norm.present() || head.result_norm.present()) {
    write_values(json, "attended", head.attended);
  }
  write_values_if_any(json, "added", head.added);
  write_values(json, "result", head.result);
  json.end_object();
}

void write_head(JsonWriter& json, const Inspection& head, bool with_numbers) {
  json.begin_object();
  write_count(json, "layer", head.head.layer);
  write_count(json, "head", head.head.head);
  if (!with_numbers) {
    json.end_object();
    return;
  }
  write_count(json, "d_head", head.d_head());
  write_count(json, "d_value", head.d_value());
  write_number(json, "factor", head.factor);
  write_parts(json, head);
  write_weights(json, head);
  if (head.all) {
    write_all_queries(json, head);
  }
  write_for_query(json, head);
  json.end_object();
}

void write_document(JsonWriter& json, const Model& model, const TokenizedText& text,
                    std::span<const Inspection> inspections, bool with_numbers) {
  const Inspection& first = inspections.front();
  json.begin_object();
  json.key("schema");
  json.value("attnviz.inspection/1");
  write_text_members(json, text);
  write_model_member(json, model_facts(model, text));
  write_run_members(json, run_facts(model, first.request));
  json.key("residual");
  json.value(first.residual);
  json.key("query");
  json.begin_object();
  write_count(json, "index", first.query);
  json.key("token");
  json.value(text.tokens[first.query].text);
  json.end_object();
  json.key("heads");
  json.begin_array();
  for (const Inspection& head : inspections) {
    write_head(json, head, with_numbers);
  }
  json.end_array();
  json.end_object();
  json.finish();
}

}  // namespace

void write_inspection_json(const Model& model, const TokenizedText& text,
                           std::span<const Inspection> inspections, const ByteSink& sink) {
  JsonWriter json(sink);
  write_document(json, model, text, inspections, /*with_numbers=*/true);
}

std::string inspection_facts(const Model& model, const TokenizedText& text,
                             std::span<const Inspection> inspections) {
  std::string facts;
  JsonWriter json([&facts](std::string_view bytes) { facts += bytes; });
  write_document(json, model, text, inspections, /*with_numbers=*/false);
  facts.resize(facts.size() - 1);  // the line's end
  return facts;
}

}  // namespace attnviz

#include "attnviz/document/json/inspection_json.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/document/json/model_json.h"
#include "attnviz/document/json/tokens_json.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

void write(JsonWriter& json, std::string_view key, float number) {
  json.member(key, number);
}

void write(JsonWriter& json, std::string_view key, std::size_t count) {
  json.member(key, std::uint64_t{count});
}

void write(JsonWriter& json, std::string_view key, std::string_view text) {
  json.member(key, text);
}

// What a head has not is left out.
void write(JsonWriter& json, std::string_view key, std::span<const float> values) {
  if (!values.empty()) {
    json.key(key);
    json.values(values);
  }
}

void write(JsonWriter& json, std::string_view key, ConstMatrix matrix) {
  if (!matrix.empty()) {
    json.key(key);
    json.matrix(matrix);
  }
}

void write_norm(JsonWriter& json, std::string_view key, const Norm& norm) {
  if (!norm.present()) {
    return;
  }
  json.begin_object(key);
  write(json, "kind", std::string_view(norm.kind == NormKind::kLayer ? "layer" : "rms"));
  write(json, "epsilon", static_cast<float>(norm.epsilon));
  write(json, "weight", norm.weight);
  if (norm.weight_offset != 0.0f) {
    write(json, "weight_offset", norm.weight_offset);
  }
  write(json, "bias", norm.bias);
  json.end_object();
}

void write_rope(JsonWriter& json, const Inspection& head) {
  if (!head.rope) {
    return;
  }
  const InspectedRope& rope = *head.rope;
  json.begin_object("rope");
  write(json, "n_rotated", 2 * rope.n_pairs());
  const std::vector<float> frequencies(rope.frequencies.begin(), rope.frequencies.end());
  write(json, "frequencies", frequencies);
  if (rope.pairing == RopePairing::kNeighbours) {
    write(json, "pairing", std::string_view("neighbours"));
  }
  if (rope.scaling != "none") {
    write(json, "scaling", rope.scaling);
  }
  if (rope.magnitude != 1.0f) {
    write(json, "magnitude", rope.magnitude);
  }
  json.end_object();
}

void write_weights(JsonWriter& json, const Inspection& head) {
  const HeadWeights& in = head.weights_in;
  write(json, "W_Q", in.query.weight.as_floats());
  write(json, "b_Q", in.query.bias);
  write(json, "W_K", in.key.weight.as_floats());
  write(json, "b_K", in.key.bias);
  write(json, "W_V", in.value.weight.as_floats());
  write(json, "b_V", in.value.bias);
  write(json, "W_O", head.w_output);
  write(json, "b_O", head.b_output);
}

// What the head does beside its matrices, where it does.
void write_parts(JsonWriter& json, const Inspection& head) {
  if (head.n_kv_heads != head.n_heads) {
    write(json, "kv_head", head.kv_head);
    write(json, "n_kv_heads", head.n_kv_heads);
  }
  if (head.order != LayerOrder::kAttentionOnly) {
    write(json, "mask", head.mask.name());
  }
  if (head.soft_cap > 0.0f) {
    write(json, "soft_cap", head.soft_cap);
  }
  write_norm(json, "norm", head.norm);
  write_norm(json, "query_norm", head.query_norm);
  write_norm(json, "key_norm", head.key_norm);
  write_norm(json, "after_norm", head.after_norm);
  write_norm(json, "result_norm", head.result_norm);
  write_rope(json, head);
}

void write_all_queries(JsonWriter& json, const Inspection& head) {
  const InspectedMatrices& all = *head.all;
  write(json, "x", head.input->view());
  if (head.norm.present()) {
    write(json, "y", head.look->view());
  }
  write(json, "q_projected", head.q_projected.view());
  write(json, "q_normed", head.q_normed.view());
  write(json, "q", head.q.view());
  write(json, "k_projected", head.k_projected.view());
  write(json, "k_normed", head.k_normed.view());
  write(json, "k", head.k.view());
  write(json, "v", head.v.view());
  write(json, "scores", all.scores.view());
  write(json, "scaled", all.scaled.view());
  write(json, "capped", all.capped.view());
  write(json, "masked", all.masked.view());
  write(json, "weights", all.weights.view());
  write(json, "context", all.context.view());
  write(json, "output", all.output.view());
}

void write_for_query(JsonWriter& json, const Inspection& head) {
  const auto write_row = [&](const char* key, const MatrixBuffer& matrix) {
    if (matrix.rows() > 0) {
      write(json, key, matrix.view().row(head.query));
    }
  };
  json.begin_object("for_query");
  write(json, "x", head.x());
  if (head.norm.present()) {
    write(json, "y", head.y());
  }
  write_row("q_projected", head.q_projected);
  write_row("q_normed", head.q_normed);
  write_row("q", head.q);
  write(json, "scores", head.scores);
  write(json, "scaled", head.scaled);
  write(json, "capped", head.capped);
  write(json, "bias", head.bias);
  write(json, "masked", head.masked);
  write(json, "max", head.max);
  write(json, "exponentials", head.exponentials);
  write(json, "sum", head.sum);
  write(json, "softmax", head.probabilities);
  write(json, "weights", head.weights);
  write(json, "shares", head.shares.view());
  write(json, "context", head.context);
  write(json, "output", head.output);
  write(json, "other_heads", head.others);
  if (head.after_norm.present() || head.result_norm.present()) {
    write(json, "attended", head.attended);
  }
  write(json, "added", head.added);
  write(json, "result", head.result);
  json.end_object();
}

void write_head(JsonWriter& json, const Inspection& head, bool with_numbers) {
  json.begin_object();
  write(json, "layer", head.head.layer);
  write(json, "head", head.head.head);
  if (!with_numbers) {
    json.end_object();
    return;
  }
  write(json, "d_head", head.d_head());
  write(json, "d_value", head.d_value());
  write(json, "factor", head.factor);
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
  json.member("schema", "attnviz.inspection/1");
  write_text_members(json, text);
  write_model_member(json, model_facts(model, text));
  write_run_members(json, run_facts(model, first.request));
  json.member("residual", first.residual);
  json.begin_object("query");
  write(json, "index", first.query);
  json.member("token", text.tokens[first.query].text);
  json.end_object();
  json.begin_array("heads");
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

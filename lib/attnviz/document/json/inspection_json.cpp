#include "attnviz/document/json/inspection_json.h"

#include "attnviz/document/json/run_json.h"

namespace attnviz {

namespace {

void write_norm(JsonWriter& json, std::string_view key, const Norm& norm) {
  if (!norm.present()) {
    return;
  }
  json.begin_object(key);
  json.member("kind", norm.kind == NormKind::kLayer ? "layer" : "rms");
  json.member("epsilon", static_cast<float>(norm.epsilon));
  json.member_if_any("weight", norm.weight);
  json.member_if_any("weight_offset", norm.weight_offset);
  json.member_if_any("bias", norm.bias);
  json.end_object();
}

void write_turning(JsonWriter& json, const Inspection& head) {
  if (!head.rope) {
    return;
  }
  const InspectedRope& rope = *head.rope;
  json.begin_object("rope");
  json.member("n_rotated", 2 * rope.n_pairs());
  if (rope.n_still > 0) {
    json.member("n_still", rope.n_still);
  }
  json.member("frequencies", std::vector<float>(rope.frequencies.begin(), rope.frequencies.end()));
  if (rope.pairing == RopePairing::kNeighbours) {
    json.member("pairing", "neighbours");
  }
  if (rope.scaling != "none") {
    json.member("scaling", rope.scaling);
  }
  if (rope.magnitude != 1.0f) {
    json.member("magnitude", rope.magnitude);
  }
  json.end_object();
}

void write_weights(JsonWriter& json, const Inspection& head) {
  const HeadWeights& in = head.weights_in;
  if (head.query_latents) {
    json.member_if_any("W_DQ", head.latents.query_down.weight.as_floats());
    json.member_if_any("b_DQ", head.latents.query_down.bias);
  }
  if (head.key_latents) {
    json.member_if_any("W_DKV", head.latents.key_down.weight.as_floats());
    json.member_if_any("b_DKV", head.latents.key_down.bias);
  }
  json.member_if_any("W_Q", in.query.weight.as_floats());
  json.member_if_any("b_Q", in.query.bias);
  json.member_if_any("W_K", in.key.weight.as_floats());
  json.member_if_any("b_K", in.key.bias);
  json.member_if_any("W_V", in.value.weight.as_floats());
  json.member_if_any("b_V", in.value.bias);
  json.member_if_any("W_G", in.output_gate.weight.as_floats());
  json.member_if_any("b_G", in.output_gate.bias);
  json.member_if_any("W_O", head.w_output);
  json.member_if_any("b_O", head.b_output);
}

// What the head does beside its matrices, where it does.
void write_parts(JsonWriter& json, const Inspection& head) {
  if (head.n_kv_heads != head.n_heads) {
    json.member("kv_head", head.kv_head);
    json.member("n_kv_heads", head.n_kv_heads);
  }
  if (head.order != LayerOrder::kAttentionOnly) {
    json.member("mask", head.mask.name());
  }
  if (head.soft_cap > 0.0f) {
    json.member("soft_cap", head.soft_cap);
  }
  write_norm(json, "norm", head.norm);
  write_norm(json, "query_latent_norm", head.latents.query_norm);
  write_norm(json, "key_latent_norm", head.latents.key_norm);
  write_norm(json, "query_norm", head.query_norm);
  write_norm(json, "key_norm", head.key_norm);
  if (head.joint_root) {
    json.member("query_root", *head.joint_root);
  }
  write_norm(json, "value_norm", head.value_norm);
  if (head.query_factor != 1.0f) {
    json.member("query_factor", head.query_factor);
  }
  write_norm(json, "after_norm", head.after_norm);
  if (head.branch_scale != 1.0f) {
    json.member("branch_scale", head.branch_scale);
  }
  write_norm(json, "result_norm", head.result_norm);
  write_turning(json, head);
}

void write_all_queries(JsonWriter& json, const Inspection& head) {
  const InspectedMatrices& all = *head.all;
  json.member_if_any("x", head.input->view());
  if (head.norm.present()) {
    json.member_if_any("y", head.look->view());
  }
  if (head.query_latents) {
    json.member_if_any("c_Q", head.query_inputs());
  }
  if (head.key_latents) {
    json.member_if_any("c_KV", head.key_inputs());
  }
  json.member_if_any("q_projected", head.q_projected.view());
  json.member_if_any("q_normed", head.q_normed.view());
  json.member_if_any("q_turned", head.q_turned.view());
  json.member_if_any("q", head.q.view());
  json.member_if_any("k_projected", head.k_projected.view());
  json.member_if_any("k_normed", head.k_normed.view());
  json.member_if_any("k_turned", head.k_turned.view());
  json.member_if_any("k", head.k.view());
  json.member_if_any("v", head.v.view());
  json.member_if_any("scores", all.scores.view());
  json.member_if_any("scaled", all.scaled.view());
  json.member_if_any("capped", all.capped.view());
  json.member_if_any("masked", all.masked.view());
  json.member_if_any("weights", all.weights.view());
  json.member_if_any("context", all.context.view());
  json.member_if_any("output", all.output.view());
}

void write_for_query(JsonWriter& json, const Inspection& head) {
  const auto write_row = [&](const char* key, const MatrixBuffer& matrix) {
    if (matrix.rows() > 0) {
      json.member_if_any(key, matrix.view().row(head.query));
    }
  };
  json.begin_object("for_query");
  json.member_if_any("x", head.x());
  if (head.norm.present()) {
    json.member_if_any("y", head.y());
  }
  if (head.query_latents) {
    json.member_if_any("c_Q", head.query_inputs().row(head.query));
  }
  if (head.key_latents) {
    json.member_if_any("c_KV", head.key_inputs().row(head.query));
  }
  write_row("q_projected", head.q_projected);
  write_row("q_normed", head.q_normed);
  write_row("q_turned", head.q_turned);
  write_row("q", head.q);
  json.member_if_any("scores", head.scores);
  json.member_if_any("scaled", head.scaled);
  json.member_if_any("capped", head.capped);
  json.member_if_any("bias", head.bias);
  json.member_if_any("masked", head.masked);
  if (head.sink) {
    json.begin_object("sink");
    json.member("score", head.sink->score);
    json.member("exponential", head.sink->exponential);
    json.member("weight", head.sink->weight);
    json.end_object();
  }
  json.member("max", head.max);
  json.member_if_any("exponentials", head.exponentials);
  json.member("sum", head.sum);
  json.member_if_any("softmax", head.probabilities);
  json.member_if_any("weights", head.weights);
  json.member_if_any("shares", head.shares.view());
  json.member_if_any("mixture", head.mixture);
  json.member_if_any("gate", head.gate);
  json.member_if_any("context", head.context);
  json.member_if_any("output", head.output);
  json.member_if_any("other_heads", head.others);
  json.member_if_any("states", head.states);
  if (head.changes_branch() || head.result_norm.present()) {
    json.member_if_any("attended", head.attended);
  }
  json.member_if_any("added", head.added);
  json.member_if_any("laurel", head.laurel);
  json.member_if_any("result", head.result);
  json.end_object();
}

void write_head(JsonWriter& json, const Inspection& head, bool with_numbers) {
  json.member("layer", head.head.layer);
  json.member("head", head.head.head);
  if (!with_numbers) {
    return;
  }
  json.member("d_head", head.d_head());
  json.member("d_value", head.d_value());
  json.member("factor", head.factor);
  write_parts(json, head);
  write_weights(json, head);
  if (head.all) {
    write_all_queries(json, head);
  }
  write_for_query(json, head);
}

void write_document(JsonWriter& json, const Model& model, const TokenizedText& text,
                    std::span<const Inspection> inspections, bool with_numbers) {
  const Inspection& first = inspections.front();
  json.begin_object();
  json.member("schema", "attnviz.inspection/1");
  write_members(json, text_record(text)
                          .add("model", model_record(model_facts(model, text)))
                          .add_all(run_record(run_facts(model, first.request))));
  json.member("residual", first.residual);
  json.begin_object("query");
  json.member("index", first.query);
  json.member("token", text.tokens[first.query].text);
  json.end_object();
  json.objects("heads", inspections,
               [&](const Inspection& head) { write_head(json, head, with_numbers); });
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

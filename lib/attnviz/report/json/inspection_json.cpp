#include "attnviz/report/json/document_json.h"

#include <string_view>
#include <utility>

namespace attnviz {

namespace {

// A matrix with its name in documents.
template <class Of>
using NamedMatrix = std::pair<std::string_view, MatrixBuffer Of::*>;

constexpr NamedMatrix<Inspection> kQueries[] = {{"q_projected", &Inspection::q_projected},
                                                {"q_normed", &Inspection::q_normed},
                                                {"q_turned", &Inspection::q_turned},
                                                {"q", &Inspection::q}};
constexpr NamedMatrix<Inspection> kKeys[] = {{"k_projected", &Inspection::k_projected},
                                             {"k_normed", &Inspection::k_normed},
                                             {"k_turned", &Inspection::k_turned},
                                             {"k", &Inspection::k},
                                             {"v", &Inspection::v}};
constexpr NamedMatrix<InspectedMatrices> kOfAllQueries[] = {
    {"scores", &InspectedMatrices::scores},   {"scaled", &InspectedMatrices::scaled},
    {"capped", &InspectedMatrices::capped},   {"masked", &InspectedMatrices::masked},
    {"weights", &InspectedMatrices::weights}, {"context", &InspectedMatrices::context},
    {"output", &InspectedMatrices::output}};

constexpr std::pair<std::string_view, std::vector<float> Inspection::*> kScores[] = {
    {"scores", &Inspection::scores},
    {"scaled", &Inspection::scaled},
    {"capped", &Inspection::capped},
    {"bias", &Inspection::bias},
    {"masked", &Inspection::masked}};

Record norm_record(const Norm& norm) {
  if (!norm.present()) {
    return {};
  }
  Record record{{"kind", norm.kind == NormKind::kLayer ? "layer" : "rms"},
                {"epsilon", static_cast<float>(norm.epsilon)}};
  return record.add_if_any("weight", norm.weight)
      .add_if_any("weight_offset", norm.weight_offset)
      .add_if_any("bias", norm.bias);
}

Record turning_record(const InspectedRope& rope) {
  Record record{{"n_rotated", 2 * rope.n_pairs()}};
  record.add_if_any("n_still", rope.n_still)
      .add("frequencies", std::vector<float>(rope.frequencies.begin(), rope.frequencies.end()));
  if (rope.pairing == RopePairing::kNeighbours) {
    record.add("pairing", "neighbours");
  }
  if (rope.scaling != "none") {
    record.add("scaling", rope.scaling);
  }
  return rope.magnitude == 1.0f ? record : record.add("magnitude", rope.magnitude);
}

void add_projection(Record& record, const std::string& name, const Projection& projection) {
  record.add_if_any("W_" + name, projection.weight.as_floats())
      .add_if_any("b_" + name, projection.bias);
}

// The matrices are views into those of the head.
Record weights_record(const Inspection& head) {
  Record record;
  if (head.query_latents) {
    add_projection(record, "DQ", head.latents.query_down);
  }
  if (head.key_latents) {
    add_projection(record, "DKV", head.latents.key_down);
  }
  add_projection(record, "Q", head.weights_in.query);
  add_projection(record, "K", head.weights_in.key);
  add_projection(record, "V", head.weights_in.value);
  add_projection(record, "G", head.weights_in.output_gate);
  return record.add_if_any("W_O", head.w_output).add_if_any("b_O", head.b_output);
}

// Properties of the head other than its matrices, where they apply.
Record parts_record(const Inspection& head) {
  Record record;
  if (head.n_kv_heads != head.n_heads) {
    record.add("kv_head", head.kv_head).add("n_kv_heads", head.n_kv_heads);
  }
  if (head.order != LayerOrder::kAttentionOnly) {
    record.add("mask", head.mask.name());
  }
  if (head.soft_cap > 0.0f) {
    record.add("soft_cap", head.soft_cap);
  }
  record.add_if_any("norm", norm_record(head.norm))
      .add_if_any("query_latent_norm", norm_record(head.latents.query_norm))
      .add_if_any("key_latent_norm", norm_record(head.latents.key_norm))
      .add_if_any("query_norm", norm_record(head.query_norm))
      .add_if_any("key_norm", norm_record(head.key_norm))
      .add_if_any("query_root", head.joint_root)
      .add_if_any("value_norm", norm_record(head.value_norm));
  if (head.query_factor != 1.0f) {
    record.add("query_factor", head.query_factor);
  }
  record.add_if_any("after_norm", norm_record(head.after_norm));
  if (head.branch_scale != 1.0f) {
    record.add("branch_scale", head.branch_scale);
  }
  record.add_if_any("result_norm", norm_record(head.result_norm));
  return head.rope ? record.add("rope", turning_record(*head.rope)) : record;
}

// The inputs of queries and keys: `of` selects the values to write from a matrix of all tokens.
Record inputs_record(const Inspection& head, const auto& of) {
  Record record;
  record.add_if_any("x", of(head.input->view()));
  if (head.norm.present()) {
    record.add_if_any("y", of(head.look->view()));
  }
  if (head.query_latents) {
    record.add_if_any("c_Q", of(head.query_inputs()));
  }
  if (head.key_latents) {
    record.add_if_any("c_KV", of(head.key_inputs()));
  }
  for (const auto& [key, matrix] : kQueries) {
    record.add_if_any(key, of((head.*matrix).view()));
  }
  return record;
}

Record all_queries_record(const Inspection& head) {
  Record record = inputs_record(head, [](ConstMatrix matrix) { return matrix; });
  for (const auto& [key, matrix] : kKeys) {
    record.add_if_any(key, (head.*matrix).view());
  }
  for (const auto& [key, matrix] : kOfAllQueries) {
    record.add_if_any(key, ((*head.all).*matrix).view());
  }
  return record;
}

Record query_record(const Inspection& head) {
  Record record = inputs_record(head, [&head](ConstMatrix matrix) {
    return matrix.empty() ? std::span<const float>() : matrix.row(head.query);
  });
  for (const auto& [key, scores] : kScores) {
    record.add_if_any(key, head.*scores);
  }
  if (const auto& sink = head.sink) {
    record.add("sink", Record{{"score", sink->score},
                              {"exponential", sink->exponential},
                              {"weight", sink->weight}});
  }
  record.add("max", head.max)
      .add_if_any("exponentials", head.exponentials)
      .add("sum", head.sum)
      .add_if_any("softmax", head.probabilities)
      .add_if_any("weights", head.weights)
      .add_if_any("shares", head.shares.view())
      .add_if_any("mixture", head.mixture)
      .add_if_any("gate", head.gate)
      .add_if_any("context", head.context)
      .add_if_any("output", head.output)
      .add_if_any("other_heads", head.others)
      .add_if_any("states", head.states);
  if (head.changes_branch() || head.result_norm.present()) {
    record.add_if_any("attended", head.attended);
  }
  return record.add_if_any("added", head.added)
      .add_if_any("laurel", head.laurel)
      .add_if_any("result", head.result);
}

Record inspected_head_record(const Inspection& head, bool with_numbers) {
  Record record{{"layer", head.head.layer}, {"head", head.head.head}};
  if (!with_numbers) {
    return record;
  }
  record.add("d_head", head.d_head())
      .add("d_value", head.d_value())
      .add("factor", head.factor)
      .add_all(parts_record(head))
      .add_all(weights_record(head));
  if (head.all) {
    record.add_all(all_queries_record(head));
  }
  return record.add("for_query", query_record(head));
}

void write_document(const Model& model, const TokenizedText& text,
                    std::span<const Inspection> inspections, bool with_numbers,
                    const ByteSink& sink) {
  const Inspection& first = inspections.front();
  Record record{{"schema", "attnviz.inspection/1"}};
  record.add_all(text_record(text))
      .add("model", model_record(model_facts(model, text)))
      .add_all(run_record(run_facts(model, first.request)))
      .add("residual", first.residual)
      .add("query", Record{{"index", first.query}, {"token", text.tokens[first.query].text}})
      .add("heads", list_of(inspections, [with_numbers](const Inspection& head) {
             return inspected_head_record(head, with_numbers);
           }));
  JsonWriter json(sink);
  write_datum(json, record);
  json.finish();
}

}  // namespace

void write_inspection_json(const Model& model, const TokenizedText& text,
                           std::span<const Inspection> inspections, const ByteSink& sink) {
  write_document(model, text, inspections, /*with_numbers=*/true, sink);
}

std::string inspection_facts(const Model& model, const TokenizedText& text,
                             std::span<const Inspection> inspections) {
  std::string facts;
  write_document(model, text, inspections, /*with_numbers=*/false,
                 [&facts](std::string_view bytes) { facts += bytes; });
  facts.resize(facts.size() - 1);  // the line feed
  return facts;
}

}  // namespace attnviz

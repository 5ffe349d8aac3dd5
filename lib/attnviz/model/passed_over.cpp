#include "attnviz/model/passed_over.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

// A key behind the architecture's name; a dot at its end: all that begin so.
struct HarmlessKey {
  std::string_view key;
  std::string_view why;
  std::optional<double> value = std::nullopt;  // nothing else is harmless
};

constexpr std::string_view kNeutral = "its value changes nothing";
constexpr std::string_view kOtherPart = "of pictures or sound: only the part of the text runs";

constexpr HarmlessKey kKeys[] = {
    {"attention.clamp_kqv", kNeutral, 0.0},
    {"attention.head_dim", "attention.key_length says it"},
    {"attention.max_alibi_bias", kNeutral, 0.0},
    {"attention.scale", kNeutral, 0.0},
    {"attention.sliding_window", kNeutral, 0.0},
    {"attn_logit_softcapping", kNeutral, 0.0},
    {"audio.", kOtherPart},
    {"classifier.output_labels", "names of classes"},
    {"context_length", "the position embeddings say it"},
    {"embedding_scale", kNeutral, 1.0},
    {"expert_count", kNeutral, 0.0},
    {"expert_used_count", "there are no experts"},
    {"final_logit_softcapping", kNeutral, 0.0},
    {"logit_scale", kNeutral, 1.0},
    {"mm.", kOtherPart},
    {"pooling_type", "what is done with the last layer's output"},
    {"residual_scale", kNeutral, 1.0},
    {"rope.scaling.attn_factor", kNeutral, 1.0},
    {"rope.scaling.finetuned", "how the model was trained"},
    {"rope.scaling.original_context_length", "nothing is scaled by it"},
    {"tensor_data_layout", "how the file was written"},
    {"vision.", kOtherPart},
    {"vocab_size", "the embeddings say it"},
};

std::optional<double> number_of(const GgufValue& value) noexcept {
  const std::optional<bool> flag = value.as_bool();
  return flag ? std::optional(*flag ? 1.0 : 0.0) : value.as_number();
}

// Why a key is harmless; empty when it may not be.
std::string_view why_harmless(std::string_view key, const GgufValue& value, bool is_causal) {
  const std::optional<double> number = number_of(value);
  if (key == "attention.causal") {
    return number == (is_causal ? 1.0 : 0.0) ? "it is what this architecture does" : "";
  }
  const auto* const found = std::ranges::find_if(kKeys, [&](const HarmlessKey& known) {
    return known.key.ends_with('.') ? key.starts_with(known.key) : key == known.key;
  });
  const bool is_harmless = found != std::end(kKeys) && (!found->value || number == found->value);
  return is_harmless ? found->why : std::string_view();
}

// What a tensor's name holds anywhere; a dot in front also stands for the name's beginning.
struct HarmlessTensor {
  std::string_view part;
  std::string_view why;
  bool is_end = false;  // the part is the last one of the name
};

constexpr std::string_view kBuffer = "no weight: made anew from the config";
constexpr std::string_view kTied = "the embeddings stand in its place";
constexpr std::string_view kOtherTask = "a head for another task";

constexpr HarmlessTensor kTensors[] = {
    {".attn.bias", kBuffer, true},
    {".attn.masked_bias", kBuffer, true},
    {".attention.bias", kBuffer, true},
    {".attention.masked_bias", kBuffer, true},
    {".rotary_emb.", kBuffer},
    {".position_ids", kBuffer, true},
    {".token_type_ids", kBuffer, true},
    {".lm_head.weight", kTied, true},
    {".lm_head.decoder.", kTied},
    {".predictions.decoder.", kTied},
    {".embed_out.weight", kTied, true},
    {".vocab_projector.weight", kTied, true},
    {".pooler.", kOtherTask},
    {".seq_relationship.", kOtherTask},
    {".classifier.", kOtherTask},
    {".pre_classifier.", kOtherTask},
    {".score.", kOtherTask},
    {".qa_outputs.", kOtherTask},
    {".cls.output.", kOtherTask},
    {".vision_tower.", kOtherPart},
    {".vision_model.", kOtherPart},
    {".multi_modal_projector.", kOtherPart},
    {".visual.", kOtherPart},
    {".audio_tower.", kOtherPart},
};

// As llama.cpp names parts of pictures and sound; not anywhere in a name.
constexpr std::string_view kGgufParts[] = {"v.", "mm.", "a."};

std::string_view why_harmless(const std::string& name) {
  if (std::ranges::any_of(kGgufParts,
                          [&](std::string_view part) { return name.starts_with(part); })) {
    return kOtherPart;
  }
  const std::string dotted = "." + name;
  const auto* const found = std::ranges::find_if(kTensors, [&](const HarmlessTensor& known) {
    return known.is_end ? dotted.ends_with(known.part)
                        : dotted.find(known.part) != std::string::npos;
  });
  return found == std::end(kTensors) ? std::string_view() : found->why;
}

}  // namespace

void pass_over_keys(const GgufMetadata& metadata, ModelConfig& config) {
  const std::string prefix = std::string(metadata.text("general.architecture")) + ".";
  const bool is_causal = prefix != "bert.";
  for (const std::string_view key : metadata.unread_keys()) {
    if (!key.starts_with(prefix)) {
      continue;
    }
    const GgufValue& value = *metadata.gguf().find(key);
    const std::string_view why = why_harmless(key.substr(prefix.size()), value, is_causal);
    if (why.empty()) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {} {}: attnviz does not know what this changes in a model of "
                              "this architecture",
                              metadata.gguf().file(), shown_name(key), value.text()));
    }
    config.passed_over.push_back({std::string(key), why});
  }
}

void pass_over_tensors(const std::vector<std::string>& unread, std::string_view where,
                       ModelConfig& config) {
  for (const std::string& name : unread) {
    const std::string_view why = why_harmless(name);
    if (why.empty()) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: {}: attnviz does not know what this tensor changes in a model "
                              "of this family",
                              where, shown_name(name)));
    }
    config.passed_over.push_back({name, why});
  }
}

}  // namespace attnviz

// The steps from x to rope: how the tokens' vectors are computed before they are compared.

#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/report/steps/step_table.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr MatrixAxis kTokens{true, Role::kPlain};
constexpr MatrixAxis kKeys{true, Role::kKey};

StepFormula x_formula(const Inspection& head) {
  return {fmt::format("x, the vector that enters layer {}", head.head.layer),
          fmt::format("[{}]", head.d_model())};
}

// The input of layer 0 for the query's token.
std::string embedding(const Inspection& head, const std::string& token) {
  std::vector<std::string> mixed;
  if (head.positions == Positions::kSinusoidal || head.positions == Positions::kLearned) {
    mixed.push_back(fmt::format("its position {}", head.query));
  }
  if (head.has_segments) {
    mixed.push_back(fmt::format("its segment {}", head.segment));
  }
  return mixed.empty()
             ? fmt::format("the vector for {} before it attends to anything", token)
             : fmt::format("the vector for {}, combined with {}", token, joined(mixed, "and"));
}

std::string x_sentence(const Inspection& head, const KeyWords& words) {
  const std::string from =
      head.head.layer > 1 ? fmt::format("the vector of {} after the earlier layers", words.query())
      : head.head.layer == 1 ? fmt::format("the vector of {} after layer 0", words.query())
                             : embedding(head, words.query());
  return fmt::format("x is {}: {}.", from, counted(head.d_model(), "number"));
}

void x_blocks(const Inspection& head, StepBlocks& to) {
  to.vectors({{"x " + to.query_label(), head.x(), Role::kPlain}});
  to.full_matrix("X", head.input->view(), Role::kPlain, kTokens);
}

// The formula of a norm applied to the vector called `of`.
std::string normed_formula(const Norm& norm, const char* of) {
  const std::string divisor =
      norm.kind == NormKind::kLayer
          ? fmt::format("({} − mean) ÷ √(variance + {:.6g})", of, norm.epsilon)
          : fmt::format("{0} ÷ √(mean of {0}² + {1:.6g})", of, norm.epsilon);
  const std::string gain =
      norm.weight_offset == 0.0f ? "w" : fmt::format("({} + w)", norm.weight_offset);
  return fmt::format("{} · {}{}", divisor, gain, norm.bias.empty() ? "" : " + b");
}

// The root of a norm. `what`: "Mean", or its owner and "mean"; `name`: the vector.
std::string root_note(const Norm& norm, std::span<const float> x, const char* what,
                      const char* name) {
  const NormNumbers numbers = norm_numbers(norm, x);
  return norm.kind == NormKind::kLayer
             ? fmt::format("{} = {:.4g}, variance = {:.4g}, so the root is {:.4g}.", what,
                           numbers.mean, numbers.square, numbers.divisor)
             : fmt::format("{} of {}² = {:.4g}, so the root is {:.4g}.", what, name, numbers.square,
                           numbers.divisor);
}

// The rows of a norm: the vector before it, its weights and biases, the vector after it.
std::vector<VectorRow> norm_rows(const Norm& norm, VectorRow before, VectorRow after) {
  std::vector<VectorRow> rows = {std::move(before), {"w", norm.weight, Role::kPlain}};
  if (!norm.bias.empty()) {
    rows.push_back({"b", norm.bias, Role::kPlain});
  }
  rows.push_back(std::move(after));
  return rows;
}

StepFormula norm_formula(const Inspection& head) {
  return {fmt::format("y = {}(x) = {}", norm_name(head.norm), normed_formula(head.norm, "x")),
          fmt::format("[{}]", head.d_model())};
}

std::string norm_note(const Inspection& head) {
  return root_note(head.norm, head.x(), "Mean", "x");
}

std::string norm_sentence(const Inspection& head, const KeyWords&) {
  const bool is_layer = head.norm.kind == NormKind::kLayer;
  return fmt::format(
      "Attention uses y instead of x: x is {}divided by {:.4g}, so that {}, and each number is "
      "then multiplied by {}its own learned w{}.",
      is_layer ? "reduced by its mean and " : "", norm_numbers(head.norm, head.x()).divisor,
      is_layer ? "neither its mean nor its length matters" : "its length does not matter",
      head.norm.weight_offset == 0.0f ? "" : fmt::format("{} + ", head.norm.weight_offset),
      head.norm.bias.empty() ? "" : " with its own b added");
}

void norm_blocks(const Inspection& head, StepBlocks& to) {
  to.vectors(norm_rows(head.norm, {"x " + to.query_label(), head.x(), Role::kPlain},
                       {"y " + to.query_label(), head.y(), Role::kPlain}));
  to.full_matrix("Y", head.look->view(), Role::kPlain, kTokens);
}

StepFormula latents_formula(const Inspection& head) {
  const Latents& latents = head.latents;
  const char* const y = head.norm.present() ? "y" : "x";
  const auto normed = [y](const Norm& norm, const Projection& down, const char* name) {
    return fmt::format("{}({} · W_{}{})", norm_name(norm), y, name,
                       down.bias.empty() ? "" : fmt::format(" + b_{}", name));
  };
  const std::string of_query =
      head.query_latents ? "; c_Q = " + normed(latents.query_norm, latents.query_down, "DQ") : "";
  return {fmt::format("c_KV = {}, followed by k_R{}",
                      normed(latents.key_norm, latents.key_down, "DKV"), of_query),
          fmt::format("[{0}] · [{0}, {1} + {2}] → [{1} + {2}]", head.d_model(), latents.rank(),
                      latents.n_shared())};
}

std::string latents_note(const Inspection& head) {
  const std::size_t n_kept = head.latents.key_down.d_out();
  const std::size_t n_made = head.n_kv_heads * (head.d_head() + head.d_value());
  return fmt::format(
      "For later tokens, {} numbers for each token are kept instead of the {} numbers of all {} "
      "heads' keys and values.",
      n_kept, n_made, head.n_heads);
}

std::string latents_sentence(const Inspection& head, const KeyWords&) {
  return fmt::format(
      "All heads compute their keys and values from the same {} numbers c_KV of a token{}. The {} "
      "numbers k_R are not normalised: they are the last part of every head's key, and only they "
      "are rotated for the position.",
      head.latents.rank(),
      head.query_latents
          ? fmt::format(", and their queries from {} others, c_Q", head.latents.query_rank())
          : "",
      head.latents.n_shared());
}

void latents_blocks(const Inspection& head, StepBlocks& to) {
  const std::size_t rank = head.latents.rank();
  const ConstMatrix own = head.key_inputs().row_block(head.query, 1);
  if (head.query_latents) {
    to.vectors({{"c_Q " + to.query_label(), head.query_inputs().row(head.query), Role::kPlain}});
  }
  to.vectors({{"c_KV " + to.query_label(), own.col_block(0, rank).row(0), Role::kPlain},
              {"k_R " + to.query_label(), own.col_block(rank, head.latents.n_shared()).row(0),
               Role::kKey}},
             {.is_apart = true});
  if (head.query_latents) {
    to.full_weights("DQ", head.latents.query_down, Role::kPlain);
    to.full_matrix("c_Q", head.query_inputs(), Role::kPlain, kTokens);
  }
  to.full_weights("DKV", head.latents.key_down, Role::kPlain);
  to.full_matrix("c_KV and k_R", head.key_inputs(), Role::kPlain, kTokens);
}

StepFormula query_formula(const Inspection& head) {
  return {projection_formula(head, "q", "Q", head.weights_in.query),
          fmt::format("[{0}] · [{0}, {1}] → [{1}]", head.weights_in.query.d_in(), head.d_head())};
}

std::string query_sentence(const Inspection& head, const KeyWords& words) {
  const std::size_t n = head.d_head();
  return fmt::format(
      "q is what {} looks for: {} is {}the dot product of {} with a column of W_Q.", words.query(),
      n == 1 ? "its 1 number" : fmt::format("each of its {} numbers", n),
      head.weights_in.query.bias.empty() ? "" : "a number of b_Q plus ", query_input(head));
}

void query_blocks(const Inspection& head, StepBlocks& to) {
  const ConstMatrix queries = head.projected_queries();
  const ConstMatrix q = queries.row_block(head.query, 1);
  to.colored_weights("W_Q", head.weights_in.query, q, Role::kQuery);
  to.vectors({{"q " + to.query_label(), q.row(0), Role::kQuery}});
  to.full_weights("Q", head.weights_in.query, Role::kQuery);
  to.full_matrix("Q", queries, Role::kQuery, kQueryRows);
}

StepFormula keys_formula(const Inspection& head) {
  const Projection& key = head.weights_in.key;
  const std::size_t n_shared = head.latents.n_shared();
  const std::string shared_key = n_shared > 0 ? ", followed by k_R," : "";
  const std::string width =
      n_shared > 0 ? fmt::format("{} + {}", key.d_out(), n_shared) : std::to_string(key.d_out());
  return {projection_formula(head, "k", "K", key) + shared_key + " for each token",
          fmt::format("[{0}, {1}] · [{1}, {2}] → [{0}, {3}]", head.n_tokens(), key.d_in(),
                      key.d_out(), width)};
}

std::string keys_note(const Inspection& head) {
  if (head.n_kv_heads == head.n_heads) {
    return {};
  }
  if (head.n_kv_heads == 1) {
    return fmt::format("{} heads of the layer share W_K and W_V.",
                       head.n_heads == 2 ? "Both" : fmt::format("All {}", head.n_heads));
  }
  return fmt::format("The layer's {} heads share {} pairs of W_K and W_V: head {} uses pair {}.",
                     head.n_heads, head.n_kv_heads, head.head.head, head.kv_head);
}

std::string keys_sentence(const Inspection& head, const KeyWords& words) {
  return head.n_tokens() == 1
             ? fmt::format("k is the key by which {}, the only token, can be found.", words.query())
             : fmt::format("Each of the {} tokens has a key, by which it can be found.",
                           head.n_tokens());
}

void keys_blocks(const Inspection& head, StepBlocks& to) {
  const ConstMatrix keys = head.projected_keys();
  if (head.latents.n_shared() == 0) {  // otherwise its columns would not align
    to.colored_weights("W_K", head.weights_in.key, keys, Role::kKey);
  }
  to.keys(keys);
  to.full_weights("K", head.weights_in.key, Role::kKey);
  to.full_matrix("K", keys, Role::kKey, kKeys);
}

StepFormula query_key_norm_formula(const Inspection& head) {
  const bool is_of_q = head.query_norm.present();
  const Norm& norm = is_of_q ? head.query_norm : head.key_norm;
  const char* const which = !is_of_q ? "k" : head.key_norm.present() ? "q and each k" : "q";
  return {fmt::format("{} through {}: {}", which, norm_name(norm),
                      normed_formula(norm, is_of_q ? "q" : "k")),
          fmt::format("[{}]", head.d_head())};
}

std::string query_key_norm_note(const Inspection& head) {
  const auto q = head.unnormed_queries().row(head.query);
  if (head.joint_root) {
    return fmt::format("The root of the mean of the squares of all {} heads' queries = {:.4g}.",
                       head.n_heads, *head.joint_root);
  }
  return head.query_norm.present() ? root_note(head.query_norm, q, "For q: mean", "q") : "";
}

std::string query_key_norm_sentence(const Inspection& head, const KeyWords&) {
  const bool are_both = head.query_norm.present() && head.key_norm.present();
  return fmt::format(
      "{} divided by {}, so that its length after the projection does not matter; then each number "
      "is multiplied by a weight.",
      are_both                    ? "q and each k are"
      : head.query_norm.present() ? "q is"
                                  : "Each k is",
      head.joint_root ? "the root over all heads of its token"
      : are_both      ? "their own roots"
                      : "its own root");
}

void query_key_norm_blocks(const Inspection& head, StepBlocks& to) {
  if (head.query_norm.present()) {
    to.vectors(norm_rows(head.query_norm,
                         {"q before", head.unnormed_queries().row(head.query), Role::kQuery},
                         {"q after", head.normed_queries().row(head.query), Role::kQuery}));
  }
  if (head.key_norm.present()) {
    to.vectors({{"w of k", head.key_norm.weight, Role::kPlain}}, {.is_apart = true});
    to.keys(head.normed_keys());
  }
  to.full_matrix("Q normalised", head.normed_queries(), Role::kQuery, kQueryRows);
  to.full_matrix("K normalised", head.normed_keys(), Role::kKey, kKeys);
}

StepFormula rope_formula(const Inspection& head) {
  return {fmt::format("q rotated for position {}, each k for its own (RoPE)", head.query),
          fmt::format("[{}]", head.d_head())};
}

std::string rope_note(const Inspection& head) {
  const InspectedRope& rope = *head.rope;
  const std::size_t pairs = rope.n_pairs();
  const std::size_t first = rope.n_still;
  const std::string named =
      rope.pairing == RopePairing::kHalves ? fmt::format("(i, i + {})", pairs) : "(2i, 2i + 1)";
  std::string text =
      pairs == 1
          ? fmt::format("The pair of dimensions ({}, {}) is rotated by position · frequency", first,
                        first + 1)
          : fmt::format("{} pairs of dimensions {}{} are rotated, each by position · its frequency",
                        pairs, named, first > 0 ? fmt::format(", counted from {},", first) : "");
  const auto stay = [&text](std::size_t begin, std::size_t end) {
    if (end == begin + 1) {
      text += fmt::format("; dimension {} does not change", begin);
    } else if (end > begin) {
      text += fmt::format("; dimensions {} to {} do not change", begin, end - 1);
    }
  };
  stay(0, first);
  stay(first + 2 * pairs, head.d_head());
  if (rope.scaling != "none") {
    text += fmt::format("; scaling {}, factor {:.4g}", rope.scaling, rope.factor);
    if (rope.short_text > 0) {
      const bool is_long = head.n_tokens() > rope.short_text;
      text += fmt::format(", {} {}: {} frequencies", is_long ? "above" : "up to",
                          counted(rope.short_text, "token"),
                          rope.scaling == "dynamic" ? is_long ? "lowered" : "unchanged"
                          : is_long                 ? "the long text's"
                                                    : "the short text's");
    }
  }
  if (rope.magnitude != 1.0f) {
    text += fmt::format("; rotated dimensions are multiplied by {:.4g}", rope.magnitude);
  }
  return text + '.';
}

std::string rope_sentence(const Inspection& head, const KeyWords&) {
  const InspectedRope& rope = *head.rope;
  const auto angle = [&](std::size_t pair) {
    return fmt::format("{:.4g}", static_cast<double>(head.query) * rope.frequencies[pair]);
  };
  const std::string first = angle(0);
  const char* const radians = first == "1" ? "radian" : "radians";
  std::string text;
  if (head.query == 0) {
    text = fmt::format("At position 0, q is not rotated{}.",
                       rope.magnitude == 1.0f ? "" : ", only multiplied");
  } else if (rope.n_pairs() == 1) {
    text = fmt::format("At position {}, the one pair of q is rotated by {} {}.", head.query, first,
                       radians);
  } else {
    text =
        fmt::format("At position {}, the first pair of q is rotated by {} {} and the last by {}.",
                    head.query, first, radians, angle(rope.n_pairs() - 1));
  }
  return text + (head.norms_turned ? " Each key is rotated for its own position."
                                   : " As each key is rotated for its own position, q · k depends "
                                     "on how far apart the two tokens are.");
}

// One row per pair of rotated dimensions: its frequency, the query's angle in radians, and the pair
// before and after. Many pairs are shortened to the first ones, the number between, and the last.
TableBlock turns(const Inspection& head, bool all) {
  constexpr std::size_t kFewPairs = 8;
  constexpr std::size_t kFirstPairs = 6;
  const InspectedRope& rope = *head.rope;
  const std::size_t n_pairs = rope.n_pairs();
  const auto before = head.upright_queries().row(head.query);
  const auto after = head.turned_queries().row(head.query);
  NumberGroup numbers(before);
  numbers.add(after);
  TableBlock table;
  table.corner = {"pair"};
  table.columns = {{"frequency", Role::kPlain, {}, false}, {"angle", Role::kPlain, {}, false},
                   {"q before", Role::kQuery, {}, false},  {"", Role::kQuery, {}, true},
                   {"q after", Role::kQuery, {}, false},   {"", Role::kQuery, {}, true}};
  const auto add_row = [&table](std::string label, const std::vector<std::string>& cells) {
    table.rows.push_back({{std::move(label)}});
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      table.columns[i].cells.push_back(cells[i]);
    }
  };
  for (std::size_t pair = 0; pair < n_pairs; ++pair) {
    if (!all && n_pairs > kFewPairs && pair == kFirstPairs) {
      add_row(fmt::format("… {} more …", n_pairs - kFirstPairs - 1),
              std::vector<std::string>(table.columns.size()));
      pair = n_pairs - 1;
    }
    const double frequency = rope.frequencies[pair];
    const auto [first, other] = rope.dimensions(pair);
    add_row(fmt::format("{}, {}", first, other),
            {fmt::format("{:.4g}", frequency),
             fmt::format("{:.4g}", frequency * static_cast<double>(head.query)),
             numbers.text(before[first]), numbers.text(before[other]), numbers.text(after[first]),
             numbers.text(after[other])});
  }
  return table;
}

// The angle of each dimension of the query.
std::vector<float> angles_of(const Inspection& head) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  std::vector<float> made(head.d_head(), 0.0f);
  for (std::size_t pair = 0; pair < head.rope->n_pairs(); ++pair) {
    const double angle = static_cast<double>(head.query) * head.rope->frequencies[pair];
    const auto [first, other] = head.rope->dimensions(pair);
    made[first] = made[other] = static_cast<float>(std::remainder(angle, kTurn));
  }
  return made;
}

void rope_blocks(const Inspection& head, StepBlocks& to) {
  const ConstMatrix upright = head.upright_queries().row_block(head.query, 1);
  if (to.is_colored()) {
    // Puts the angle of each dimension above its number.
    const auto angles = std::make_shared<const std::vector<float>>(angles_of(head));
    const std::size_t n = angles->size();
    to.align({{angles->data(), 1, n, n}, upright, head.turned_keys()});
    to.vectors({{"angle, −π to π", *angles, Role::kPlain}}, {.kept = angles});
    to.vectors({{"q before", upright.row(0), Role::kQuery},
                {"q after", head.turned_queries().row(head.query), Role::kQuery}},
               {.is_apart = true});
  } else {
    to.add(turns(head, to.is_full()));
  }
  to.keys(head.turned_keys(),
          {.caption = to.is_colored() ? "" : "keys rotated:", .is_apart = true});
  to.full_matrix("Q rotated", head.turned_queries(), Role::kQuery, kQueryRows);
  to.full_matrix("K rotated", head.turned_keys(), Role::kKey, kKeys);
}

constexpr StepDefinition kInputSteps[] = {
    {Step::kX, "x", "", nullptr, x_formula, nullptr, x_sentence, x_blocks},
    {Step::kNorm, "norm", "", [](const Inspection& head) { return head.norm.present(); },
     norm_formula, norm_note, norm_sentence, norm_blocks},
    {Step::kLatents, "latents", "", [](const Inspection& head) { return head.latents.present(); },
     latents_formula, latents_note, latents_sentence, latents_blocks},
    {Step::kQuery, "query", "q", nullptr, query_formula, nullptr, query_sentence, query_blocks},
    {Step::kKeys, "keys", "k", nullptr, keys_formula, keys_note, keys_sentence, keys_blocks},
    {Step::kQueryKeyNorm, "qk-norm", "",
     [](const Inspection& head) { return head.norms_queries(); }, query_key_norm_formula,
     query_key_norm_note, query_key_norm_sentence, query_key_norm_blocks},
    {Step::kRope, "rope", "", [](const Inspection& head) { return head.rope.has_value(); },
     rope_formula, rope_note, rope_sentence, rope_blocks}};

}  // namespace

std::string projection_formula(const Inspection& head, const char* to, const char* name,
                               const Projection& projection) {
  const std::string bias = projection.bias.empty() ? "" : fmt::format(" + b_{}", name);
  const bool is_query = &projection == &head.weights_in.query;
  const char* const of = is_query || !head.key_latents ? query_input(head) : "c_KV";
  return fmt::format("{} = {} · W_{}{}", to, of, name, bias);
}

const char* query_input(const Inspection& head) noexcept {
  return head.query_latents ? "c_Q" : head.norm.present() ? "y" : "x";
}

const char* norm_name(const Norm& norm) noexcept {
  return norm.kind == NormKind::kLayer ? "LayerNorm" : "RMSNorm";
}

std::span<const StepDefinition> input_steps() noexcept {
  return kInputSteps;
}

}  // namespace attnviz

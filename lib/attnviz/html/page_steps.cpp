#include "attnviz/html/page_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

void write_vectors(const Inspection& head, JsonWriter& json, Blobs& blobs) {
  const auto add_matrix = [&blobs](ConstMatrix matrix) {
    std::vector<float> numbers;
    for (std::size_t row = 0; row < matrix.rows; ++row) {
      numbers.insert(numbers.end(), matrix.row(row).begin(), matrix.row(row).end());
    }
    return blobs.add(std::span<const float>(numbers));
  };
  json.member("layer", head.head.layer);
  json.member("head", head.head.head);
  json.member("query", head.query);
  json.member("q", add_matrix(head.q.view()));
  json.member("k", add_matrix(head.k.view()));
  json.member("v", add_matrix(head.v.view()));
  json.member("d_head", head.d_head());
  json.member("d_value", head.d_value());
  const float temperature = head.soft_cap > 0.0f ? 1.0f : head.request.temperature;
  json.member("scale", head.factor * temperature);  // without the temperature
  json.member("soft_cap", head.soft_cap);
  json.key("scores");
  json.null();
  json.key("bias");
  if (head.bias.empty()) {
    return json.null();
  }
  // ALiBi's falls off evenly with the distance, from one query as from another.
  const std::size_t at = head.query > 0 ? 0 : std::min<std::size_t>(1, head.n_tokens() - 1);
  const std::size_t distance = std::max(head.query, at) - std::min(head.query, at);
  const float slope =
      distance > 0 ? head.bias[at] / static_cast<float>(distance) * head.request.temperature : 0.0f;
  MatrixBuffer bias(head.n_tokens(), head.n_tokens());
  for (std::size_t query = 0; query < head.n_tokens(); ++query) {
    for (std::size_t key = 0; key < head.n_tokens(); ++key) {
      const std::size_t apart = std::max(query, key) - std::min(query, key);
      bias.view()(query, key) = slope * static_cast<float>(apart);
    }
  }
  json.value(add_matrix(std::as_const(bias).view()));
}

}  // namespace

void write_page_steps(std::span<const Inspection> followed, JsonWriter& json, Blobs& blobs) {
  json.begin_object();
  json.member("temperature", followed.front().request.temperature);
  json.objects("heads", followed,
               [&](const Inspection& head) { write_vectors(head, json, blobs); });
  json.end_object();
}

}  // namespace attnviz

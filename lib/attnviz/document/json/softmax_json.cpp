#include "attnviz/document/json/softmax_json.h"

#include <fmt/core.h>

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/formats/csv.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

void write_softmax_json(const SoftmaxSteps& steps, const ByteSink& sink) {
  std::vector<std::size_t> masked;
  for (std::size_t i = 0; i < steps.scores.size(); ++i) {
    if (steps.is_masked(i)) {
      masked.push_back(i);
    }
  }
  JsonWriter json(sink, 2);
  json.begin_object();
  json.member("schema", "attnviz.softmax/1");
  json.member("divide_by", steps.divide_by);
  json.member("temperature", steps.temperature);
  json.member("scores", steps.scores);
  json.member("masked", masked);
  json.member("all_masked", steps.all_masked());
  json.member("divided", steps.divided);
  json.member("max", steps.largest);
  json.member("exponentials", steps.exponentials);
  json.member("sum", steps.sum);
  json.member("weights", steps.weights);
  json.member("entropy_bits", steps.entropy_bits);
  if (steps.naive) {
    json.begin_object("naive");
    json.member("fault", steps.naive->overflows() ? "overflow" : "underflow");
    json.member("exponentials", std::span<const float>(steps.naive->exponentials));
    json.member("sum", steps.naive->sum);
    json.member("weights", std::span<const float>(steps.naive->weights));
    json.end_object();
  }
  json.end_object();
  json.finish();
}

void write_softmax_csv(const SoftmaxSteps& steps, const ByteSink& sink) {
  sink(steps.naive ? "score,divided,exponential,weight,naive_exponential,naive_weight\n"
                   : "score,divided,exponential,weight\n");
  for (std::size_t i = 0; i < steps.scores.size(); ++i) {
    std::string row =
        fmt::format("{},{},{},{}", csv_number(steps.scores[i]), csv_number(steps.divided[i]),
                    csv_number(steps.exponentials[i]), csv_number(steps.weights[i]));
    if (steps.naive) {
      row += fmt::format(",{},{}", steps.naive->exponentials[i], steps.naive->weights[i]);
    }
    sink(row + "\n");
  }
}

}  // namespace attnviz

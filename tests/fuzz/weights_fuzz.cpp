// Any bytes as weights JSON: the model runs on a few tokens, and what is written of it reads back
// and is written the same again; or the bytes are refused with an Error.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/run_model.h"

namespace attnviz {

namespace {

using test::refused_or_done;
using test::require;

std::string written(const Model& model) {
  std::string out;
  write_weights_json(model, [&out](std::string_view bytes) { out += bytes; });
  return out;
}

void read(std::string_view bytes) {
  refused_or_done([&] {
    const Model model = parse_weights_json(bytes, "fuzz");
    refused_or_done([&] { test::run_model(model); });
    const std::string once = written(model);
    require(written(parse_weights_json(once, "fuzz")) == once);
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds = files_below("/samples", ".json", 8 << 10);
  seeds.emplace_back(
      R"({"schema":"attnviz.weights/1","d_model":2,"inputs":[[1,0],[0,1]],"residual":false,)"
      R"("convention":"column","layers":[{"heads":[{"W_Q":[[1],[0]],"W_K":[[1,2]],"b_Q":[0.5],)"
      R"("W_V":[[1,0],[0,1]],"W_O":[[1,0],[0,1]]}],"b_O":[0,1e-3]}]})");
  seeds.emplace_back(
      R"({"schema":"attnviz.weights/1","d_model":2,"tokenizer":"chars","mask":"window:2",)"
      R"("positions":"rope","unknown":"random","embeddings":{"a":[1,0],"b":[-1,0.25]},"layers":[)"
      R"({"heads":[{"W_Q":[[1,0],[0,1]],"W_K":[[1,0],[0,1]],"W_V":[[1],[2]]}],"W_O":[[1,2]]}]})");
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz

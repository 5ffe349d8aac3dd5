// A config.json, a NUL, and any bytes as model.safetensors: the tensors lie within the file and the
// model runs on a few tokens, or they are refused with an Error.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/safetensors.h"
#include "attnviz/model/stored_model.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/run_model.h"

namespace attnviz {

namespace {

using test::refused_or_done;
using test::require;

void read(std::string_view input) {
  const std::vector<std::string_view> parts = test::parts_of(input, 2);
  refused_or_done([&] {
    const Safetensors file(parts[1], "fuzz");
    std::size_t size = 0;
    for (const StoredTensor* tensor : file.tensors()) {
      require(file.find(tensor->name) == tensor);
      require(!tensor->other_type.empty() ||
              tensor->bytes.size() == stored_bytes(tensor->type, tensor->n_numbers()));
      test::use(tensor->bytes);
      size += tensor->bytes.size();
    }
    require(size <= parts[1].size());
  });
  refused_or_done([&] {
    Model model = load_hugging_face({parts[0], "fuzz"}, {parts[1], "fuzz"});
    model.set_name("fuzz", model.config.family);
    test::run_model(model);
  });
}

}  // namespace

namespace test {

std::vector<std::string> fuzz_seeds() {
  constexpr std::size_t kMost = 48 << 10;
  std::vector<std::string> seeds;
  for (const char* folder : {"models", "families", "experts"}) {
    for (const std::filesystem::path& path : reference_files(folder, "/model.safetensors", kMost)) {
      const std::string from =
          "/" + path.parent_path().lexically_relative(ATTNVIZ_SOURCE_DIR).string();
      seeds.push_back(reference_file(from + "/config.json") + '\0' +
                      reference_file(from + "/model.safetensors"));
    }
  }
  return seeds;
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz

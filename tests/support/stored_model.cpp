#include "support/stored_model.h"

#include <cstring>

#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/stored_model.h"
#include "support/run_program.h"

namespace attnviz::test {

namespace fs = std::filesystem;

std::string safetensors_of(const std::vector<TestTensor>& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const TestTensor& tensor : tensors) {
    const std::size_t begin = data.size();
    data.resize(begin + tensor.numbers.size() * sizeof(float));
    if (!tensor.numbers.empty()) {
      std::memcpy(&data[begin], tensor.numbers.data(), tensor.numbers.size() * sizeof(float));
    }
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  std::string file;
  for (std::size_t i = 0; i < 8; ++i) {
    file += static_cast<char>(text.size() >> 8 * i & 0xFF);
  }
  return file + text + data;
}

std::vector<TestTensor> tensors_of(const fs::path& file) {
  const MappedFile bytes(file);
  const Safetensors stored(bytes.bytes(), file.string());
  std::vector<TestTensor> tensors;
  for (const StoredTensor* tensor : stored.tensors()) {
    const std::size_t n = tensor->n_numbers();
    const MatrixBuffer numbers =
        to_floats(StoredMatrix(tensor->bytes.data(), 1, n, n, tensor->type));
    const std::span<const float> all = numbers.view().row(0);
    tensors.push_back({std::string(tensor->name),
                       {tensor->shape.begin(), tensor->shape.end()},
                       {all.begin(), all.end()}});
  }
  return tensors;
}

void copy_model(const std::string& name, const fs::path& to) {
  const fs::path reference = fs::path(ATTNVIZ_SOURCE_DIR) / "tests/reference";
  fs::path from = reference / "models" / name;
  for (const char* kind : {"families", "experts"}) {
    from = fs::exists(reference / kind / name) ? reference / kind / name : from;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
    fs::copy_file(entry.path(), to / entry.path().filename(), fs::copy_options::overwrite_existing);
  }
}

void change_config(const fs::path& folder, const std::string& key, const nlohmann::json& value) {
  nlohmann::json config = read_json(folder / "config.json");
  const nlohmann::json::json_pointer at("/" + key);
  if (value.is_discarded()) {
    config.at(at.parent_pointer()).erase(at.back());
  } else {
    config[at] = value;
  }
  write_file(folder / "config.json", config.dump());
}

Model with_settings(const std::string& model,
                    const std::vector<std::pair<std::string, nlohmann::json>>& settings) {
  const TemporaryFolder folder;
  copy_model(model, folder.path());
  for (const auto& [key, value] : settings) {
    change_config(folder.path(), key, value);
  }
  return load_hugging_face(folder.path());
}

}  // namespace attnviz::test

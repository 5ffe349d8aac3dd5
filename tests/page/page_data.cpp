#include "page/page_data.h"

#include <libdeflate.h>

#include <bit>
#include <limits>
#include <memory>
#include <stdexcept>

#include "attnviz/formats/base64.h"

namespace attnviz::test {

std::string_view data_text(std::string_view page) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"attnviz-data\">";
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find("</script>", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    throw std::runtime_error("no data in the page");
  }
  return page.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

std::vector<std::uint8_t> blob_bytes(std::string_view base64) {
  const std::string packed = decoded_base64(base64, "blob");
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> reader(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  std::vector<std::uint8_t> bytes(std::size_t{1} << 12U);
  for (;;) {
    std::size_t size = 0;
    const libdeflate_result result = libdeflate_deflate_decompress(
        reader.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), &size);
    if (result == LIBDEFLATE_SUCCESS) {
      bytes.resize(size);
      return bytes;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE || bytes.size() >= std::size_t{1} << 26U) {
      throw std::runtime_error("a blob that is not deflate");
    }
    bytes.resize(4 * bytes.size());
  }
}

std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> numbers;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const std::uint32_t bits = bytes[i] | std::uint32_t{bytes[i + 1]} << 8U |
                               std::uint32_t{bytes[i + 2]} << 16U |
                               std::uint32_t{bytes[i + 3]} << 24U;
    numbers.push_back(std::bit_cast<float>(bits));
  }
  return numbers;
}

std::vector<std::uint16_t> shorts_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint16_t> numbers;
  const std::size_t count = bytes.size() / 2;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<std::uint16_t>(bytes[i] | bytes[count + i] << 8));
  }
  return numbers;
}

PageData::PageData(std::string_view page) : json_(parse_json(data_text(page))) {}

std::vector<std::uint8_t> PageData::blob(const nlohmann::json& number) const {
  return blob_bytes(json_.at("blobs").at(number.get<std::size_t>()).get<std::string>());
}

std::vector<float> PageData::weights(std::size_t document, std::size_t head) const {
  const nlohmann::json& packed =
      json_.at("documents").at(document).at("heads").at(head).at("weights");
  const std::vector<std::uint8_t> bytes = blob(packed.at("blob"));
  const auto code = packed.at("code").get<std::string>();
  std::vector<float> stored;
  if (code == "f32") {
    stored = floats_of(bytes);
  } else {
    std::vector<std::uint16_t> codes(bytes.begin(), bytes.end());
    if (code == "u16") {
      codes = shorts_of(bytes);
    }
    const double most = code == "u16" ? 65535 : 255;
    const auto low = packed.at("low").get<double>();
    const auto high = packed.at("high").get<double>();
    const bool squares = packed.at("curve") == "sqrt";
    for (const std::uint16_t one : codes) {
      const double t = one / (most - 1);
      stored.push_back(one == most
                           ? std::numeric_limits<float>::quiet_NaN()
                           : static_cast<float>(low + (squares ? t * t : t) * (high - low)));
    }
  }
  if (!json_.at("triangle").get<bool>()) {
    return stored;
  }
  const auto n = json_.at("shape").at(0).get<std::size_t>();
  if (stored.size() != n * (n + 1) / 2) {
    throw std::runtime_error("a triangle of another size");
  }
  std::vector<float> whole(n * n);
  auto next = stored.begin();
  for (std::size_t query = 0; query < n; ++query) {
    for (std::size_t key = 0; key <= query; ++key) {
      whole[query * n + key] = *next++;
    }
  }
  return whole;
}

std::vector<bool> PageData::mask(std::size_t number) const {
  const auto bytes = blob(json_.at("masks").at(number).at("blob"));
  const auto& shape = json_.at("shape");
  const std::size_t size = shape.at(0).get<std::size_t>() * shape.at(1).get<std::size_t>();
  if (bytes.size() != (size + 7) / 8) {
    throw std::runtime_error("a mask of another size");
  }
  std::vector<bool> bits;
  for (std::size_t i = 0; i < size; ++i) {
    bits.push_back((bytes[i / 8] >> i % 8 & 1) != 0);
  }
  return bits;
}

std::string page_of(std::span<const AttentionDocument> documents, const ExplorerExtras& extras) {
  std::string text;
  write_explorer(documents, extras, [&text](std::string_view bytes) { text += bytes; });
  return text;
}

PageData data_of(const AttentionDocument& document, const ExplorerExtras& extras) {
  return PageData(page_of(std::span(&document, 1), extras));
}

}  // namespace attnviz::test

// Reads a page's data the way its script does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/page/explorer.h"
#include "support/json.h"

namespace attnviz::test {

/// The text of a page's data, between its tags.
std::string_view data_text(std::string_view page);

/// The bytes of a blob: base64 of raw DEFLATE. Throws std::runtime_error if it is not, or has more
/// than 64 MB.
std::vector<std::uint8_t> blob_bytes(std::string_view base64);

/// Little-endian numbers.
std::vector<float> floats_of(const std::vector<std::uint8_t>& bytes);
/// All lower bytes, then all upper ones.
std::vector<std::uint16_t> shorts_of(const std::vector<std::uint8_t>& bytes);

/// A page's data.
class PageData {
 public:
  explicit PageData(std::string_view page);

  const nlohmann::json& operator[](const char* name) const { return json_.at(name); }
  bool has(const char* name) const { return json_.contains(name); }
  std::vector<std::uint8_t> blob(const nlohmann::json& number) const;
  std::vector<float> floats(const nlohmann::json& number) const { return floats_of(blob(number)); }

  /// Which cells a mask shows, row by row.
  std::vector<bool> mask(std::size_t number) const;

  /// The weights of a head [n_queries, n_keys], decoded; weights omitted by a triangle are 0.
  std::vector<float> weights(std::size_t document, std::size_t head) const;

 private:
  nlohmann::json json_;
};

/// A page as it is written.
std::string page_of(std::span<const AttentionDocument> documents,
                    const ExplorerExtras& extras = {});
PageData data_of(const AttentionDocument& document, const ExplorerExtras& extras = {});

}  // namespace attnviz::test

// Writes the vocabulary of a tokenizer.json as a C++ source of tables, at build time.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "attnviz/formats/json_scanner.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace {

using attnviz::JsonScanner;
using attnviz::Vocabulary;

std::string read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The value of a member, as it is written.
std::string_view member(std::string_view object, std::string_view name, const char* file) {
  JsonScanner scanner(object, file);
  bool is_first = true;
  scanner.expect('{');
  while (scanner.next_item('}', is_first)) {
    const bool is_it = scanner.key() == name;
    const std::string_view value = scanner.raw_value();
    if (is_it) {
      return value;
    }
  }
  scanner.fail(fmt::format("a member \"{}\"", name));
}

Vocabulary vocabulary_of(std::string_view object, const char* file) {
  std::size_t n_pieces = 0;
  Vocabulary vocabulary;
  for (const bool is_counted : {false, true}) {
    JsonScanner scanner(object, file);
    bool is_first = true;
    scanner.expect('{');
    vocabulary.reserve(n_pieces, object.size());
    while (scanner.next_item('}', is_first)) {
      const std::string_view piece = scanner.key();
      const std::uint32_t id = scanner.whole_number();
      n_pieces += is_counted ? 0 : 1;
      if (is_counted && !vocabulary.add(piece, id)) {
        scanner.fail("different pieces");
      }
    }
  }
  return vocabulary;
}

std::string source_of(const Vocabulary::Tables& tables, std::size_t begin, std::size_t end) {
  std::string source =
      "#include \"attnviz/text/files/demo_vocabulary.h\"\n\nnamespace attnviz {\n\nnamespace {\n";
  const auto put = [&source]<class... Values>(fmt::format_string<const Values&...> how,
                                              const Values&... values) {
    fmt::format_to(std::back_inserter(source), how, values...);
  };
  put("constexpr char kCharacters[] = \"");
  for (const char c : tables.characters) {
    put("\\x{:02x}", static_cast<unsigned char>(c));
  }
  put("\";\nconstexpr Vocabulary::Entry kEntries[] = {{");
  for (const Vocabulary::Entry& entry : tables.entries) {
    put("{{{{{},{}}},{}}},", entry.place.begin, entry.place.size, entry.id);
  }
  put("}};\nconstexpr Vocabulary::Place kPlaces[] = {{");
  for (const Vocabulary::Place& place : tables.places) {
    put("{{{},{}}},", place.begin, place.size);
  }
  put("}};\nconstexpr Vocabulary::Slot kSlots[] = {{");
  for (const Vocabulary::Slot& slot : tables.slots) {
    put("{{{},{}}},", slot.hash, slot.entry);
  }
  put("}};\n}}  // namespace\n\n"
      "constinit const Vocabulary::Tables kDemoVocabulary = {{\n"
      "    {{kCharacters, sizeof kCharacters - 1}}, kEntries, kPlaces, kSlots, {}}};\n"
      "constinit const ByteRange kDemoVocabularyText = {{{}, {}}};\n\n}}  // namespace attnviz\n",
      tables.longest, begin, end);
  return source;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: attnviz_generate_vocabulary TOKENIZER_JSON SOURCE\n", stderr);
    return 2;
  }
  try {
    const std::string json = read(argv[1]);
    const std::string_view pieces = member(member(json, "model", argv[1]), "vocab", argv[1]);
    const auto begin = static_cast<std::size_t>(pieces.data() - json.data());
    const Vocabulary vocabulary = vocabulary_of(pieces, argv[1]);
    std::ofstream file(argv[2], std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << source_of(vocabulary.tables(), begin, begin + pieces.size());
    file.close();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "attnviz_generate_vocabulary: %s\n", error.what());
    return 1;
  }
  return 0;
}

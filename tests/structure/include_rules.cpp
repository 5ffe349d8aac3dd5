#include "structure/include_rules.h"

#include <algorithm>
#include <array>
#include <optional>

namespace attnviz::test {
namespace {

struct Layer {
  std::string_view name;
  int floor;  // a layer includes lower floors and itself; layers of one floor are strangers
};

constexpr std::array kLayers = {
    Layer{"core", 0}, Layer{"formats", 1},   Layer{"kernels", 1},  Layer{"model", 2},
    Layer{"text", 2}, Layer{"attention", 3}, Layer{"analysis", 4}, Layer{"render", 5},
};

std::optional<Layer> layer_named(std::string_view name) {
  const auto found = std::ranges::find(kLayers, name, &Layer::name);
  return found == kLayers.end() ? std::nullopt : std::optional(*found);
}

// "attnviz/text/labels.h" is in "text".
std::string_view folder_after(std::string_view path, std::string_view prefix) {
  path.remove_prefix(prefix.size());
  return path.substr(0, path.find('/'));
}

struct Include {
  std::string_view name;
  bool quoted;
};

std::optional<Include> parse_include(std::string_view line) {
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  skip_blanks();
  if (!line.starts_with('"') && !line.starts_with('<')) {
    return std::nullopt;
  }
  const bool quoted = line.front() == '"';
  line.remove_prefix(1);
  return Include{line.substr(0, line.find(quoted ? '"' : '>')), quoted};
}

// The standard's headers have neither a folder nor an extension; POSIX ones end in .h.
bool is_third_party(const Include& include) {
  return !include.quoted && include.name.find_first_of("/.") != std::string_view::npos &&
         !include.name.starts_with("sys/") && include.name != "fcntl.h" &&
         include.name != "unistd.h";
}

// Why the library's layer must not include it; empty when it may.
std::string fault_in_library(const Layer& layer, const Include& include, bool is_public_header) {
  if (include.name.starts_with("hwy/")) {
    return layer.name == "kernels" ? "" : "SIMD lives in kernels only";
  }
  if (!include.quoted) {
    return is_public_header && is_third_party(include)
               ? "a public header needs no third-party header"
               : "";
  }
  if (!include.name.starts_with("attnviz/")) {
    return "the library includes its own headers as attnviz/<layer>/…";
  }
  const std::string_view name = folder_after(include.name, "attnviz/");
  const std::optional<Layer> other = layer_named(name);
  if (!other) {
    return "there is no layer " + std::string(name);
  }
  const bool below = other->floor < layer.floor || other->name == layer.name;
  return below ? "" : std::string(layer.name) + " must not know " + std::string(name);
}

std::string fault_of(std::string_view path, const Include& include) {
  if (path.starts_with("app/")) {
    return include.name.starts_with("hwy/") ? "SIMD lives in kernels only" : "";
  }
  if (!path.starts_with("lib/")) {
    return "";  // tests may include everything
  }
  constexpr std::string_view kLibrary = "lib/attnviz/";
  const std::optional<Layer> layer =
      path.starts_with(kLibrary) ? layer_named(folder_after(path, kLibrary)) : std::nullopt;
  if (!layer) {
    return "a source of the library lies in one of its layers";
  }
  const bool is_public_header = path.ends_with(".h") && !path.ends_with("-inl.h");
  return fault_in_library(*layer, include, is_public_header);
}

}  // namespace

std::vector<std::string> structure_faults(std::string_view path, std::string_view content) {
  std::vector<std::string> faults;
  std::size_t n_lines = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    ++n_lines;
    if (const auto include = parse_include(content.substr(begin, end - begin))) {
      if (const std::string fault = fault_of(path, *include); !fault.empty()) {
        faults.push_back(std::string(path) + ":" + std::to_string(n_lines) + ": includes " +
                         std::string(include->name) + ": " + fault);
      }
    }
    begin = end + 1;
  }
  if (n_lines > kMaxLines) {
    faults.push_back(std::string(path) + ": " + std::to_string(n_lines) + " lines, at most " +
                     std::to_string(kMaxLines) + " fit one idea");
  }
  return faults;
}

}  // namespace attnviz::test

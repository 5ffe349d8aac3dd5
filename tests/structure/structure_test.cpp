#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "structure/include_rules.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const char* folder : {"lib", "app", "tests", "samples"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(ATTNVIZ_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

std::string first_fault(const std::string& path, const std::string& content) {
  const std::vector<std::string> faults = test::structure_faults(path, content);
  return faults.empty() ? "" : faults.front();
}

}  // namespace

TEST_CASE("structure: every source keeps to its layer and to its size") {
  const std::vector<fs::path> found = sources();
  REQUIRE(found.size() > 30);
  for (const fs::path& source : found) {
    std::ifstream file(source, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    REQUIRE(!content.empty());
    const std::string path = fs::relative(source, ATTNVIZ_SOURCE_DIR).generic_string();
    for (const std::string& fault : test::structure_faults(path, content)) {
      FAIL_CHECK(fault);
    }
  }
}

TEST_CASE("structure: a layer may include itself and what is to its right") {
  CHECK(first_fault("lib/attnviz/render/png.cpp", "#include \"attnviz/core/tensor.h\"\n") == "");
  CHECK(first_fault("lib/attnviz/render/png.cpp", "#include \"attnviz/render/png.h\"\n") == "");
  CHECK(first_fault("lib/attnviz/model/a.cpp", "#include \"attnviz/formats/npy.h\"\n") == "");
  CHECK(first_fault("app/main.cpp", "#include \"attnviz/render/png.h\"\n") == "");
  CHECK(first_fault("tests/core/a.cpp", "#include \"attnviz/render/png.h\"\n") == "");
}

TEST_CASE("structure: a layer that includes something to its left is a fault, with its place") {
  CHECK(first_fault("lib/attnviz/core/a.cpp",
                    "// A comment.\n#include <vector>\n#include \"attnviz/text/tokenizer.h\"\n") ==
        "lib/attnviz/core/a.cpp:3: includes attnviz/text/tokenizer.h: core must not know text");
  CHECK(first_fault("lib/attnviz/attention/a.h", "  #  include\t\"attnviz/render/png.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/attention/a.h", "#include \"attnviz/analysis/a.h\"") != "");
}

TEST_CASE("structure: folders on one floor are strangers") {
  CHECK(first_fault("lib/attnviz/text/a.cpp", "#include \"attnviz/model/model.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/model/a.cpp", "#include \"attnviz/text/tokenizer.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/kernels/a.cpp", "#include \"attnviz/formats/npy.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/formats/a.cpp", "#include \"attnviz/kernels/simd.h\"\n") != "");
}

TEST_CASE("structure: the library knows neither the program nor a layer that does not exist") {
  CHECK(first_fault("lib/attnviz/render/a.cpp", "#include \"app/options.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/render/a.cpp", "#include \"options.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/render/a.cpp", "#include \"attnviz/plots/a.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/plots/a.cpp", "#include \"attnviz/core/tensor.h\"\n") != "");
}

TEST_CASE("structure: SIMD outside kernels is a fault") {
  CHECK(first_fault("lib/attnviz/kernels/a.cpp", "#include <hwy/highway.h>\n") == "");
  CHECK(first_fault("lib/attnviz/kernels/dot-inl.h", "#include <hwy/highway.h>\n") == "");
  CHECK(first_fault("lib/attnviz/attention/a.cpp", "#include <hwy/highway.h>\n") != "");
  CHECK(first_fault("app/show.cpp", "#include <hwy/highway.h>\n") != "");
}

TEST_CASE("structure: a public header includes the standard library and our own headers only") {
  CHECK(first_fault("lib/attnviz/render/a.h", "#include <string_view>\n") == "");
  CHECK(first_fault("lib/attnviz/render/a.cpp", "#include <fmt/format.h>\n") == "");
  CHECK(first_fault("lib/attnviz/render/a.h", "#include <fmt/format.h>\n") != "");
  CHECK(first_fault("lib/attnviz/text/a.h", "#include <utf8proc.h>\n") != "");
}

TEST_CASE("structure: a source of more than 450 lines is a fault") {
  std::string content;
  for (int i = 0; i < 450; ++i) {
    content += "\n";
  }
  CHECK(first_fault("app/main.cpp", content) == "");
  CHECK(first_fault("app/main.cpp", content + "\n") ==
        "app/main.cpp: 451 lines, at most 450 fit one idea");
}

}  // namespace attnviz

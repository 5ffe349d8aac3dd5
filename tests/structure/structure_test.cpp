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

TEST_CASE("structure: every source keeps to its room and to its size") {
  const std::vector<fs::path> found = sources();
  REQUIRE(found.size() > 30);
  std::vector<std::string> paths;
  for (const fs::path& source : found) {
    std::ifstream file(source, std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    REQUIRE(!content.empty());
    paths.push_back(fs::relative(source, ATTNVIZ_SOURCE_DIR).generic_string());
    for (const std::string& fault : test::structure_faults(paths.back(), content)) {
      FAIL_CHECK(fault);
    }
  }
  for (const std::string& fault : test::folder_faults(paths)) {
    FAIL_CHECK(fault);
  }
}

TEST_CASE("structure: a room may include itself and what is below") {
  CHECK(first_fault("lib/attnviz/picture/figure_file.cpp",
                    "#include \"attnviz/core/tensor.h\"\n") == "");
  CHECK(first_fault("lib/attnviz/picture/figure_file.cpp",
                    "#include \"attnviz/picture/figure_file.h\"\n") == "");
  CHECK(first_fault("lib/attnviz/model/a.cpp", "#include \"attnviz/formats/npy.h\"\n") == "");
  CHECK(first_fault("app/main.cpp", "#include \"commands/show.h\"\n") == "");
  CHECK(first_fault("app/commands/a.cpp", "#include \"attnviz/picture/figure_file.h\"\n") == "");
  CHECK(first_fault("tests/core/a.cpp", "#include \"attnviz/picture/figure_file.h\"\n") == "");
}

TEST_CASE("structure: a room that includes something above is a fault, with its position") {
  CHECK(first_fault("lib/attnviz/core/a.cpp",
                    "// A comment.\n#include <vector>\n#include \"attnviz/text/tokenizer.h\"\n") ==
        "lib/attnviz/core/a.cpp:3: includes attnviz/text/tokenizer.h: core must not know text");
  CHECK(first_fault("lib/attnviz/attention/a.h", "  #  include\t\"attnviz/color/a.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/attention/a.h", "#include \"attnviz/analysis/a.h\"") != "");
}

TEST_CASE("structure: sub-rooms have their own floors") {
  CHECK(first_fault("lib/attnviz/report/json/a.cpp", "#include \"attnviz/report/a.h\"") == "");
  CHECK(first_fault("lib/attnviz/report/a.cpp", "#include \"attnviz/report/json/a.h\"") ==
        "lib/attnviz/report/a.cpp:1: includes attnviz/report/json/a.h: report must not know "
        "report/json");
  CHECK(first_fault("lib/attnviz/report/words/a.h", "#include \"attnviz/report/a.h\"") != "");
  CHECK(first_fault("lib/attnviz/model/a.cpp", "#include \"attnviz/model/families/a.h\"") == "");
  CHECK(first_fault("app/options/a.cpp", "#include \"commands/show.h\"") ==
        "app/options/a.cpp:1: includes commands/show.h: options must not know commands");
}

TEST_CASE("structure: rooms on one floor may not include each other") {
  CHECK(first_fault("lib/attnviz/text/a.cpp", "#include \"attnviz/model/model.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/model/a.cpp", "#include \"attnviz/text/tokenizer.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/kernels/a.cpp", "#include \"attnviz/formats/npy.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/formats/a.cpp", "#include \"attnviz/kernels/simd.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/color/a.cpp", "#include \"attnviz/analysis/a.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/picture/a.cpp", "#include \"attnviz/terminal/page/a.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/terminal/a.cpp", "#include \"attnviz/picture/scene/a.h\"\n") !=
        "");
  CHECK(first_fault("lib/attnviz/text/files/a.cpp", "#include \"attnviz/model/a.h\"\n") != "");
  CHECK(first_fault("app/stores/a.cpp", "#include \"outputs/a.h\"\n") != "");
}

TEST_CASE("structure: the library knows neither the program nor a room that does not exist") {
  CHECK(first_fault("lib/attnviz/picture/a.cpp", "#include \"app/options.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/picture/a.cpp", "#include \"options.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/picture/a.cpp", "#include \"attnviz/plots/a.h\"\n") != "");
  CHECK(first_fault("lib/attnviz/plots/a.cpp", "#include \"attnviz/core/tensor.h\"\n") != "");
}

TEST_CASE("structure: a string of the library that names an option is a fault") {
  CHECK(first_fault("lib/attnviz/text/a.cpp", "fail(\"give --head\");\n") ==
        "lib/attnviz/text/a.cpp:1: the library knows parameters, no options");
  CHECK(first_fault("lib/attnviz/text/a.cpp", "a(\"\\\"\", b--); --count;  // as \"--head\"\n") ==
        "");
  CHECK(first_fault("lib/attnviz/text/a.cpp", "a(\"--\", \"a -- b\");\n") == "");
  CHECK(first_fault("app/options/a.cpp", "fail(\"give --head\");\n") == "");
}

TEST_CASE("structure: SIMD outside kernels is a fault") {
  CHECK(first_fault("lib/attnviz/kernels/a.cpp", "#include <hwy/highway.h>\n") == "");
  CHECK(first_fault("lib/attnviz/kernels/dot-inl.h", "#include <hwy/highway.h>\n") == "");
  CHECK(first_fault("lib/attnviz/attention/a.cpp", "#include <hwy/highway.h>\n") != "");
  CHECK(first_fault("app/commands/show.cpp", "#include <hwy/highway.h>\n") != "");
}

TEST_CASE("structure: only core and the program's system include POSIX headers") {
  CHECK(first_fault("lib/attnviz/core/a.cpp", "#include <sys/mman.h>\n") == "");
  CHECK(first_fault("app/system/a.cpp", "#include <unistd.h>\n") == "");
  CHECK(first_fault("tests/cli/a.cpp", "#include <unistd.h>\n") == "");
  CHECK(first_fault("app/commands/a.cpp", "#include <csignal>\n") == "");
  for (const char* header : {"unistd.h", "sys/stat.h", "fcntl.h", "dlfcn.h", "linux/landlock.h"}) {
    CAPTURE(header);
    const std::string include = "#include <" + std::string(header) + ">\n";
    CHECK(first_fault("lib/attnviz/formats/a.cpp", include) != "");
    CHECK(first_fault("app/commands/a.cpp", include) != "");
  }
}

TEST_CASE("structure: a header includes only the standard library and our own headers") {
  CHECK(first_fault("lib/attnviz/picture/a.h", "#include <string_view>\n") == "");
  CHECK(first_fault("lib/attnviz/picture/a.cpp", "#include <fmt/format.h>\n") == "");
  CHECK(first_fault("lib/attnviz/picture/a.h", "#include <fmt/format.h>\n") != "");
  CHECK(first_fault("lib/attnviz/text/a.h", "#include <utf8proc.h>\n") != "");
}

TEST_CASE("structure: crowded folders and headers of one name are faults") {
  std::vector<std::string> paths = {"lib/attnviz/text/rope.h", "lib/attnviz/model/rope.h"};
  REQUIRE(test::folder_faults(paths).size() == 1);
  CHECK(test::folder_faults(paths).front() ==
        "lib/attnviz/model/rope.h: has the name of lib/attnviz/text/rope.h");
  paths.clear();
  for (std::size_t i = 0; i <= test::kMaxSources; ++i) {
    paths.push_back("lib/attnviz/text/" + std::to_string(i) + ".cpp");
  }
  REQUIRE(test::folder_faults(paths).size() == 1);
  paths.pop_back();
  CHECK(test::folder_faults(paths).empty());
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

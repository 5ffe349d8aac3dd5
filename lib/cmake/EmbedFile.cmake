# Writes a file's bytes as a C++ source. Run as a script:
#   cmake -DINPUT=<file> -DOUTPUT=<source> -DHEADER=<include> -DNAME=<identifier> -P EmbedFile.cmake
# The source defines attnviz::<NAME>, a std::span<const unsigned char> that HEADER declares. Compilers
# read a literal many times faster than a list of numbers.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
file(WRITE "${OUTPUT}.new"
"#include \"${HEADER}\"

namespace attnviz {

namespace {
alignas(64) constexpr unsigned char kBytes[] = \"${bytes}\";
}  // namespace

const std::span<const unsigned char> ${NAME}{kBytes, sizeof(kBytes) - 1};

}  // namespace attnviz
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")

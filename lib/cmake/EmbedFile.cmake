# Writes a C++ source that has a file's bytes. Run as a script:
#   cmake -DINPUT=<file> -DOUTPUT=<source> -DHEADER=<include> -DNAME=<identifier> -P EmbedFile.cmake
# The source defines attnviz::<NAME>, a std::span<const unsigned char> that HEADER declares. The
# assembler takes the bytes as they are, where a literal of megabytes takes a compiler seconds.
file(SIZE "${INPUT}" size)
string(REGEX REPLACE "([\\\"])" "\\\\\\1" path "${INPUT}")
file(WRITE "${OUTPUT}.new"
"#include \"${HEADER}\"

asm(R\"asm(
.pushsection .rodata
.balign 64
.globl attnviz_${NAME}
.hidden attnviz_${NAME}
attnviz_${NAME}: .incbin \"${path}\"
.byte 0
.popsection
)asm\");

extern \"C\" [[gnu::visibility(\"hidden\")]] const unsigned char attnviz_${NAME}[];

namespace attnviz {

const std::span<const unsigned char> ${NAME}{attnviz_${NAME}, ${size}};

}  // namespace attnviz
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")

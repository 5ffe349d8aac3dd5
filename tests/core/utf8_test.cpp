#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "attnviz/core/utf8.h"

namespace attnviz {

TEST_CASE("decode_utf8: overlong forms, surrogates and cut sequences are single invalid bytes") {
  for (const std::string_view bad :
       {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xFF"}) {
    CAPTURE(bad);
    const CodePoint point = decode_utf8(bad, 0);
    CHECK_FALSE(point.valid);
    CHECK(point.length == 1);
    CHECK(point.value == static_cast<unsigned char>(bad[0]));
  }
  const CodePoint cat = decode_utf8("x猫", 1);
  CHECK(cat.valid);
  CHECK(cat.value == 0x732B);
  CHECK(cat.length == 3);
}

TEST_CASE("display_width: columns of a terminal") {
  CHECK(display_width("cat") == 3);
  CHECK(display_width("猫") == 2);
  CHECK(display_width("cafe\u0301") == 4);
  CHECK(display_width("👩‍👩‍👧") == 2);
  CHECK(display_width("👍🏽") == 2);
  CHECK(display_width("🇩🇪") == 2);
  CHECK(display_width("❤️") == 2);  // a text character with emoji presentation
  CHECK(display_width("␠") == 1);
  CHECK(display_width("") == 0);
}

TEST_CASE("printable: white space becomes visible, and no control sequence reaches the terminal") {
  CHECK(printable(" \t\n") == "␠⇥⏎");
  CHECK(printable("\x1b[31m") == "\\x1B[31m");
  CHECK(printable(std::string_view("\0\x7f\r", 3)) == "\\x00\\x7F\\x0D");
  CHECK(printable("\u009b") == "\\u{009B}");  // the C1 form of ESC [
  CHECK(printable("\u202e") == "\\u{202E}");  // right-to-left override
  CHECK(printable("\u2066\u200b\ufeff") == "\\u{2066}\\u{200B}\\u{FEFF}");
  CHECK(printable("\u00a0\u3000") == "\\u{00A0}\\u{3000}");
  CHECK(printable("\u2028") == "\\u{2028}");
  CHECK(printable("a\xFF\xC3\x80\xC3z") == "a<FF>\xC3\x80<C3>z");
  CHECK(printable("猫 é") == "猫␠é");
}

TEST_CASE("printable: an emoji sequence keeps its joiners, a stray joiner shows") {
  CHECK(printable("👩‍👩‍👧") == "👩‍👩‍👧");
  CHECK(printable("👩🏽‍🚀") == "👩🏽‍🚀");
  CHECK(printable("❤️‍🔥") == "❤️‍🔥");
  CHECK(printable("a\u200db") == "a\\u{200D}b");
  CHECK(printable("👩\u200d") == "👩\\u{200D}");
}

TEST_CASE("printable_message: words and lines stay readable") {
  CHECK(printable_message("no file \x1b]0;x\x07\nnext") == "no file \\x1B]0;x\\x07\nnext");
}

TEST_CASE("printable_ascii: 7 bits for everything") {
  CHECK(printable_ascii("a 猫\t\n\xFF\x1b") == "a\\s\\u{732B}\\t\\n<FF>\\x1B");
}

TEST_CASE("valid_utf8: only broken bytes change") {
  CHECK(valid_utf8("a\x1b猫\xFF") == "a\x1b猫<FF>");
}

TEST_CASE("fit_width: cuts between clusters and never exceeds the width") {
  CHECK(fit_width("attention", 9) == "attention");
  CHECK(fit_width("attention", 5) == "atte…");
  CHECK(fit_width("attention", 1) == "a");
  CHECK(fit_width("attention", 0).empty());
  CHECK(fit_width("猫猫猫", 4) == "猫…");  // half a wide character cannot be drawn
  CHECK(fit_width("👩‍👩‍👧👩‍👩‍👧", 3) == "👩‍👩‍👧…");
  CHECK(fit_width("attention", 5, "~") == "atte~");
}

TEST_CASE("pad: fills up to the columns, counting wide characters twice") {
  CHECK(pad_left("猫", 4) == "  猫");
  CHECK(pad_right("猫", 4) == "猫  ");
  CHECK(pad_left("attention", 4) == "attention");
}

TEST_CASE("printable: escaped bytes keep their spaces, text does not") {
  CHECK(printable(valid_utf8(" \xF0\x9F")) == "␠<F0 9F>");
  CHECK(printable_ascii(valid_utf8(" \xF0\x9F\x90 ")) == "\\s<F0 9F 90>\\s");
  CHECK(printable("<F0>") == "<F0>");
  for (const char* text : {"<F0 9>", "<F0 9F", "<f0 9f>", "<F0  9F>", "< F0>"}) {
    CAPTURE(text);
    CHECK(printable(text).find(' ') == std::string::npos);
  }
}

TEST_CASE("ascii_lower: only letters from A to Z, none of other alphabets") {
  CHECK(ascii_lower("@AZ[ Q4_K_M.GGUF") == "@az[ q4_k_m.gguf");
  CHECK(ascii_lower("\u00C4\xFF") == "\u00C4\xFF");
  CHECK(ascii_lower("").empty());
}

}  // namespace attnviz

#include "support/malformed_weights.h"

#include <stdexcept>
#include <string_view>

#include "support/repeated.h"

namespace attnviz::test {

namespace {

constexpr std::string_view kValid = R"({
  "schema": "attnviz.weights/1",
  "d_model": 2,
  "mask": "causal",
  "embeddings": {"cat": [1, 0], "sat": [0, 1]},
  "layers": [
    {
      "heads": [
        {"W_Q": [[1, 2], [3, 4]], "W_K": [[5, 6], [7, 8]], "W_V": [[9], [10]]},
        {"W_Q": [[11, 12], [13, 14]], "W_K": [[15, 16], [17, 18]], "W_V": [[19, 20], [21, 22]]}
      ],
      "W_O": [[1, 0], [0, 1], [1, 1]]
    },
    {
      "heads": [{"W_Q": [[1], [2]], "W_K": [[3], [4]], "W_V": [[5], [6]]}]
    }
  ]
}
)";

// The valid file with the first `from` replaced.
std::string edited(std::string_view from, std::string_view to) {
  std::string text(kValid);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw std::logic_error("no such text in the valid weights: " + std::string(from));
  }
  return text.replace(at, from.size(), to);
}

std::string with_key(std::string_view member) {
  return edited("\"d_model\": 2,", "\"d_model\": 2, " + std::string(member) + ",");
}

void add_syntax(std::vector<MalformedWeights>& cases) {
  const auto add = [&](const char* what, std::string bytes, const char* message) {
    cases.push_back({what, std::move(bytes), message});
  };
  add("empty file", "", "expected JSON, found an empty file");
  add("blank file", " \n\t\r\n", "expected JSON, found an empty file");
  add("only a byte order mark", "\xEF\xBB\xBF", "expected JSON, found an empty file");
  add("not JSON at all", "PK zip", "line 1, column 1: expected a value, found PK");
  add("NaN", edited("[1, 2]", "[1, NaN]"),
      "line 9, column 22: expected a value, found NaN (in layers[0].heads[0].W_Q[0])");
  add("nan", edited("[1, 2]", "[1, nan]"), "line 9, column 22: expected a value, found nan");
  add("Infinity", edited("[1, 2]", "[Infinity, 2]"),
      "line 9, column 19: expected a value, found Infinity");
  add("-Infinity", edited("[1, 2]", "[1, -Infinity]"),
      "line 9, column 22: expected a value, found -Infinity");
  add("Python's None", edited("\"causal\"", "None"),
      "line 4, column 11: expected a value, found None");
  add("Python's True", with_key("\"residual\": True"),
      "line 3, column 29: expected a value, found True");
  add("an exponent beyond doubles", edited("[1, 2]", "[1, 1e999]"),
      "line 9, column 22: expected a number that fits a 32-bit float (up to 3.4e38), found 1e999");
  add("an exponent beyond floats", edited("[1, 2]", "[-1e39, 2]"),
      "line 9, column 19: expected a number that fits a 32-bit float (up to 3.4e38), found -1e39");
  add("a leading zero", edited("[1, 2]", "[01, 2]"),
      "line 9, column 19: expected a value, found 01");
  add("a leading plus", edited("[1, 2]", "[+1, 2]"),
      "line 9, column 19: expected a value, found +1");
  add("no digit before the point", edited("[1, 2]", "[.5, 2]"),
      "line 9, column 19: expected a value, found .5");
  add("no digit after the point", edited("[1, 2]", "[1, 2.]"),
      "line 9, column 22: expected a value, found 2.");
  add("a hexadecimal number", edited("[1, 2]", "[1, 0x10]"),
      "line 9, column 22: expected a value, found 0x10");
  add("a decimal comma too many", edited("[1, 2]", "[1,, 2]"),
      "line 9, column 21: expected a value, found ,");
  add("a trailing comma in a list", edited("[1, 2]", "[1, 2,]"),
      "line 9, column 24: expected a value, found ]");
  add("a trailing comma in an object", edited("\"W_V\": [[9], [10]]}", "\"W_V\": [[9], [10]],}"),
      "line 9, column 79: expected a key in double quotes, found }");
  add("a missing comma in a list", edited("[1, 2]", "[1 2]"),
      "line 9, column 21: expected a comma or ], found 2");
  add("a missing comma between rows", edited("[1, 2], ", "[1, 2] "),
      "line 9, column 25: expected a comma or ], found [");
  add("a missing comma between members", edited("\"d_model\": 2,", "\"d_model\": 2"),
      "line 4, column 3: expected a comma or }, found \"mask\"");
  add("a missing colon", edited("\"d_model\": 2", "\"d_model\" 2"),
      "line 3, column 13: expected a colon (:), found 2");
  add("a missing value", edited("\"d_model\": 2,", "\"d_model\": ,"),
      "line 3, column 14: expected a value, found ,");
  add("a wrong bracket", edited("[1, 2]", "[1, 2}"),
      "line 9, column 23: expected a comma or ], found }");
  add("a key without quotes", edited("\"d_model\"", "d_model"),
      "line 3, column 3: expected a key in double quotes, found d_model");
  add("single quotes", edited("\"causal\"", "'causal'"),
      "line 4, column 11: expected a value, found 'causal'");
  add("a comment", edited("\"d_model\": 2,", "\"d_model\": 2, // width"),
      "line 3, column 17: expected a key in double quotes, found //");
  add("a line feed in a string", edited("\"causal\"", "\"cau\nsal\""),
      "line 4, column 15: expected a closing quote before the end of the line");
  add("a control character in a string", edited("causal", "cau\x1Bsal"),
      "line 4, column 15: expected \\u001B instead of the control character");
  add("an unknown escape", edited("causal", "cau\\qsal"),
      "line 4, column 16: expected an escape such as");
  add("a lone surrogate", edited("causal", "\\uD83D causal"),
      "line 4, column 18: expected an escape");
  add("an invalid UTF-8 byte in a string", edited("causal", "ca\xFFusal"),
      "line 4, column 14: expected UTF-8, found the byte <FF>");
  add("an invalid UTF-8 byte outside of strings", edited("\"mask\"", "\xFE\"mask\""),
      "line 4, column 3: expected UTF-8, found the byte <FE>");
  add("an overlong UTF-8 form", edited("causal", "\xC0\xAF"),
      "line 4, column 12: expected UTF-8, found the byte <C0>");
  add("UTF-16", std::string("{\0\"\0", 4), "line 1, column 2: expected text, found a NUL byte");
  add("a NUL byte after the document", std::string(kValid) + '\0',
      "line 19, column 1: expected text, found a NUL byte");
  add("trailing garbage", std::string(kValid) + "garbage",
      "line 19, column 1: expected the end of the file, found garbage");
  add("two documents", std::string(kValid) + std::string(kValid),
      "line 19, column 1: expected the end of the file, found {");
  const std::string valid(kValid);
  add("cut in the middle of a matrix", valid.substr(0, valid.find("4]], \"W_K\"")),
      "line 9, column 30: the file ends too early: expected a value");
  add("cut before the last bracket", valid.substr(0, valid.rfind('}')),
      "line 18, column 1: the file ends too early: expected a comma or }");
  add("cut in the middle of a string", valid.substr(0, valid.find("ausal")),
      "line 4, column 13: the file ends too early: expected a closing quote");
  add("cut in the middle of a word", "{\"residual\": tru",
      "line 1, column 17: the file ends too early: expected a value");
  add("nested 100,000 deep", repeated("[", 100000), "[0]: expected at most 64 levels of brackets");
  add("objects nested 100,000 deep", repeated("{\"a\": ", 100000),
      "a: expected at most 64 levels of brackets, found more");
  add("nested too deep in a matrix", edited("[1, 2]", repeated("[", 70)),
      "layers: expected at most 64 levels of brackets, found more");
}

void add_keys(std::vector<MalformedWeights>& cases) {
  const auto add = [&](const char* what, std::string bytes, const char* message) {
    cases.push_back({what, std::move(bytes), message});
  };
  add("a list instead of the object", "[]", "expected an object, found an empty list");
  add("a string instead of the object", "\"w\"", "expected an object, found a string");
  add("null instead of the object", "null", "expected an object, found null");
  add("an empty object", "{}", "missing key \"layers\"");
  add("an unknown key", edited("\"mask\"", "\"maks\""),
      "unknown key \"maks\" (did you mean \"mask\"?)");
  add("an unknown key like no other", with_key("\"favourite_colour\": \"red\""),
      "unknown key \"favourite_colour\"");
  add("an empty key", with_key("\"\": 1"), "unknown key \"\"");
  add("an unknown key in a layer", edited("\"W_O\"", "\"W_0\""),
      "layers[0]: unknown key \"W_0\" (did you mean \"W_O\"?)");
  add("an unknown key in a head", edited("\"W_Q\"", "\"W_q\""),
      "layers[0].heads[0]: unknown key \"W_q\" (did you mean \"W_Q\"?)");
  add("a duplicate key", with_key("\"d_model\": 2"), "duplicate key \"d_model\"");
  add("a duplicate token", edited("\"sat\"", "\"cat\""), "embeddings: duplicate key \"cat\"");
  add("a duplicate matrix", edited("\"W_K\"", "\"W_Q\""),
      "layers[0].heads[0]: duplicate key \"W_Q\"");
  add("a duplicate written with an escape", edited("\"sat\"", "\"c\\u0061t\""),
      "embeddings: duplicate key \"cat\"");
  add("no W_K", edited("\"W_K\": [[5, 6], [7, 8]], ", ""),
      "layers[0].heads[0]: missing key \"W_K\"");
  add("no heads",
      edited("\"heads\": [{\"W_Q\": [[1], [2]], \"W_K\": [[3], [4]], \"W_V\": [[5], [6]]}]", ""),
      "layers[1]: missing key \"heads\"");
  cases.push_back({"a schema of the future", edited("weights/1", "weights/2"),
                   "schema: expected \"attnviz.weights/1\", found \"attnviz.weights/2\"",
                   ErrorKind::kUnsupported});
  cases.push_back({"another attnviz document",
                   "{\"schema\": \"attnviz.attention/1\", \"tokens\": []}",
                   "schema: expected \"attnviz.weights/1\", found \"attnviz.attention/1\"",
                   ErrorKind::kUnsupported});
  add("a schema that is not a string", edited("\"attnviz.weights/1\"", "1"),
      "schema: expected a string, found a number");
  add("an unknown mask", edited("causal", "casual"),
      "mask \"casual\": expected causal, none, window");
  add("a mask without its size", edited("causal", "window"), "mask \"window\": expected window:N");
  add("unknown positions", with_key("\"positions\": \"sinusoid\""),
      "positions \"sinusoid\": expected none, sinusoidal, rope or alibi (did you mean");
  add("an unknown tokenizer", with_key("\"tokenizer\": \"word\""),
      "tokenizer: expected words or chars or bytes, found \"word\" (did you mean \"words\"?)");
  add("an unknown convention", with_key("\"convention\": \"col\""),
      "convention: expected row or column, found \"col\"");
  add("an unknown \"unknown\"", with_key("\"unknown\": \"zero\""),
      "unknown: expected random or error, found \"zero\"");
  add("residual as a number", with_key("\"residual\": 1"),
      "residual: expected true or false, found a number");
  add("a negative seed", with_key("\"seed\": -1"),
      "seed: expected a whole number from 0 to 2^64 - 1, found -1");
  add("d_model as a string", edited("\"d_model\": 2", "\"d_model\": \"2\""),
      "d_model: expected a whole number, found a string");
  add("d_model with a fraction", edited("\"d_model\": 2", "\"d_model\": 2.5"),
      "d_model: expected a whole number from 0 to 2^64 - 1, found 2.5");
  add("d_model with a point", edited("\"d_model\": 2", "\"d_model\": 2.0"),
      "d_model: expected a whole number from 0 to 2^64 - 1, found 2.0");
  add("a d_model of 0", edited("\"d_model\": 2", "\"d_model\": 0"),
      "d_model: expected at least 1, found 0");
  add("a huge d_model", edited("\"d_model\": 2", "\"d_model\": 18446744073709551615"),
      "embeddings.cat: expected 18446744073709551615 numbers, found 2");
}

void add_shapes(std::vector<MalformedWeights>& cases) {
  const auto add = [&](const char* what, std::string bytes, const char* message) {
    cases.push_back({what, std::move(bytes), message});
  };
  add("a ragged row", edited("[7, 8]", "[7]"),
      "layers[0].heads[0].W_K: expected 2 columns, found 1 (row 1)");
  add("a row too long", edited("[17, 18]", "[17, 18, 19]"),
      "layers[0].heads[1].W_K: expected 2 columns, found 3 (row 1)");
  add("an empty row", edited("[7, 8]", "[]"),
      "layers[0].heads[0].W_K: expected 2 columns, found 0 (row 1)");
  add("fewer columns in W_K than in W_Q", edited("[[5, 6], [7, 8]]", "[[5], [7]]"),
      "layers[0].heads[0].W_K: expected 2 columns, found 1 (d_head, from W_Q, is 2)");
  add("too few rows", edited("[[1, 2], [3, 4]]", "[[1, 2]]"),
      "layers[0].heads[0].W_Q: expected 2 rows, found 1 (d_model is 2)");
  add("too many rows in W_V", edited("[[9], [10]]", "[[9], [10], [11]]"),
      "layers[0].heads[0].W_V: expected 2 rows, found 3 (d_model is 2)");
  add("too few rows in W_O", edited("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [0, 1]]"),
      "layers[0].W_O: expected 3 rows, found 2 (the sum of the heads' d_value is 3)");
  add("too many columns in W_O",
      edited("[[1, 0], [0, 1], [1, 1]]", "[[1, 0, 0], [0, 1, 0], [1, 1, 0]]"),
      "layers[0].W_O: expected 2 columns, found 3 (d_model is 2)");
  add("rows and columns mixed up",
      "{\"convention\": \"column\", \"d_model\": 2, \"layers\": [{\"heads\": [{\"W_Q\": [[1], "
      "[2]], "
      "\"W_K\": [[1], [2]], \"W_V\": [[1], [2]]}]}]}",
      "layers[0].heads[0].W_Q: expected 2 columns, found 1 (d_model is 2)");
  add("a string for a matrix", edited("[[5, 6], [7, 8]]", "\"random\""),
      "layers[0].heads[0].W_K: expected a matrix of numbers, found a string");
  add("an object for a matrix", edited("[[5, 6], [7, 8]]", "{}"),
      "layers[0].heads[0].W_K: expected a matrix of numbers, found an object");
  add("a list for a matrix", edited("[[5, 6], [7, 8]]", "[5, 6]"),
      "layers[0].heads[0].W_K: expected a matrix of numbers, found a list of numbers");
  add("a list of matrices for a matrix", edited("[[5, 6], [7, 8]]", "[[[5, 6]], [[7, 8]]]"),
      "layers[0].heads[0].W_K: expected a matrix of numbers, found a list");
  add("an empty matrix", edited("[[5, 6], [7, 8]]", "[]"),
      "layers[0].heads[0].W_K: expected a matrix of numbers, found an empty list");
  add("a matrix of empty rows", edited("[[1, 2], [3, 4]]", "[[], []]"),
      "layers[0].heads[0].W_Q: expected at least 1 column, found empty rows");
  add("null in the first row", edited("[5, 6]", "[5, null]"),
      "layers[0].heads[0].W_K[0]: expected a number, found null (item 1)");
  add("a string in the second row", edited("[7, 8]", "[7, \"8\"]"),
      "layers[0].heads[0].W_K: expected a number, found a string (item 1) (row 1)");
  add("a number among rows", edited("[7, 8]", "7"),
      "layers[0].heads[0].W_K: expected a row of 2 numbers, found a number (row 1)");
  add("a row among numbers", edited("\"cat\": [1, 0]", "\"cat\": [1, [0]]"),
      "embeddings.cat: expected a number, found a list of numbers (item 1)");
  add("a bias too long", edited("\"W_V\": [[9], [10]]", "\"W_V\": [[9], [10]], \"b_Q\": [1, 2, 3]"),
      "layers[0].heads[0].b_Q: expected 2 numbers, found 3 (d_head, from W_Q, is 2)");
  add("a bias too short", edited("\"W_V\": [[9], [10]]", "\"W_V\": [[9], [10]], \"b_V\": []"),
      "layers[0].heads[0].b_V: expected 1 number, found 0 (d_value, from W_V, is 1)");
  add("a bias as a matrix",
      edited("\"W_V\": [[9], [10]]", "\"W_V\": [[9], [10]], \"b_K\": [[1, 2]]"),
      "layers[0].heads[0].b_K: expected a list of numbers, found a matrix of numbers");
  add("an output bias too short",
      edited("\"W_O\": [[1, 0], [0, 1], [1, 1]]",
             "\"W_O\": [[1, 0], [0, 1], [1, 1]], \"b_O\": [1]"),
      "layers[0].b_O: expected 2 numbers, found 1 (d_model is 2)");
  add("an output bias without an output",
      edited("\"W_V\": [[5], [6]]}]", "\"W_V\": [[5], [6]]}], \"b_O\": [1, 2]"),
      "layers[1].b_O: expected a W_O beside it, found none");
  add("W_O for heads and for the layer",
      edited("\"W_V\": [[9], [10]]", "\"W_V\": [[9], [10]], \"W_O\": [[1, 1]]"),
      "layers[0].W_O: expected either one W_O a head or one a layer, found both");
  add("W_O in one head of two",
      edited("\"W_V\": [[19, 20], [21, 22]]}\n      ],\n      \"W_O\": [[1, 0], [0, 1], [1, 1]]",
             "\"W_V\": [[19, 20], [21, 22]], \"W_O\": [[1, 0], [0, 1]]}\n      ]"),
      "layers[0].heads[0]: missing key \"W_O\", which layers[0].heads[1] has");
  add("a head's W_O with a wrong shape",
      edited("\"W_V\": [[5], [6]]}", "\"W_V\": [[5], [6]], \"W_O\": [[1, 2], [3, 4]]}"),
      "layers[1].heads[0].W_O: expected 1 row, found 2 (d_value, from W_V, is 1)");
  add("no W_O below the last layer", edited(",\n      \"W_O\": [[1, 0], [0, 1], [1, 1]]", ""),
      "layers[0]: missing key \"W_O\": only the last layer may leave it out");
  add("no layers", "{\"layers\": []}", "layers: expected at least 1 layer, found an empty list");
  add("layers as an object", "{\"layers\": {}}",
      "layers: expected a list of layers, found an object");
  add("a layer that is a number", "{\"layers\": [1]}",
      "layers: expected a list of layers, found a list of numbers");
  add("a layer that is a string", "{\"layers\": [\"a\"]}",
      "layers[0]: expected an object, found a string");
  add("no heads in a layer", "{\"layers\": [{\"heads\": []}]}",
      "layers[0].heads: expected at least 1 head, found an empty list");
  add("heads as a matrix", "{\"layers\": [{\"heads\": [[1]]}]}",
      "layers[0].heads: expected a list of heads, found a matrix of numbers");
  add("a head that is null", "{\"d_model\": 1, \"layers\": [{\"heads\": [null]}]}",
      "layers[0].heads[0]: expected an object, found null");
  add("inputs and embeddings", with_key("\"inputs\": [[1, 2]]"),
      "inputs: expected either \"inputs\" by position or \"embeddings\" by token, found both");
  add("inputs of another width",
      edited("\"embeddings\": {\"cat\": [1, 0], \"sat\": [0, 1]}", "\"inputs\": [[1, 2, 3]]"),
      "inputs: expected 2 columns, found 3 (d_model is 2)");
  add("empty inputs",
      edited("\"embeddings\": {\"cat\": [1, 0], \"sat\": [0, 1]}", "\"inputs\": []"),
      "inputs: expected a matrix of numbers, found an empty list");
  add("no embeddings in the object", edited("{\"cat\": [1, 0], \"sat\": [0, 1]}", "{}"),
      "embeddings: expected at least 1 token, found an empty object");
  add("embeddings as a matrix", edited("{\"cat\": [1, 0], \"sat\": [0, 1]}", "[[1, 0]]"),
      "embeddings: expected an object, found a matrix of numbers");
  add("an embedding too short", edited("\"sat\": [0, 1]", "\"the cat\": [0]"),
      "embeddings[\"the cat\"]: expected 2 numbers, found 1 (d_model is 2)");
  add("an embedding that is a number", edited("\"sat\": [0, 1]", "\"sat\": 7"),
      "embeddings.sat: expected a list of numbers, found a number");
}

}  // namespace

std::string valid_weights() {
  return std::string(kValid);
}

std::vector<MalformedWeights> malformed_weights() {
  std::vector<MalformedWeights> cases;
  add_syntax(cases);
  add_keys(cases);
  add_shapes(cases);
  return cases;
}

}  // namespace attnviz::test

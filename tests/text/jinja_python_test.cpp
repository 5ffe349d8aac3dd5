// Python's own behaviour in Jinja: printed like jinja2 3.1, or refused with a message.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/text/template/jinja.h"

namespace attnviz::templates {

namespace {

std::string rendered(std::string_view source) {
  try {
    return run_jinja(source, "t", Map()).text;
  } catch (const Error& error) {
    return std::string("[") + error.what() + "]";
  }
}

struct Case {
  std::string_view source, expected;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    CAPTURE(one.source);
    CHECK(rendered(one.source) == one.expected);
  }
}

void check_refused(std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    const std::string found = rendered(one.source);
    CAPTURE(one.source);
    CAPTURE(found);
    CHECK(found.starts_with("[t: line 1, column "));
    CHECK(found.find(one.expected) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("Jinja: tojson takes the arguments of transformers, by position") {
  check({{"{{ {'b':1,'a':2}|tojson(sort_keys=true) }}", R"({"a": 2, "b": 1})"},
         {"{{ {'b':1,'a':2}|tojson(separators=(',',':')) }}", R"({"b":1,"a":2})"},
         {"{{ [1,2]|tojson(indent=1, separators=('; ',':')) }}", "[\n 1; \n 2\n]"},
         {"{{ 'é🙂'|tojson(ensure_ascii=true) }}", "\"\\u00e9\\ud83d\\ude42\""},
         {"{{ 'é🙂'|tojson(true) }}", R"("\u00e9\ud83d\ude42")"},
         {"{{ [1]|tojson(4) }}", "[1]"},
         {"{{ [1]|tojson(none, 2) }}", "[\n  1\n]"},
         {"{{ [1]|tojson(indent='--') }}", "[\n--1\n]"},
         {"{{ [1]|tojson(indent=-1) }}", "[\n1\n]"},
         {"{{ [1]|tojson(indent=100)|length }}", "105"},
         {"{{ [1e308*10, -1e308*10]|tojson }}", "[Infinity, -Infinity]"}});
  check_refused({{"{{ [1]|tojson(indent=99999999999) }}", "the texts are too long"},
                 {"{{ {1:2,'a':3}|tojson(sort_keys=true) }}",
                  "tojson: whole numbers and texts have no order"},
                 {"{{ range(3)|tojson }}", "expected a value of JSON, found range"},
                 {"{{ [1]|tojson(separators=[',']) }}", "separators: expected 2, found 1"}});
}

TEST_CASE("Jinja: lines end where they do in Python") {
  check({{"{{ 'a\\nb'|indent(2000)|length }}", "2003"},
         {"{{ 'a\\r\\nb'|indent(2) }}", "a\n  b"},
         {"{{ 'a\\n\\nb\\n'|indent(2, true) }}", "  a\n\n  b\n"},
         {"{{ ''|indent(2, true) }}|", "  |"},
         {"{{ 'a\\rb\\u2028c\\x0bd\\n'.splitlines() }}", "['a', 'b', 'c', 'd']"},
         {"{{ 'a\\nb\\r\\nc'.splitlines(true) }}", R"(['a\n', 'b\r\n', 'c'])"},
         {"{{ 'a\\n'.splitlines(keepends=true) }}", R"(['a\n'])"}});
}

TEST_CASE("Jinja: filters on values of other types") {
  check({{"{{ none|map('upper')|list }}{{ 0|selectattr('a')|list }}{{ ''|reject|list }}", "[][][]"},
         {"{{ [(1,2),(1,2)]|unique|list }}", "[(1, 2)]"}});
  check_refused({{"{{ 5|indent }}", "indent: expected a text, found int"},
                 {"{{ x|indent }}", "indent: expected a text, found undefined"},
                 {"{{ x|dictsort }}", "x is undefined"},
                 {"{{ 1|map('upper') }}", "nothing goes through int"},
                 {"{{ [[1],[1]]|unique|list }}", "unique: list among the items"}});
}

TEST_CASE("Jinja: limits on how often texts are split and replaced") {
  check({{"{{ '1 2 3 '.split(None, 1) }}", "['1', '2 3 ']"},
         {"{{ ' 1  2 '.split() }}", "['1', '2']"},
         {"{{ 'aaa'|replace('a','b',-1) }}", "bbb"},
         {"{{ 'aaa'|replace('a','b',none) }}", "bbb"},
         {"{{ 'aaa'|replace('a','b',2) }}", "bba"}});
}

TEST_CASE("Jinja: keys of dicts are strings or integers, which are distinct") {
  check(
      {{"{{ {1:2} }}{{ {1:2}|tojson }}", R"({1: 2}{"1": 2})"},
       {"{{ {1:'a','1':'b',1:'c'}|length }} {{ {1:'a','1':'b',1:'c'}[1] }}", "2 c"},
       {"{{ {1:'a'}.get(1) }}{{ {1:'a'}['1'] }}{{ {'1':'a'}[1] }}|{{ {'1':'a'}.get(1) }}",
        "a|None"},
       {"{% for k in {1:2} %}{{ k is integer }}{{ k in {1:2} }}{{ k in {'1':2} }}{% endfor %}",
        "TrueTrueFalse"},
       {"{{ {2:0,1:0}|dictsort }}{{ {2:0,10:0}|tojson(sort_keys=true) }}",
        R"([(1, 0), (2, 0)]{"2": 0, "10": 0})"},
       {"{{ {1:2} == {'1':2} }}{{ dict({1:2}) }}{{ {1:2}.items()|list }}", "False{1: 2}[(1, 2)]"}});
  check_refused({{"{{ {none:1} }}",
                  "the key of a dict: expected a text or a whole number, found "
                  "None"}});
}

TEST_CASE("Jinja: ranges, loops and namespaces are neither lists nor dicts") {
  check({{"{{ namespace(a=1) }}", "<Namespace {'a': 1}>"},
         {"{{ range(3)|list }}{{ range(3) == [0, 1, 2] }}{{ range(3) == range(3) }}",
          "[0, 1, 2]FalseTrue"}});
  check_refused({{"{{ range(5) }}", "a range has no text; range(…) | list has one"},
                 {"{{ range(5) + range(5) }}", "list + list"},
                 {"{% for i in [1] %}{{ loop }}{% endfor %}", "a loop has no text"},
                 {"{% for i in [1] %}{% set loop.x = 5 %}{% endfor %}",
                  "only a namespace takes an attribute"}});
}

TEST_CASE("Jinja: invisible characters are escaped in lists") {
  check({{"{{ ['\\x7f\\x01', 'é\\u200b', '\\U000e0001', ' \\xa0\\t', 'ok🙂'] }}",
          R"(['\x7f\x01', 'é\u200b', '\U000e0001', ' \xa0\t', 'ok🙂'])"}});
}

TEST_CASE("Jinja: integers and booleans stay whole, and numbers that are too large are reported") {
  check({{"{{ -true }} {{ +true }} {{ true|abs }} {{ -5|abs }} {{ (-2.5)|abs }}", "-1 1 1 5 2.5"},
         {"{{ '9007199254740993'|int }} {{ '9223372036854775807'|int }} {{ '+5'|int }}",
          "9007199254740993 9223372036854775807 5"},
         {"{{ '1_000'|int }} {{ '1__0'|int }} {{ '_1'|int }} {{ '+-5'|int }} {{ '1_0'|float }}",
          "1000 0 0 0 10.0"},
         {"{{ '-12.7'|int }} {{ 'nan'|int }} {{ 'x'|int(7) }} {{ 'nan(1)'|float }}", "-12 0 7 0.0"},
         {"{{ '-Infinity'|float }} {{ ' nan '|float }} {{ '1e3'|int }} {{ true|int }}",
          "-inf nan 1000 1"},
         {"{{ 2 ** -1 }} {{ (-8) ** 2.0 }} {{ 0.0 ** 0 }}", "0.5 64.0 1.0"},
         {"{{ 5.5 % 0.1 }} {{ -7.5 % 2 }} {{ 7.5 // -2 }} {{ 1e300 % 3.0 }} {{ -4.0 % 2 }}",
          "0.0999999999999997 0.5 -4.0 0.0 0.0"},
         {"{{ 4.0 % -2 }} {{ -1.0 // 1e300 }} {{ 0.3 // 0.1 }} {{ 1.0 // 0.1 }}",
          "-0.0 -1.0 2.0 9.0"}});
  check_refused({{"{{ 1e19|int }}", "int: the number is too large"},
                 {"{{ '9223372036854775808'|int }}", "int: the number is too large"},
                 {"{{ 'inf'|int(7) }}", "int: the number is too large"},
                 {"{{ (1e308*10)|int }}", "int: the number is too large"},
                 {"{{ (-9223372036854775807-1)|abs }}", "the number is too large"},
                 {"{{ 0 ** -1 }}", "divided by 0"},
                 {"{{ 2.0 ** 5000 }}", "the number is too large"},
                 {"{{ x|int }}", "x is undefined"},
                 {"{{ x|float }}", "x is undefined"},
                 {"{{ (-8) ** 0.5 }}", "a root of a number below 0"},
                 {"{{ 012 }}", "a whole number that begins with 0"}});
  check({{"{{ 00 }}{{ 1_000 }}{{ 01.5 }}", "010001.5"}});
}

TEST_CASE("Jinja: escapes in strings, and white space that tags strip") {
  check({{R"({{ '\101\0\7|\400\1234' }})", std::string_view("A\0\a|ĀS4", 8)},
         {"a\u3000\u00a0{{- 1 -}}\u2028\x1c b", "a1b"},
         {"a{%- if\u2003true\u00a0%} b{% endif %}", "a b"},
         {"\u3000{% if true %}a{% endif %}", "a"},
         {"{% raw %}\n{{ 1 }}{% endraw %}\na", "\n{{ 1 }}a"},
         {"{% raw -%}\n {{ 1 }} {%- endraw +%}\na", "{{ 1 }}\na"}});
  check_refused({{R"({{ '\N{BULLET}' }})", "\\N: an escape by the name of a character is not run"},
                 {R"({{ '\8' ~ x.y }})", "x is undefined"}});
}

TEST_CASE("Jinja: upper- and lower-case letters of several characters, or at the end of a word") {
  check({{"{{ 'ﬁ ŉ ß ǰ և'|upper }} {{ 'ßa'|capitalize }} {{ 'ǆA'|capitalize }}",
          "FI ʼN SS J̌ ԵՒ Ssa ǅa"},
         {"{{ 'ΑΣ ΣΑΣ. Σ Α.Σ Α\u0301Σ’Α Α1Σ'|lower }}", "ας σας. σ α.ς α\u0301σ’α α1σ"},
         {"{{ 'ΑΣ ΑΒΣ'|title }} {{ 'ΑΣ ΑΒΣ'.title() }} {{ 'ΟΔΟΣ'|capitalize }}",
          "Ασ Αβς Ας Αβς Οδος"},
         {"{{ '中abc it\\'s'.title() }} {{ 'ﬁx ǆx'.title() }} {{ 'ﬁx ǆx'|title }}",
          "中Abc It'S Fix ǅx FIx Ǆx"},
         {"{{ 'ᾳ ᾼ'|upper }} {{ 'ᾳᾼ'|capitalize }} {{ 'aªa bⓐb'.title() }}", "ΑΙ ΑΙ ᾼᾳ Aªa Bⓐb"},
         {"{{ '١٢'.isdigit() }} {{ '12'.isdigit() }} {{ '1a'.isdigit() }} {{ ''.isdigit() }}",
          "True True False False"}});
  check_refused(
      {{"{{ '²'.isdigit() }}", "isdigit() is not supported for numbers other than plain digits"}});
}

TEST_CASE("Jinja: unexpected arguments are refused") {
  check_refused(
      {{"{{ 'x'|trim(foo=1) }}", "trim takes no argument foo"},
       {"{{ 'x'|upper(1) }}", "upper takes at most 0 arguments, found 1"},
       {"{{ 'x'.upper(1) }}", "upper takes at most 0 arguments, found 1"},
       {"{{ [1,2]|first(3) }}", "first takes at most 0 arguments, found 1"},
       {"{{ 'a'|default('b', true, 3) }}", "default takes at most 2 arguments, found 3"},
       {"{{ 'a'|trim('a', chars='b') }}", "trim: the argument chars is there twice"},
       {"{{ 'x'.strip(_='x') }}", "strip takes no argument _"},
       {"{{ ['a','b','a'].index('a', 1) }}", "index takes at most 1 argument, found 2"},
       {"{{ {}.get('a', default=1) }}", "get takes no argument default"},
       {"{{ {}.keys(1) }}", "keys takes at most 0 arguments, found 1"},
       {"{{ range(1,2,3,4) }}", "range takes at most 3 arguments, found 4"},
       {"{% macro f(a) %}{% endmacro %}{{ f(a=1,a=2) }}", "the argument a is there twice"}});
  check({{"{{ 'a,b,c'.split(sep=',', maxsplit=1) }}{{ [{'a':1},{'a':1}]|unique(attribute='a')|list "
          "}}",
          "['a', 'b,c'][{'a': 1}]"},
         {"{% macro m(a, b=2, c=a) %}{{ a }}{{ b }}{{ c }}{{ varargs }}{{ kwargs }}{% endmacro %}"
          "{{ m(1) }}{{ m(1,c=5) }}{{ m() }}",
          "121(){}125(){}2(){}"}});
}

TEST_CASE("Jinja: invalid templates, and comparisons without an order, are refused") {
  check_refused(
      {{"{% macro f(a) %}{{ a }}{% 'endmacro' %}", "expected a name, found \"endmacro\""},
       {"{% if 1 %}a{% 'endif' %}", "expected a name, found \"endif\""},
       {"a{% break %}", "break outside of a loop"},
       {"{% for i in [1] %}{% else %}{% continue %}{% endfor %}", "continue outside of a loop"},
       {"{% for i in [1] %}{% macro f() %}{% break %}{% endmacro %}{% endfor %}",
        "break outside of a loop"},
       {"{{ [[1,'a'],[2,0],[1,3]]|sort }}", "sort: list and list have no order"},
       {"{{ [1,'a']|sort }}", "sort: str and int have no order"}});
}

}  // namespace attnviz::templates

// What is Python's own in Jinja: as jinja2 3.1 prints it, or refused with a message.

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "attnviz/core/error.h"
#include "attnviz/text/template/jinja_run.h"

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

TEST_CASE("Jinja: tojson takes the arguments of transformers, in their places") {
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
                 {"{{ range(3)|tojson }}", "expected a value of JSON, found range"},
                 {"{{ [1]|tojson(separators=[',']) }}", "separators: expected 2, found 1"}});
}

TEST_CASE("Jinja: lines end where Python has them end") {
  check({{"{{ 'a\\nb'|indent(2000)|length }}", "2003"},
         {"{{ 'a\\r\\nb'|indent(2) }}", "a\n  b"},
         {"{{ 'a\\n\\nb\\n'|indent(2, true) }}", "  a\n\n  b\n"},
         {"{{ ''|indent(2, true) }}|", "  |"},
         {"{{ 'a\\rb\\u2028c\\x0bd\\n'.splitlines() }}", "['a', 'b', 'c', 'd']"},
         {"{{ 'a\\nb\\r\\nc'.splitlines(true) }}", R"(['a\n', 'b\r\n', 'c'])"},
         {"{{ 'a\\n'.splitlines(keepends=true) }}", R"(['a\n'])"}});
}

TEST_CASE("Jinja: how often texts are split and replaced") {
  check({{"{{ '1 2 3 '.split(None, 1) }}", "['1', '2 3 ']"},
         {"{{ ' 1  2 '.split() }}", "['1', '2']"},
         {"{{ 'aaa'|replace('a','b',-1) }}", "bbb"},
         {"{{ 'aaa'|replace('a','b',none) }}", "bbb"},
         {"{{ 'aaa'|replace('a','b',2) }}", "bba"}});
}

TEST_CASE("Jinja: keys of dicts are texts or whole numbers, which are not each other's") {
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

TEST_CASE("Jinja: ranges, loops and namespaces are no lists and dicts") {
  check({{"{{ namespace(a=1) }}", "<Namespace {'a': 1}>"},
         {"{{ range(3)|list }}{{ range(3) == [0, 1, 2] }}{{ range(3) == range(3) }}",
          "[0, 1, 2]FalseTrue"}});
  check_refused({{"{{ range(5) }}", "a range has no text; range(…) | list has one"},
                 {"{{ range(5) + range(5) }}", "list + list"},
                 {"{% for i in [1] %}{{ loop }}{% endfor %}", "a loop has no text"},
                 {"{% for i in [1] %}{% set loop.x = 5 %}{% endfor %}",
                  "only a namespace takes an attribute"}});
}

TEST_CASE("Jinja: what cannot be seen is escaped in lists") {
  check({{"{{ ['\\x7f\\x01', 'é\\u200b', '\\U000e0001', ' \\xa0\\t', 'ok🙂'] }}",
          R"(['\x7f\x01', 'é\u200b', '\U000e0001', ' \xa0\t', 'ok🙂'])"}});
}

}  // namespace attnviz::templates

#include "attnviz/text/template/jinja.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "support/json.h"
#include "support/repeated.h"

namespace attnviz::templates {

namespace {

using Json = nlohmann::ordered_json;

Value value_of(const Json& json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  if (json.is_number_integer()) {
    return json.get<std::int64_t>();
  }
  if (json.is_number()) {
    return json.get<double>();
  }
  if (json.is_string()) {
    return json.get<std::string>();
  }
  if (json.is_array()) {
    std::vector<Value> items;
    for (const Json& one : json) {
      items.push_back(value_of(one));
    }
    return list_of(std::move(items));
  }
  if (json.is_object()) {
    auto map = std::make_shared<Map>();
    for (const auto& [key, one] : json.items()) {
      map->add(key, value_of(one));
    }
    return map;
  }
  return {};
}

Json read_cases() {
  std::ifstream file(ATTNVIZ_SOURCE_DIR "/tests/reference/chat/cases.json");
  return Json::parse(file);
}

// The output, or the error in brackets.
std::string rendered(const std::string& source, const Map& globals) {
  try {
    return run_jinja(source, "t", globals).text;
  } catch (const Error& error) {
    return std::string("[") + error.what() + "]";
  }
}

std::string failure(const std::string& source) {
  try {
    run_jinja(source, "t", Map());
    return "nothing was thrown";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("Jinja: every construct as jinja2 renders it") {
  const Json cases = read_cases();
  const Value data = value_of(cases["data"]);
  REQUIRE(cases["cases"].size() >= 250);
  for (const Json& one : cases["cases"]) {
    const std::string source = one[0];
    CAPTURE(source);
    const std::string found = rendered(source, *data.map());
    if (one[1].is_null()) {
      CHECK(found.starts_with("[t: line "));
    } else {
      CHECK(found == one[1].get<std::string>());
    }
  }
}

// Rendered by jinja2 3.1, configured as in transformers.
TEST_CASE("Jinja: lines end with line feeds, regardless of the file's line ends, also in strings") {
  CHECK(rendered("a\r\n{% if true %}\r\n  b\r\n  {% endif %}\r\n{# c #}\r\n{{ 'x\r\ny' }}\rz\r\n",
                 Map()) == "a\n  b\nx\ny\nz");
  CHECK(rendered("{% raw %}\r\n{{ a }}\r\n{% endraw %}\r{{ 'a\\r\\nb' | length }}{{ 'a\rb' }}",
                 Map()) == "\n{{ a }}\n4a\nb");
  CHECK(failure("a\r\nb\r  {{ missing() }}") == "t: line 3, column 13: missing is undefined");
}

TEST_CASE("Jinja: an unknown name is an error only where it is reached, with its position") {
  CHECK(rendered("{% if false %}{{ f(1) | g is h }}{% endif %}ok", Map()) == "ok");
  CHECK(failure("a\n  {{ missing() }}") == "t: line 2, column 13: missing is undefined");
  CHECK(failure("{{ 1 | unheard }}") == "t: line 1, column 8: no filter is called unheard");
  CHECK(failure("é {{ 1 is unheard }}") == "t: line 1, column 8: no test is called unheard");
  CHECK(failure("{{ missing.a.b }}") == "t: line 1, column 11: missing is undefined");
  CHECK(failure("x\n{% if 1 %}") == "t: line 2, column 11: expected endif, found the end");
}

TEST_CASE("Jinja: numbers that do not fit are reported with their position") {
  for (const char* number : {"1e10000", "1.5e-10000", "9223372036854775808", "1e+"}) {
    CHECK(failure("{{ " + std::string(number) + " }}") ==
          "t: line 1, column 4: the number is too large, or no number");
  }
}

TEST_CASE("Jinja: filters, tests, methods and names that jinja2 has and attnviz does not support") {
  const std::pair<const char*, const char*> cases[] = {
      {"{{ [1] | max }}", "t: line 1, column 10: max: this filter is not run"},
      {"{{ [1] | map('round') | list }}", "t: line 1, column 10: round: this filter is not run"},
      {"{{ 1 is filter }}", "t: line 1, column 6: filter: this test is not run"},
      {"{{ 'a'.zfill(2) }}", "t: line 1, column 7: zfill: this method is not run"},
      {"{{ [1].append(2) }}", "t: line 1, column 7: append: this method is not run"},
      {"{{ {}.update({}) }}", "t: line 1, column 6: update: this method is not run"},
      {"{{ cycler('a') }}", "t: line 1, column 4: cycler: this name is not run"},
      {"{{ joiner is defined }}", "t: line 1, column 4: joiner: this name is not run"},
      {"{{ self.a() }}", "t: line 1, column 4: self: this name is not run"}};
  for (const auto& one : cases) {
    try {
      run_jinja(one.first, "t", Map());
      FAIL_CHECK(one.second);
    } catch (const Error& error) {
      CHECK(error.what() == std::string(one.second));
      CHECK(error.kind() == ErrorKind::kUnsupported);
    }
  }
  CHECK(rendered("{% set self = 1 %}{{ self }}{{ {'update': 2}['update'] }}", Map()) == "12");
}

TEST_CASE("Jinja: a filter's generator is not a list, and the error says how to convert it") {
  CHECK(failure("{{ [1] | select }}").find("has no text; … | list has one") != std::string::npos);
  CHECK(failure("{{ [1] | map('abs') | last }}").find("no end; … | list has one") !=
        std::string::npos);
  CHECK(failure("{{ [1] | select | length }}") == "t: line 1, column 19: generator has no length");
  CHECK(failure("{% set n = namespace() %}{% set n.a = [n] | select %}ok") == "nothing was thrown");
}

TEST_CASE("Jinja: a break does not leave {% generation %}, which jinja2 turns into a function") {
  CHECK(failure("{% for i in [1] %}{% generation %}{% break %}{% endgeneration %}{% endfor %}") ==
        "t: line 1, column 38: break outside of a loop");
}

TEST_CASE("Jinja: known tags that are not implemented are reported as unsupported") {
  for (const char* source : {"{% include 'a' %}", "{% import 'a' as b %}", "{% extends 'a' %}",
                             "{% call f() %}{% endcall %}", "{% block a %}{% endblock %}"}) {
    CAPTURE(source);
    try {
      run_jinja(source, "t", Map());
      FAIL_CHECK("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kUnsupported);
    }
  }
}

TEST_CASE("Jinja: templates that would take for ever, or all memory, are stopped") {
  const std::string deep_parentheses = "{{ " + std::string(100000, '(') + "1";
  const std::string deep_lists = "{{ " + std::string(100000, '[') + "1";
  const std::string deep_not = "{{ " + [] {
    std::string all;
    for (int i = 0; i < 100000; ++i) {
      all += "not ";
    }
    return all;
  }() + "1 }}";
  std::string deep_blocks;
  std::string long_chain = "{{ 1";
  for (int i = 0; i < 20000; ++i) {
    deep_blocks += "{% if 1 %}";
    long_chain += " + 1";
  }
  long_chain += " }}";
  std::string doubling = "{% set a = 'xxxxxxxxxx' %}";
  for (int i = 0; i < 60; ++i) {
    doubling += "{% set a = a + a %}";
  }
  for (const std::string& source :
       {std::string("{% for i in range(1000000000) %}{% endfor %}"),
        std::string("{{ 'x' * 1000000000 }}"), std::string("{{ 'x' * 99999999 * 99999999 }}"),
        std::string("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
        std::string(
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"),
        std::string("{{ range(99999) | join('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') * 9999 }}"),
        std::string("{{ 10 ** 100 }}"), std::string("{{ 99999999999999999999 }}"),
        std::string("{{ 9223372036854775807 + 1 }}"), std::string("{{ [1] * 3 }}"), doubling,
        deep_parentheses, deep_lists, deep_not, deep_blocks, long_chain}) {
    CAPTURE(source.substr(0, 60));
    CHECK(failure(source).starts_with("t: line "));
  }
}

TEST_CASE("Jinja: chains of operators may be long if they are not evaluated") {
  for (const std::string part : {"+1", "|upper", ".b", " and 1", " if 1"}) {
    const std::string chain = "1" + test::repeated(part, 300000);
    CAPTURE(part);
    CHECK(rendered("a{% if 0 %}{{ " + chain + " }}{% endif %}", Map()) == "a");
    CHECK(failure("{{ " + chain + " }}").ends_with("too deep"));
  }
  const std::string filters = "upper" + test::repeated("|upper", 300000);
  CHECK(failure("{% filter " + filters + " %}a{% endfilter %}").ends_with("too deep"));
}

TEST_CASE("Jinja: targets in parentheses have limited depth") {
  const std::string nested = std::string(300000, '(') + "a" + std::string(300000, ')');
  CHECK(rendered("{% set (a) = 1 %}{% for ((b)) in [2] %}{{ a }}{{ b }}{% endfor %}", Map()) ==
        "12");
  CHECK(failure("{% set " + nested + " = 1 %}").find("nested too deep") != std::string::npos);
  CHECK(failure("{% for " + nested + " in [1] %}{% endfor %}").find("nested too deep") !=
        std::string::npos);
}

TEST_CASE("Jinja: templates that look up many names again and again are stopped") {
  const auto names = [](std::size_t count, const std::string& begin) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += (i == 0 ? "" : ",") + begin + std::to_string(i) + "=1";
    }
    return all;
  };
  const auto set = [](std::size_t count, const std::string& begin) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
      all += "{% set " + begin + std::to_string(i) + " = 1 %}";
    }
    return all;
  };
  const auto often = [](const std::string& what) {
    return "{% for i in range(99999) %}" + what + "{% endfor %}";
  };
  const std::string long_name(995, 'a');
  for (const std::string& source :
       {"{% set d = dict(" + names(99999, "a") + ") %}",
        "{{ namespace(" + names(99999, "a") + ") }}",
        "{% macro f(" + names(20000, "a") + ") %}{% endmacro %}" + often("{{ f() }}"),
        "{% macro f(" + names(120000, "a") + ") %}{% endmacro %}{{ f() }}",
        set(20000, "a") + often("{{ b }}"), set(60000, "a"),
        set(2000, long_name) + often("{{ " + long_name + "b }}")}) {
    CAPTURE(source.substr(0, 60));
    CHECK(failure(source).find("long texts or many names are read too often") != std::string::npos);
  }
  CHECK(rendered("{% macro f(" + names(100, "a") + ") %}{{ a7 }}{% endmacro %}{{ f(a7=2) }}",
                 Map()) == "2");
}

TEST_CASE("Jinja: stored methods, and filters with many arguments, cannot bypass the limits") {
  const std::string ones = test::repeated(",1", 100000) + ") | list }}";
  const std::string often = "{% for i in range(99999) %}{% if f() %}{% endif %}{% endfor %}";
  const std::string twice = test::repeated("{% set t = t + t %}", 6);
  for (const std::string& source :
       {"{% set f = ('1' * 10000000).isdigit %}" + often,
        "{% set f = (' ' * 10000000).strip %}" + often,
        "{% set f = (' ' * 10000000).split %}" + often,
        "{{ ('a' * 99999) | map('select', 'string'" + ones,
        "{{ range(99999) | select('defined'" + ones,
        "{% set t = ['a' * 1000000] %}" + twice + "{{ t | select('upper') | list | length }}",
        "{% set t = ['1' * 1000000] %}" + twice + "{{ t | map('float') | list | length }}",
        std::string("{% set s = 'a' * 1000000 %}{% set x = s ~ 'c' %}{% set t = (s ~ 'b',) %}") +
            "{% for i in range(14) %}{% set t = t + t %}{{ x.startswith(t) }}{% endfor %}" +
            "{% for i in range(9999) %}{{ x.startswith((s ~ 'b', s)) }}{% endfor %}"}) {
    CAPTURE(source.substr(0, 60));
    CHECK(failure(source).find("long texts or many names are read too often") != std::string::npos);
  }
}

TEST_CASE("Jinja: long names, keys and lines are counted before they are copied") {
  const std::string name(1000000, 'a');
  const std::string often = "{% for i in range(99999) %}";
  const std::string key = "{% set d = {'a' * 1000000: 1} %}";
  const std::vector<std::string> sources = {
      "{% for " + name + " in range(99999) if false %}{% endfor %}",
      "{% macro m(" + name + ") %}{% endmacro %}" + often + "{{ m() }}{% endfor %}",
      often + "{% set x = namespace() %}{% set x." + name + " = 1 %}{% endfor %}",
      often + "{{ [] | map(" + name + "=1) | list }}{% endfor %}",
      "{{ ('a' * 99999) | map('select'," + name + "=1) | list }}",
      key + "{% set l = [" + test::repeated("dict(d),", 2500) + "] %}",
      key + often + "{% for k in d %}{% endfor %}{% endfor %}",
      key + often + "{% for k, v in d | items %}{% endfor %}{% endfor %}",
      "{% set s = '\\'' * 1900000 %}{% set l = [s, s] %}" +
          test::repeated("{% set l = l + l %}", 4) + "{{ l | escape }}",
      std::string("{% set s = 'a\n' * 4000000 %}{{ s.splitlines() }}"),
      std::string("{% set s = 'a ' * 4000000 %}{{ s.split() }}"),
      std::string("{% set s = 'a ' * 4000000 %}{{ s.split('a') }}"),
      std::string("{% set s = 'a' * 4000000 %}{% for i in range(9) %}{{ s }}{% endfor %}")};
  for (const std::string& source : sources) {
    CAPTURE(source.substr(0, 60));
    CHECK(failure(source).ends_with(" too long"));
  }
  // A missing value is reported under one name, however often it is stored.
  CHECK(rendered("{% set u = " + name + " %}{% set l = [" + test::repeated("u,", 2500) +
                     "] %}{{ l | length }}",
                 Map()) == "2500");
}

// Expected values are those of Jinja 3.1.
TEST_CASE("Jinja: numbers and lines as in Python") {
  CHECK(failure("{{ [9223372036854775807, 1] | sum }}").starts_with("t: line 1"));
  CHECK(rendered("{{ [9007199254740993, 0] | sum }} {{ 9007199254740993 | int }} "
                 "{{ [1, 2] | sum(start=10) }} {{ [1, 0.5] | sum }} {{ [] | sum }}",
                 Map()) == "9007199254740993 9007199254740993 13 1.5 0");
  CHECK(rendered("{{ 'a\\r\\nb'.splitlines() }}", Map()) == "['a', 'b']");
  CHECK(
      rendered("{{ \"they're well-known (here)\" | title }} {{ ['a', 'A', 'b'] | unique | join }} "
               "{{ '0x1A' | int }} {{ ' 12 ' | int }} {{ {1: 'a'}[1] }}",
               Map()) == "They're Well-Known (Here) ab 0 12 a");
  for (const char* part : {"'abab'.find('a', 1)", "'abc'.startswith('b', 1)", "'aXa'.count('a', 1)",
                           "'a b c'.rsplit(none, 1)", "'ff' | int(0, 16)"}) {
    CHECK(failure("{{ " + std::string(part) + " }}").starts_with("t: line 1"));
  }
}

TEST_CASE("Jinja: length, first and last item of a long list can be read once per item") {
  CHECK(
      rendered("{% set a = range(9999) | list %}{% for i in a %}"
               "{% if i == a | length - 1 or i == a | last or i == a | first %}{{ i }} {% endif %}"
               "{% endfor %}",
               Map()) == "0 9998 ");
  CHECK(rendered("{{ 'abc' | first }}{{ 'abc' | last }}{{ nothing | length }}{{ [] | last }}",
                 Map()) == "ac0");
}

TEST_CASE("Jinja: templates that read a long text again and again are stopped") {
  for (const char* const part : {"s | length", "s.find('b')", "s[-1]"}) {
    CAPTURE(part);
    const std::string source = std::string("{% set s = 'a' * 10000000 %}") +
                               "{% for i in range(3000) %}{% set x = " + part + " %}{% endfor %}";
    CHECK(rendered(source, Map()).find("long texts or many names are read too often") !=
          std::string::npos);
  }
  CHECK(rendered("{% set s = 'a' * 10000 %}{% for i in range(3000) %}{{ s[0] }}{% endfor %}",
                 Map()) == std::string(3000, 'a'));
}

TEST_CASE("Jinja: templates that split and join texts again and again are stopped") {
  std::string joins = "{{ ('x' * 9000) ";
  std::string lists = "{% set a = range(99999) | list %}{{ a ";
  for (int i = 0; i < 40; ++i) {
    joins += "| map(attribute='role') | join(',d')";
    lists += "| list ";
  }
  CHECK(failure(joins + "}}").find(": a list is too long") != std::string::npos);
  CHECK(failure(lists + "}}").find(": too many steps") != std::string::npos);
  CHECK(failure("{% for i in range(999) %}{% for c in '" + std::string(9999, 'x') +
                "' %}{% endfor %}{% endfor %}")
            .find(": too many steps") != std::string::npos);
}

TEST_CASE("Jinja: `loop` is that of the innermost loop, also next to loops that do not name it") {
  const std::string inner = "{% for i in 'ab' %}{% for j in 'cd' %}";
  CHECK(rendered(inner + "{{ j }}{% endfor %}{{ loop.index }}{% endfor %}", Map()) == "cd1cd2");
  CHECK(rendered(inner + "{{ loop.index }}{% endfor %}{{ i }}{% endfor %}", Map()) == "12a12b");
  CHECK(rendered("{% for i in 'ab' %}{% endfor %}{{ loop is defined }}", Map()) == "False");
}

TEST_CASE("Jinja: a list counts for more than its items") {
  const auto lists = [](int turns) {
    return "{% for i in range(" + std::to_string(turns) +
           ") %}{% set x = [[[[[[[[[[i]]]]]]]]]] %}{% endfor %}done";
  };
  CHECK(rendered(lists(20000), Map()) == "done");
  CHECK(failure(lists(40000)).find(": too many steps") != std::string::npos);
}

TEST_CASE("Jinja: templates whose values contain one another many times are stopped") {
  std::string doubled = "{% set a = [1] %}";
  for (int i = 0; i < 50; ++i) {
    doubled += "{% set a = [a, a] %}";
  }
  const std::string itself =
      "{% set n = namespace() %}{% set m = namespace() %}"
      "{% set n.a = m %}{% set n.b = m %}{% set m.a = n %}{% set m.b = n %}";
  for (const std::string& source : {doubled + "{{ a }}", doubled + "{{ a | tojson }}",
                                    doubled + "{% set b = a %}{{ [a, 1] == [b, 2] }}",
                                    doubled + "{% set b = a %}{{ [a, 1] < [b, 2] }}",
                                    itself + "{{ n }}", itself + "{{ n == m }}"}) {
    CAPTURE(source.substr(source.size() - 40));
    CHECK(failure(source).starts_with("t: line "));
  }
}

// Leaks are found by the address sanitizer.
TEST_CASE("Jinja: namespaces and loops that contain themselves are freed") {
  CHECK(rendered("{% set n = namespace(a = 1) %}{% set n.n = n %}{{ n.n.n.a }}", Map()) == "1");
  CHECK(rendered("{% for i in [5] %}{% set n = namespace(l = loop) %}{% set n.n = [n] %}"
                 "{{ n.n[0].l.first }}{% endfor %}",
                 Map()) == "True");
}

TEST_CASE("Jinja: values nested a hundred thousand deep are freed") {
  const std::string wrapped =
      "{% set n = namespace(l = []) %}{% for i in range(20000) %}"
      "{% set n.l = [[[[[[[[[[n.l]]]]]]]]]] %}{% endfor %}";
  CHECK(rendered(wrapped + "hi", Map()) == "hi");
  std::string maps = "n.l";
  for (int i = 0; i < 10; ++i) {
    maps.insert(0, "{'a': ").append("}");
  }
  CHECK(
      rendered("{% set n = namespace() %}{% set n.a = n %}{% for i in range(9000) %}{% set n.l = " +
                   maps + " %}{% endfor %}hi",
               Map()) == "hi");
  // Loops whose attributes are set stay until the end, and are counted.
  CHECK(
      failure("{% for k in range(9999) %}{% for i in range(15) %}{% set loop.x = [] %}{% endfor %}"
              "{% endfor %}")
          .find(": line ") != std::string::npos);
}

TEST_CASE("Jinja: templates that join many texts, or search one in another, are stopped") {
  const std::string texts = "{% set s = 'a' * 9000000 %}{% set t = 'a' * 900000 + 'b' %}";
  for (const std::string& part : std::vector<std::string>{
           "s.replace('a', t)", "s.replace('', t)", "s | replace('a', t)", "range(9999) | join(s)",
           "s.join(['', '', '', '', '', '', '', '', '', ''])", "t in s", "s.find(t)", "s.count(t)",
           "s.split(t)", "s.rsplit(t, 9)", "s.strip(t)", "s | trim(t)",
           "('\n' * 90000) | indent(s, blank=true)", "range(99999) | map(attribute=s) | list",
           "[s, s, s, s, s, s, s, s, s, s] | sort"}) {
    CAPTURE(part);
    CHECK(failure(fmt::format("{}{{{{ {} }}}}", texts, part)).find(": line ") != std::string::npos);
  }
  CHECK(rendered("{% set s = 'ab' * 150000 %}{{ s.replace('a', '') | length }}", Map()) ==
        "150000");
}

TEST_CASE("Jinja: bytes that are not UTF-8 are unchanged") {
  Map globals;
  globals.add("bad", std::string("a\xff\xc3"));
  CHECK(rendered("{{ bad }}{{ bad|length }}{{ bad[::-1] }}{{ bad.strip() }}{{ bad|upper }}",
                 globals) ==
        "a\xff\xc3"
        "3"
        "\xc3\xff"
        "a"
        "a\xff\xc3"
        "A\xff\xc3");
}

}  // namespace attnviz::templates

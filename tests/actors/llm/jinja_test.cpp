#include <ctime>
#include <nlohmann/json.hpp>
#include <string>

#include "actors/llm/files/input_file.hpp"
#include "actors/llm/jinja/jinja_template.hpp"
#include "actors/llm/jinja/json_value.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm::jinja {
namespace {

using Catch::Matchers::Contains;

std::tm february() {
  std::tm date{};
  date.tm_year = 125;
  date.tm_mon = 1;
  date.tm_mday = 1;
  timegm(&date);
  return date;
}

text written(const std::string& source, const std::string& variables = "{}") {
  const auto given = value_of_json(variables, from_data);
  return jinja_template(source).render(*given.as_dict(), february());
}

std::string refusal_of(const std::string& source, const std::string& variables = "{}") {
  return testing::message_of<template_error>([&] { written(source, variables); });
}
std::string reading_refusal_of(const std::string& source) {
  return testing::message_of<template_error>([&] { jinja_template read(source); });
}

TEST_CASE(
    "jinja: each construct writes what jinja2 writes, or is refused where jinja2 refuses it") {
  const auto text = read_whole_file(
      testing::source_path("tests/fixtures/llm/chat_templates/cases.json"), 1 << 24);
  // The order of keys matters here.
  const auto all = nlohmann::ordered_json::parse(text);
  const auto variables = all.at("variables").dump();
  CHECK(all.at("cases").size() > 200);
  for (const auto& one : all.at("cases")) {
    const auto source = one["template"].get<std::string>();
    CAPTURE(source);
    if (one["text"].is_null()) {
      CHECK_THROWS_AS(written(source, variables), template_error);
    } else {
      CHECK(written(source, variables).chars == one["text"].get<std::string>());
    }
  }
}

TEST_CASE("jinja: what isn't known is refused by its name and line when the template is read") {
  CHECK(reading_refusal_of("a\n{{ x | nope }}") == "line 2: the filter nope isn't known");
  CHECK(reading_refusal_of("{{ x }}\n\n{% if x is nope %}{% endif %}") ==
        "line 3: the test nope isn't known");
  CHECK(reading_refusal_of("{{ x.nope() }}") == "line 1: the method nope isn't known");
  CHECK(reading_refusal_of("{{ nope(1) }}") == "line 1: the function nope isn't known");
  CHECK(reading_refusal_of("\n{% include 'x' %}") == "line 2: the statement include isn't known");
  CHECK(reading_refusal_of("{{ x | map('nope') }}") == "line 1: the filter nope isn't known");
  CHECK(reading_refusal_of("{{ x | selectattr('a', 'nope') }}") ==
        "line 1: the test nope isn't known");
  CHECK(reading_refusal_of("{% for x in y recursive %}{% endfor %}") ==
        "line 1: a recursive loop isn't known");
}

TEST_CASE("jinja: what isn't a template is refused with its line") {
  for (const auto* source : {"{% if x %}",
                             "{{ x",
                             "{% endif %}",
                             "{{ }}",
                             "{{ 'x }}",
                             "{# x",
                             "{{ x[ }}",
                             "{{ (1 }}",
                             "{% set %}",
                             "{% for x %}{% endfor %}",
                             "{{ 1 + }}",
                             "{% break %}",
                             "{% raw %}x",
                             "{{ x | }}",
                             "{{ 99999999999999999999 }}",
                             "{% macro %}{% endmacro %}",
                             "{{ a b }}",
                             "{% set 1 = 2 %}",
                             "{% set true = 2 %}",
                             "{{ x is is y }}",
                             "{{ f(a=1, 2) }}",
                             "{{ ? }}"}) {
    CAPTURE(source);
    CHECK_THAT(reading_refusal_of(source), Contains("line 1: "));
  }
  CHECK_THAT(reading_refusal_of("\xff"), Contains("UTF-8"));
  CHECK_THAT(reading_refusal_of(std::string(template_bytes_max + 1, 'x')), Contains("bytes"));
}

TEST_CASE("jinja: no template takes all of the time, the memory or the stack") {
  const auto repeated = [](const std::string& of, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += of;
    return all;
  };
  for (const auto& source : std::vector<std::string>{
           "{% for i in range(1000000000) %}{% endfor %}",
           "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
           "{{ 'x' * 1000000000000 }}",
           "{{ 'x' * 9223372036854775807 }}",
           "{{ [1] * 1000000000000 | length }}",
           "{% set ns = namespace(x='xx') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% "
           "endfor %}",
           "{% set ns = namespace(x=['y']) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x "
           "%}{% endfor %}",
           "{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}{% "
           "endfor %}",
           "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% "
           "endfor %}"
           "{{ ns.x }}",
           "{% set a = namespace(x=[1]) %}{% set b = namespace(x=[1]) %}{% for i in range(90) %}"
           "{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}",
           "{% set ns = namespace() %}{% set ns.x = ns %}",
           "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
           "{% macro m() %}{% endmacro %}{% set ns = namespace(x=m) %}",
           "{{ 'a' | indent(999999999999) }}",
           "{{ [1] | tojson(indent=999999999999) }}",
           "{% set ns = namespace(x='a') %}{% for i in range(25) %}{% set ns.x = ns.x.replace('a', "
           "'aaa') %}"
           "{% endfor %}",
           "{{ 10 ** 10 ** 10 }}",
           "{{ 9223372036854775807 * 2 }}",
           "{{ -9223372036854775807 - 2 }}",
           "{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}",
           "{{ " + repeated("not ", 5000) + "1 }}",
           "{{ " + repeated("-", 5000) + "1 }}",
           "{{ 1" + repeated(" + 1", 5000) + " }}",
           "{{ x" + repeated("[0]", 5000) + " }}",
           "{{ x" + repeated(" | trim", 5000) + " }}",
           "{{ 1" + repeated(" if 1 else 1", 5000) + " }}",
           repeated("{% if 1 %}", 5000) + repeated("{% endif %}", 5000)}) {
    CAPTURE(source.substr(0, 120));
    CHECK_THROWS_AS(written(source), template_error);
  }
}

TEST_CASE("jinja: a refusal while writing names the line and keeps the template's own message") {
  CHECK(refusal_of("a\n{{ raise_exception('Roles must alternate') }}") ==
        "line 2: the template says: Roles must alternate");
  CHECK(refusal_of("{{ x.y.z }}", R"({"x": {}})") == "line 1: the field y of a dict is undefined");
  CHECK(refusal_of("\n\n{{ 1 + 'a' }}") ==
        "line 3: expected values for + that go together, got a int and a str");
}

/// The text with what comes from data in brackets.
std::string with_brackets(const text& of, char mark = from_data) {
  std::string shown;
  bool inside = false;
  for (std::size_t i = 0; i <= of.size(); ++i) {
    const bool marked = i < of.size() && (of.mark(i) & mark);
    if (marked != inside) shown += marked ? '[' : ']';
    inside = marked;
    if (i < of.size()) shown += of.chars[i];
  }
  return shown;
}

TEST_CASE("jinja: each byte of a text keeps where it comes from") {
  const std::string given = R"({"c": " Ab,<x> ", "l": ["p", "q"], "d": {"k": "v"}})";
  const auto shown = [&](const std::string& source) {
    return with_brackets(written(source, given));
  };
  CHECK(shown("a{{ c }}b") == "a[ Ab,<x> ]b");
  CHECK(shown("{{ 'a' + c | trim + 'b' }}") == "a[Ab,<x>]b");
  CHECK(shown("{{ '<' ~ c.strip() ~ '>' }}") == "<[Ab,<x>]>");
  CHECK(shown("{{ c.split(',')[1] }}|{{ c[1:3] }}|{{ c[::-1] }}") == "[<x> ]|[Ab]|[ >x<,bA ]");
  CHECK(shown("{{ c | upper | replace('A', 'zz') }}") == "[ ]zz[B,<X> ]");
  CHECK(shown("{{ l | join('-') }} {{ l }}") == "[p]-[q] ['[p]', '[q]']");
  CHECK(shown("{{ d | tojson }}{{ d }}") == "{\"[k]\": \"[v]\"}{'[k]': '[v]'}");
  CHECK(shown("{% for k, v in d.items() %}{{ k }}={{ v * 2 }}{% endfor %}") == "[k]=[vv]");
  CHECK(shown("{% macro m(x) %}({{ x }}){% endmacro %}{{ m(c) | trim }}") == "([ Ab,<x> ])");
  CHECK(shown("{% set x %}a{{ c }}{% endset %}{{ x | title }}") == "A[ Ab,<X> ]");
  CHECK(shown("{{ '%s!' % c }}{{ '{}'.format(c) }}{{ c | list | first }}") ==
        "[ Ab,<x> ]![ Ab,<x>  ]");
  CHECK(shown("{{ 'x\ny' | indent(1) }}{{ c | indent(1, true) }}") == "x\n y [ Ab,<x> ]");
  CHECK(shown("{{ c | length }}") == "8");
  CHECK(with_brackets(written("a{% generation %}b{{ c }}{% endgeneration %}d", given), generated) ==
        "a[b Ab,<x> ]d");
}

TEST_CASE("jinja: JSON keeps the order of keys, and a number that doesn't fit is refused") {
  CHECK(written("{{ x | tojson }}", R"({"x": {"b": 1, "a": 2.50, "b": 3}})").chars ==
        R"({"b": 3, "a": 2.5})");
  CHECK_THROWS_WITH(value_of_json("[99999999999999999999]", 0), Contains("99999999999999999999"));
  CHECK_THROWS_WITH(value_of_json("[1", 0), Contains("JSON"));
  CHECK_THROWS_WITH(value_of_json(std::string(200, '[') + std::string(200, ']'), 0),
                    Contains("levels"));
}

}  // namespace
}  // namespace troupe::llm::jinja

#include "runtime/config/yaml_text.hpp"

#include <sys/stat.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/config/config.hpp"
#include "tests/test.hpp"

namespace {

using nlohmann::json;
using troupe::config_error;
using troupe::parse_yaml;

TEST_CASE("yaml: plain scalars are those of YAML 1.2's core schema", "[config]") {
  CHECK(parse_yaml("[~, null, Null, NULL, ]") == json({nullptr, nullptr, nullptr, nullptr}));
  CHECK(parse_yaml("a:") == json{{"a", nullptr}});
  CHECK(parse_yaml("[true, True, TRUE, false]") == json({true, true, true, false}));
  CHECK(parse_yaml("[0, -7, +3, 007, 0o17, 0x1F]") == json({0, -7, 3, 7, 15, 31}));
  CHECK(parse_yaml("18446744073709551615") == json(18446744073709551615U));
  CHECK(parse_yaml("-9223372036854775808") == json(std::numeric_limits<std::int64_t>::min()));
  CHECK(parse_yaml("99999999999999999999").is_number_float());
  CHECK(parse_yaml("[3e-4, 1E2, .5, 2., -1.5e+3]") == json({3e-4, 100.0, 0.5, 2.0, -1500.0}));
  for (const auto* word : {"yes", "no", "on", "off", "y", "0b1", "1_000", "1:30", "2001-01-01",
                           "1e", "e5", ".", "-", "0x", "1.2.3", "tRUE", "node:*"})
    CHECK(parse_yaml('[' + std::string(word == std::string("-") ? "'-'" : word) + ']') ==
          json::array({word}));
}

TEST_CASE("yaml: quoted scalars and blocks are strings", "[config]") {
  CHECK(parse_yaml("['1', \"true\", '', \"a\\nb\"]") == json({"1", "true", "", "a\nb"}));
  CHECK(parse_yaml("a: |\n  1\n  2\nb: >-\n  3\n  4\n") == json{{"a", "1\n2\n"}, {"b", "3 4"}});
  CHECK(parse_yaml("[!!str 1, !!int 2, !!float 3, !!null ~, !!bool true]") ==
        json({"1", 2, 3, nullptr, true}));
  CHECK(parse_yaml("1: a\n'<<': b\n") == json{{"1", "a"}, {"<<", "b"}});
}

TEST_CASE("yaml: documents are JSON's in other words", "[config]") {
  CHECK(parse_yaml("# a run\nenv: {id: CartPole-v1}\ntrainer:\n  lr: 3e-4\n  hidden: [64, 64]\n"
                   "tags:\n- a\n- b\n") ==
        troupe::parse_json(R"({"env": {"id": "CartPole-v1"}, "trainer": {"lr": 3e-4,
                               "hidden": [64, 64]}, "tags": ["a", "b"]})"));
  CHECK(parse_yaml("a: &x {b: [1, 2]}\nc: *x\n&k d: *k\n") ==
        troupe::parse_json(R"({"a": {"b": [1, 2]}, "c": {"b": [1, 2]}, "d": "d"})"));
  CHECK(parse_yaml("") == json(nullptr));
  CHECK(parse_yaml("%YAML 1.2\n---\na: 1\n...\n") == json{{"a", 1}});
}

void refuses(const std::string& text, const std::string& message) {
  INFO(text.substr(0, 100));
  CHECK_THROWS_WITH(parse_yaml(text, "run.yaml"), Catch::Contains(message));
}

TEST_CASE("yaml: what means another thing to each reader is refused with its line", "[config]") {
  refuses("a: 1\nb: 2\na: 3\n", "run.yaml:3: expected each key once, got \"a\" twice");
  refuses("a: 1\n---\nb: 2\n", "run.yaml:2: expected one document, got another one");
  refuses("x: &b {q: 1}\na:\n  <<: *b\n", "run.yaml:3: expected no merge key, got <<");
  refuses("a: 1\nb: !python/object:os.system 2\n", "run.yaml:2: expected no tag, or one of the ");
  refuses("a: !!int one\n", "run.yaml:1: expected a value of its tag");
  refuses("a: !!map []\n", "run.yaml:1: expected no tag, or one of the core schema that fits");
  refuses("a: 1\nb: .inf\n", "run.yaml:2: expected a finite number, got .inf");
  refuses("a: .NaN\n", "run.yaml:1: expected a finite number, got .NaN");
  refuses("a: 1e400\n", "run.yaml:1: expected a number that a double can hold, got \"1e400\"");
  refuses("[a]: 1\n", "run.yaml:1: expected a key, got a list");
  refuses("~: 1\n", "run.yaml:1: expected a key, got null");
  refuses("a: [1\n", "run.yaml:2: expected YAML, got ");
  refuses("\ta: 1\n", "run.yaml:1: expected YAML, got ");
  refuses("a: *nowhere\n", "run.yaml:1: expected YAML, got ");
  refuses("a: 1\nb: \x04 2\n", "run.yaml:2: expected text, got the character 0x04");
  refuses("a: \xff\n", "run.yaml: expected UTF-8, got other bytes");
}

TEST_CASE("yaml: aliases neither recur nor multiply, and size and depth are bounded", "[config]") {
  refuses("a: &x [*x]\n", "run.yaml:1: expected an alias of a value before it, got one inside");
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const auto one = "*a" + std::to_string(i - 1);
    auto line = "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + one;
    for (int k = 1; k < 10; ++k) line += ", " + one;
    bomb += line + "]\n";
  }
  refuses(bomb, "run.yaml:7: expected at most 4194304 bytes with what aliases stand for, got more");
  std::string text = "a: &a " + std::string(500'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) text += "*a, ";
  refuses(text + "]\n", "run.yaml:2: expected at most 4194304 bytes");
  std::string deep = "a0: &a0 1\n";
  for (int i = 1; i < 80; ++i)
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  refuses(deep, "expected at most 64 nested values, got more");
  std::string dashes;
  for (int i = 0; i < 100'000; ++i) dashes += "- ";
  refuses(dashes, "run.yaml:1: expected at most 64 nested values, got more");
  refuses(std::string(troupe::yaml_bytes_max + 1, ' '), "run.yaml: expected at most 1048576 bytes");
}

TEST_CASE("yaml: a configuration file is YAML by its name's ending", "[config]") {
  const auto folder = std::filesystem::temp_directory_path() / "troupe_yaml_text_test";
  std::filesystem::create_directories(folder);
  for (const auto* name : {"run.yaml", "run.yml"}) {
    std::ofstream(folder / name) << "trainer: {lr: 3e-4}\n";
    CHECK(troupe::load_config(folder / name, {"trainer.n_steps=8"}) ==
          troupe::parse_json(R"({"trainer": {"lr": 3e-4, "n_steps": 8}})"));
  }
  std::ofstream(folder / "run.json") << "trainer: {lr: 3e-4}\n";
  CHECK_THROWS_WITH(troupe::load_config(folder / "run.json", {}), Catch::Contains("expected JSON"));
  CHECK_THROWS_WITH(troupe::load_config(folder / "none.yaml", {}),
                    Catch::Contains("none.yaml: expected a readable file"));
  REQUIRE(::mkfifo((folder / "fifo.yaml").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(troupe::load_config(folder / "fifo.yaml", {}),
                    Catch::Contains("fifo.yaml: expected a regular file, got a FIFO"));
  std::filesystem::remove_all(folder);
}

}  // namespace

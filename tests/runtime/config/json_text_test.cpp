#include "runtime/config/json_text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "runtime/config/config_error.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using nlohmann::json;
using troupe::apply_override;
using troupe::config_error;
using troupe::parse_json;

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST_CASE("parse_json: reads what nlohmann reads", "[config]") {
  const std::string text =
      R"({"a": [1, -2, 3.5, true, null, {"b": "\u00e4\n"}], "c": {}, "d": [[], [0]], "": "x"})";
  CHECK(parse_json(text) == json::parse(text));
  CHECK(parse_json("7") == 7);
  CHECK(parse_json("[]") == json::array());
}

TEST_CASE("parse_json: a duplicate key is refused with its path", "[config]") {
  CHECK_THROWS_WITH(parse_json(R"({"a": 1, "a": 2})", "x.json"),
                    "/a: expected each key once, got it twice in x.json");
  CHECK_THROWS_WITH(parse_json(R"({"t": {"u": [{}, {"a": 1, "a": 2}]}})"),
                    "/t/u/1/a: expected each key once, got it twice in JSON");
  CHECK(parse_json(R"([{"a": 1}, {"a": 2}])").size() == 2);
}

TEST_CASE("parse_json: depth is bounded", "[config]") {
  CHECK(parse_json(repeat("[", 64) + repeat("]", 64)).is_array());
  CHECK_THROWS_AS(parse_json(repeat("[", 65) + repeat("]", 65)), config_error);
  CHECK_THROWS_AS(parse_json(repeat("[", 1000000)), config_error);
  CHECK_THROWS_AS(parse_json(repeat("{\"a\":", 1000000)), config_error);
}

TEST_CASE("parse_json: a syntax error names source, line and column", "[config]") {
  CHECK_THROWS_WITH(parse_json("{\n  \"a\": nope\n}", "run.json"),
                    Catch::StartsWith("run.json: expected JSON at line 2, column "));
  for (const std::string text : {"", "{", "[1,]", "NaN", "{\"a\": Infinity}", "1e999", "[-1e999]",
                                 "1 2", "{'a': 1}", "\"\xff\"", "\"a", "// c\n1", "01"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_json(text), config_error);
  }
}

TEST_CASE("parse_json: mutated texts are read or refused, never worse", "[config]") {
  const std::string valid = R"({"a": [1, 2.5e3, {"b": "text"}], "c": {"d": null, "e": false}})";
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string text = valid;
    for (int flips = 0; flips < 3; ++flips)
      text[random() % text.size()] ^= static_cast<char>(1U << (random() % 8));
    text.resize(random() % (text.size() + 1));
    try {
      parse_json(text).dump();
    } catch (const config_error&) {
      ++refused;
    }
  }
  CHECK(refused > 9000);
}

TEST_CASE("read_json_file: what can not be read is refused with the file's name", "[config]") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("troupe_json_text_test_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  CHECK_THROWS_WITH(troupe::read_json_file(folder / "none.json"),
                    Catch::Contains("none.json: expected a readable file"));
  CHECK_THROWS_WITH(troupe::read_json_file(folder), Catch::Contains("expected a readable file"));

  std::ofstream(folder / "good.json") << "{\"a\": 1}";
  CHECK(troupe::read_json_file(folder / "good.json") == json{{"a", 1}});

  std::ofstream(folder / "large.json") << '"' << std::string(troupe::json_bytes_max, 'x') << '"';
  CHECK_THROWS_WITH(troupe::read_json_file(folder / "large.json"),
                    Catch::Contains("expected at most 16777216 bytes"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("read_json_file: a FIFO or a device is refused, and nothing waits for it", "[config]") {
  const temporary_folder folder;
  const auto fifo = folder.path / "fifo.json";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(troupe::read_json_file(fifo),
                    fifo.string() + ": expected a regular file, got a FIFO");
  CHECK_THROWS_WITH(troupe::read_json_file("/dev/zero"),
                    "/dev/zero: expected a regular file, got a device");
  // A path that the user has typed may be a link.
  std::ofstream(folder.path / "good.json") << "{\"a\": 1}";
  std::filesystem::create_symlink("good.json", folder.path / "link.json");
  CHECK(troupe::read_json_file(folder.path / "link.json") == json{{"a", 1}});
}

TEST_CASE("apply_override: sets a value by its path and creates objects on the way", "[config]") {
  json document = {{"trainer", {{"lr", 1}}}};
  apply_override(document, "trainer.lr=3e-4");
  apply_override(document, "trainer.hidden=[1, 2]");
  apply_override(document, "a.b.c=d=e");
  apply_override(document, "empty=");
  apply_override(document, "quoted=\"7\"");
  CHECK(document == parse_json(R"({"trainer": {"lr": 3e-4, "hidden": [1, 2]},
                                   "a": {"b": {"c": "d=e"}}, "empty": "", "quoted": "7"})"));
}

TEST_CASE("apply_override: a text that names no place is refused", "[config]") {
  json document = {{"lr", 1}};
  CHECK_THROWS_WITH(apply_override(document, "lr"),
                    "lr: expected an override such as trainer.lr=3e-4, got no '='");
  CHECK_THROWS_WITH(apply_override(document, "lr.x=1"),
                    "/lr: expected an object to set \"x\" in, got 1");
  for (const std::string text : {"=1", "a..b=1", ".a=1", "a.=1"}) {
    INFO(text);
    CHECK_THROWS_WITH(apply_override(document, text), Catch::Contains("an empty key"));
  }
  CHECK_THROWS_AS(apply_override(document, repeat("a.", 100) + "a=1"), config_error);
}

}  // namespace

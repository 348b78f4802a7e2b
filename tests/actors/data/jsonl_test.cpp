#include "actors/data/jsonl.hpp"

#include <nlohmann/json.hpp>

#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

using namespace troupe;
using nlohmann::json;

namespace {

class jsonl_file {
 public:
  explicit jsonl_file(const std::string& text) { std::ofstream(path(), std::ios::binary) << text; }
  std::filesystem::path path() const { return folder_.path / "questions.jsonl"; }

  std::vector<json> read(const jsonl_options& options = {}) const {
    return read_jsonl<json>(path(), [](const json& object) { return object; }, options);
  }
  /// The error's text, without the folder.
  std::string refusal(const jsonl_options& options = {}) const {
    auto what = testing::message_of<jsonl_error>([&] { read(options); });
    if (const auto start = folder_.path.string() + '/'; what.starts_with(start)) {
      what.erase(0, start.size());
    }
    return what;
  }

 private:
  temporary_folder folder_;
};

/// The JSON pointer into `depth` arrays.
std::string zeros(int depth) {
  std::string pointer;
  for (int i = 0; i < depth; ++i) pointer += "/0";
  return pointer;
}

}  // namespace

TEST_CASE("jsonl: each line is an object, in the file's order") {
  const jsonl_file file("{\"q\":1}\n\n{\"q\":\"two\\n\"}\r\n  \t\n{\"q\":[3]}");
  const auto objects = file.read();
  REQUIRE(objects.size() == 3);
  CHECK(objects[0]["q"] == 1);
  CHECK(objects[1]["q"] == "two\n");
  CHECK(objects[2]["q"] == json::array({3}));
}

TEST_CASE("jsonl: lines of any length around the block size are read whole") {
  std::string text;
  std::vector<std::size_t> sizes;
  for (std::size_t size = 65'500; size < 65'560; ++size) {
    sizes.push_back(size);
    text += "{\"t\":\"" + std::string(size, 'x') + "\"}\n";
  }
  const auto objects = jsonl_file(text).read();
  REQUIRE(objects.size() == sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    CHECK(objects[i]["t"].get<std::string>().size() == sizes[i]);
  }
}

TEST_CASE("jsonl: a malformed line is refused with the file's name and its number") {
  const auto [line, refusal] = GENERATE(table<std::string, std::string>({
      {"{\"q\":1", "questions.jsonl:3: expected JSON at column"},
      {"{\"q\":1} {\"q\":2}", "questions.jsonl:3: expected JSON at column"},
      {"{\"q\":1,\"q\":2}", "questions.jsonl:3: /q: expected each key once"},
      {"[1]", "questions.jsonl:3: expected an object, got [1]"},
      {"7", "questions.jsonl:3: expected an object, got 7"},
      {"{\"q\":\"\xff\"}", "questions.jsonl:3: expected JSON at column"},
      {"{\"q\":1e999}",
       "questions.jsonl:3: expected JSON at column 6, got: a number that is too large, '1e999'"},
      {"{\"q\":[-1e400]}",
       "questions.jsonl:3: expected JSON at column 7, got: a number that is too "
       "large, '-1e400'"},
      {std::string(200, '['),
       "questions.jsonl:3: " + zeros(64) + ": expected at most 64 nested values"},
      {std::string("{\"q\":\0}", 7),
       "questions.jsonl:3: expected JSON at column 6, got: a NUL byte"},
      {std::string(3, '\0'), "questions.jsonl:3: expected JSON at column 1, got: a NUL byte"},
      {std::string("{\"q\":1}\0", 8),
       "questions.jsonl:3: expected JSON at column 8, got: a NUL byte"},
  }));
  const jsonl_file file("{\"q\":1}\n\n" + line + "\n{\"q\":4}\n");
  INFO(file.refusal());
  CHECK(file.refusal().starts_with(refusal));
}

TEST_CASE("jsonl: an object that makes no item is refused with its line") {
  const jsonl_file file("{\"q\":1}\n{\"answer\":1}\n");
  const auto to_number = [](const json& object) {
    if (!object.contains("q")) throw std::invalid_argument("expected a key \"q\", got none");
    return object["q"].get<int>();
  };
  CHECK_THROWS_WITH(read_jsonl<int>(file.path(), to_number),
                    file.path().string() + ":2: expected a key \"q\", got none");
}

TEST_CASE("jsonl: file and lines are bounded") {
  const jsonl_file file("{\"q\":1}\n{\"q\":12345}\n");
  CHECK(file.read({.file_bytes_max = 20, .line_bytes_max = 11}).size() == 2);
  CHECK(file.refusal({.line_bytes_max = 10}) ==
        "questions.jsonl:2: expected a line of at most 10 bytes, got a longer one");
  CHECK(file.refusal({.file_bytes_max = 19}) ==
        "questions.jsonl: expected at most 19 bytes, got a larger file");
  // No line end at all: stops at the bound, not at the end of the file.
  const jsonl_file endless(std::string(1 << 20, ' '));
  CHECK(endless.refusal({.line_bytes_max = 1000}) ==
        "questions.jsonl:1: expected a line of at most 1000 bytes, got a longer one");
}

TEST_CASE("jsonl: a file without an object, that is missing or none at all is refused") {
  const auto none = "questions.jsonl: expected at least one JSON object, got none";
  CHECK(jsonl_file("").refusal() == none);
  CHECK(jsonl_file("\n \n").refusal() == none);
  const auto ignore = [](const json&) {};
  CHECK_THROWS_WITH(for_each_jsonl("/no/such/file.jsonl", ignore),
                    "/no/such/file.jsonl: expected a readable file, got: No such file or "
                    "directory");
  CHECK_THROWS_WITH(for_each_jsonl("/dev/zero", ignore),
                    "/dev/zero: expected a regular file, got another kind");
  const temporary_folder folder;
  CHECK_THROWS_AS(for_each_jsonl(folder.path, ignore), jsonl_error);
}

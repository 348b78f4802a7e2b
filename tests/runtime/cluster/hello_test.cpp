#include "runtime/cluster/hello.hpp"

#include "runtime/cluster/build_id.hpp"
#include "tests/runtime/cluster/cluster.hpp"

namespace troupe::detail::testing {
namespace {

hello some_hello() {
  return {
      .build = "abc", .self = incarnation::random(), .name = "gpu-1", .role = "node", .slots = 4};
}

TEST_CASE("hello: reads back what it wrote") {
  const auto said = some_hello();
  const auto read = parse_hello(to_text(said));
  CHECK(read.protocol == said.protocol);
  CHECK(read.build == said.build);
  CHECK(read.self == said.self);
  CHECK(read.name == said.name);
  CHECK(read.role == said.role);
  CHECK(read.slots == said.slots);
  CHECK(read.proof.empty());
  auto proven = said;
  proven.proof = std::string(64, 'a');
  CHECK(parse_hello(to_text(proven)).proof == proven.proof);
  proven.proof += 'a';
  CHECK_THROWS_WITH(parse_hello(to_text(proven)), has_text("proof: expected 1 to 64"));
}

TEST_CASE("hello: malformed ones are refused, naming the field") {
  const auto text = to_text(some_hello());
  const auto with = [&](const std::string& part, const std::string& other) {
    auto changed = text;
    const auto at = changed.find(part);
    REQUIRE(at != std::string::npos);
    changed.replace(at, part.size(), other);
    return changed;
  };
  CHECK_THROWS_WITH(parse_hello(""), has_text("a JSON object"));
  CHECK_THROWS_WITH(parse_hello("[]"), has_text("a JSON object"));
  CHECK_THROWS_WITH(parse_hello(std::string(5000, '[')), has_text("at most 4096"));
  CHECK_THROWS_WITH(parse_hello(with("\"node\"", "\"king\"")), has_text("role"));
  CHECK_THROWS_WITH(parse_hello(with("gpu-1", "gpu 1")), has_text("name"));
  CHECK_THROWS_WITH(parse_hello(with("gpu-1", std::string(65, 'x'))), has_text("name"));
  CHECK_THROWS_WITH(parse_hello(with(":4", ":-1")), has_text("slots"));
  CHECK_THROWS_WITH(parse_hello(with(":4", ":1e9")), has_text("slots"));
  CHECK_THROWS_WITH(parse_hello(with(":4", ":99999999999999999999")), has_text("slots"));
  CHECK_THROWS_WITH(parse_hello(with("\"incarnation\":\"", "\"incarnation\":\"x")),
                    has_text("incarnation"));
}

TEST_CASE("hello: another build or protocol is named with ours") {
  const auto ours = some_hello();
  auto theirs = ours;
  CHECK(disagreement(ours, theirs).empty());
  theirs.build = "def";
  CHECK_THAT(disagreement(ours, theirs), has_text("abc"));
  CHECK_THAT(disagreement(ours, theirs), has_text("def"));
  theirs.build = "d\nef";
  CHECK_THAT(disagreement(ours, theirs), has_text("got d\\u000aef;"));
  // Of another protocol nothing else need be understood.
  theirs = parse_hello(R"({"protocol": 3, "build": "def", "self": []})");
  CHECK_THAT(disagreement(ours, theirs), has_text("expected protocol 2, as here, got 3"));
}

TEST_CASE("build id: this program has one") {
  CHECK(build_id().size() >= 16);
  CHECK(build_id().find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("incarnation: text of 32 digits and back") {
  const auto one = incarnation::random();
  CHECK(to_string(one).size() == 32);
  CHECK(incarnation::parse(to_string(one)) == one);
  CHECK(one != incarnation::random());
  CHECK_FALSE(incarnation::parse("12"));
  CHECK_FALSE(incarnation::parse(std::string(31, 'a') + "g"));
}

}  // namespace
}  // namespace troupe::detail::testing

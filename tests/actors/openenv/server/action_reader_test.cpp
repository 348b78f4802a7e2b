#include "actors/openenv/server/action_reader.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using nlohmann::json;

env_actions read(const space& of, const char* text) {
  env_actions to{.discrete = {7, 7, 7}, .continuous = {7}};  // of the step before
  action_reader(of).read(json::parse(text), json::array(), to);
  return to;
}

/// The first error of a refused action, and how many there are.
std::pair<json, std::size_t> refusal(const space& of, const char* text) {
  try {
    read(of, text);
  } catch (const invalid_input& e) {
    return {e.errors().at(0), e.errors().size()};
  }
  return {};
}

TEST_CASE("action reader: every kind of action that a step carries") {
  CHECK(read(spaces::discrete(2, 5), R"({"action":6})").discrete == std::vector<std::int64_t>{6});
  CHECK(read(spaces::multi_discrete({2, 3}), R"({"action":[1,2]})").discrete ==
        std::vector<std::int64_t>{1, 2});
  CHECK(read(spaces::multi_binary(2), R"({"action":[0,1],"metadata":{"who":"me"}})").discrete ==
        std::vector<std::int64_t>{0, 1});
  CHECK(read(spaces::box(-1, 1, {2, 1}), R"({"action":[[0.5],[-1]]})").continuous ==
        std::vector<float>{0.5F, -1});
}

TEST_CASE("action reader: numbers are read as pydantic reads them") {
  for (const char* text :
       {R"({"action":1})", R"({"action":"1"})", R"({"action":1.0})", R"({"action":true})"})
    CHECK(read(spaces::discrete(2), text).discrete == std::vector<std::int64_t>{1});
  CHECK(read(spaces::box(-1, 1, {1}), R"({"action":["0.5"]})").continuous ==
        std::vector<float>{0.5F});
}

TEST_CASE("action reader: a refusal says what is wrong, where, and what was given") {
  const auto [error, count] = refusal(spaces::discrete(2), R"({"action":2})");
  CHECK(count == 1);
  CHECK(error == json::parse(R"({"type":"less_than_equal","loc":["action"],"input":2,
      "msg":"Input should be less than or equal to 1","ctx":{"le":1}})"));

  const auto kind = [](const space& of, const char* text) {
    return refusal(of, text).first["type"];
  };
  const space two = spaces::discrete(2);
  CHECK(kind(two, R"({"action":-1})") == "greater_than_equal");
  CHECK(kind(two, R"({"action":0.5})") == "int_from_float");
  CHECK(kind(two, R"({"action":1e300})") == "int_from_float");
  CHECK(kind(two, R"({"action":18446744073709551615})") == "int_parsing_size");
  CHECK(kind(two, R"({"action":"left"})") == "int_parsing");
  CHECK(kind(two, R"({"action":null})") == "int_type");
  CHECK(kind(two, R"({"action":[1]})") == "int_type");
  CHECK(kind(two, R"({})") == "missing");
  CHECK(kind(two, R"({"action":1,"metadata":7})") == "dict_type");
  CHECK(kind(two, R"({"action":1,"other":7})") == "extra_forbidden");
  const space box = spaces::box(-1, 1, {2});
  CHECK(kind(box, R"({"action":0.5})") == "list_type");
  CHECK(kind(box, R"({"action":[0.5]})") == "too_short");
  CHECK(kind(box, R"({"action":[0,0,0]})") == "too_long");
  CHECK(kind(box, R"({"action":[0,null]})") == "float_type");
  CHECK(kind(box, R"({"action":[0,"x"]})") == "float_parsing");
  CHECK(kind(box, R"({"action":[0,"nan"]})") == "finite_number");
  CHECK(kind(box, R"({"action":[0,1e300]})") == "finite_number");
  CHECK(refusal(box, R"({"action":[null,"x"],"other":1})").second == 3);
  CHECK(refusal(box, R"({"action":[0,"x"]})").first["loc"] == json{"action", 1});
}

TEST_CASE("action reader: numbers outside of a box are passed on, to be clipped") {
  CHECK(read(spaces::box(-1, 1, {2}), R"({"action":[1.5,-1e6]})").continuous ==
        std::vector<float>{1.5F, -1e6F});
}

TEST_CASE("action reader: a thousand faults are told as twenty") {
  std::string text = R"({"action":[)";
  for (int i = 0; i < 1000; ++i) text += i ? ",null" : "null";
  CHECK(refusal(spaces::box(-1, 1, {1000}), (text + "]}").c_str()).second ==
        input_errors::errors_max);
}

TEST_CASE("action reader: spaces that a step message does not carry are refused") {
  CHECK_THROWS_AS(action_reader(spaces::text(3)), std::invalid_argument);
  CHECK_THROWS_AS(action_reader(spaces::dict({})), std::invalid_argument);
  CHECK_THROWS_AS(action_reader(space()), std::invalid_argument);
}

}  // namespace
}  // namespace troupe::openenv_server

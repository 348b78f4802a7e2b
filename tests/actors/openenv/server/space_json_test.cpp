#include "actors/openenv/server/space_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "actors/environments/space_sampler.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

using nlohmann::json;

std::string text_of(const space& of, const std::vector<float>& flat) {
  std::string text;
  append_json(of, flat, text);
  return text;
}

std::string text_of(double number) {
  std::string text;
  append_json(number, text);
  return text;
}

TEST_CASE("space json: elements are written as what they are, not flattened") {
  CHECK(text_of(spaces::discrete(3, 5), {0, 0, 1}) == "7");
  CHECK(text_of(spaces::multi_discrete({2, 3}, {0, 10}), {0, 1, 1, 0, 0}) == "[1,10]");
  CHECK(text_of(spaces::multi_binary(3), {1, 0, 1}) == "[1,0,1]");
  CHECK(text_of(spaces::box(-1, 1, {2, 2}), {0.5F, -1, 0, 0.1F}) ==
        "[[0.5,-1.0],[0.0,0.10000000149011612]]");
  CHECK(text_of(spaces::image(1, 1, 3), {0, 7, 255}) == "[[[0,7,255]]]");
  CHECK(text_of(spaces::text(4, 0, "ab\""), {1, 2, 0, 3}) == R"("b\"a")");
  const space both = spaces::dict({{"b", spaces::discrete(2)}, {"a", spaces::multi_binary(1)}});
  CHECK(text_of(both, {1, 0, 1}) == R"({"a":[1],"b":1})");
  CHECK(text_of(spaces::tuple({both, spaces::discrete(2)}), {0, 1, 0, 1, 0}) ==
        R"([{"a":[0],"b":0},0])");
  CHECK(text_of(space(), {}) == "[]");
}

TEST_CASE("space json: numbers read back as the same bits, and as floats") {
  for (const double number : {0.1, -2.0, 1e300, 5e-324, 1.0 / 3, 123456789012345680.0}) {
    const auto text = text_of(number);
    CHECK(json::parse(text).get<double>() == number);
    CHECK(json::parse(text).is_number_float());
  }
  CHECK(text_of(0.1) == "0.1");
  CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(text_of(std::numeric_limits<double>::infinity()) == "null");
  space_sampler sampler(spaces::box(-100, 100, {1000}), 1);
  const auto drawn = std::get<std::vector<float>>(sampler.sample());
  const auto read = json::parse(text_of(sampler.sampled_space(), drawn));
  for (std::size_t i = 0; i < drawn.size(); ++i)
    CHECK(read[i].get<double>() == static_cast<double>(drawn[i]));
}

TEST_CASE("space json: a schema says kinds, shapes, and bounds where there are some") {
  CHECK(json_schema(spaces::discrete(2)) ==
        json::parse(R"({"type":"integer","minimum":0,"maximum":1})"));
  CHECK(json_schema(spaces::box(-2, 2, {1})) ==
        json::parse(R"({"type":"array","minItems":1,"maxItems":1,
                        "items":{"type":"number","minimum":-2.0,"maximum":2.0}})"));
  constexpr auto none = std::numeric_limits<float>::infinity();
  CHECK(json_schema(spaces::box({-1, -none}, {1, none})) ==
        json::parse(R"({"type":"array","minItems":2,"maxItems":2,"prefixItems":[
                        {"type":"number","minimum":-1.0,"maximum":1.0},{"type":"number"}]})"));
  const auto image = json_schema(spaces::image(1, 2, 3));
  CHECK(image["maxItems"] == 1);
  CHECK(image["items"]["maxItems"] == 2);
  CHECK(image["items"]["items"]["items"] ==
        json::parse(R"({"type":"integer","minimum":0.0,"maximum":255.0})"));
  CHECK(json_schema(spaces::dict({{"a", spaces::discrete(2)}}))["required"] == json{"a"});
}

}  // namespace
}  // namespace troupe::openenv_server

#include "actors/environments/space_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/test.hpp"

namespace troupe {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST_CASE("space_json: every kind of space comes back as it was", "[env]") {
  auto bytes = spaces::image(1, 2, 2);
  for (const space& what : std::vector<space>{
           spaces::box(-2.0f, 2.0f, {3}), spaces::box({-1.0f, 0.1f}, {0.5f, infinity}),
           spaces::box(-infinity, infinity, {2, 2}), spaces::box(0.0f, 1.0f, {}), bytes,
           spaces::discrete(3, 5), spaces::multi_discrete({2, 3}, {-1, 4}), spaces::multi_binary(4),
           spaces::text(5, 2, "ab"),
           spaces::tuple({spaces::discrete(2), spaces::box(0.0f, 1.0f, {1})}),
           spaces::dict(
               {{"b", spaces::discrete(2)}, {"a", spaces::tuple({spaces::multi_binary(1)})}})}) {
    INFO(to_string(what));
    const auto text = space_to_json(what).dump();
    CHECK(space_from_json(nlohmann::json::parse(text)) == what);
  }
}

TEST_CASE("space_json: bounds that are equal are one number, and infinite ones null", "[env]") {
  CHECK(space_to_json(spaces::box(-infinity, 2.0f, {1000})).dump() ==
        R"({"bytes":false,"high":2.0,"kind":"box","low":null,"shape":[1000]})");
  CHECK(space_to_json(spaces::discrete(2)).dump() == R"({"kind":"discrete","n":2,"start":0})");
}

TEST_CASE("space_json: another form is refused", "[env]") {
  for (const char* text :
       {R"({"kind":"sphere","parts":[]})", R"({"kind":"discrete","n":0,"start":0})",
        R"({"kind":"box","shape":[2],"low":[0],"high":1,"bytes":false})"}) {
    INFO(text);
    CHECK_THROWS_AS(space_from_json(nlohmann::json::parse(text)), std::invalid_argument);
  }
  CHECK_THROWS_AS(space_from_json(nlohmann::json::parse(R"({"n":2})")), nlohmann::json::exception);
}

}  // namespace
}  // namespace troupe

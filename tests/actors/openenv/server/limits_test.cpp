#include "actors/openenv/server/byte_budget.hpp"
#include "actors/openenv/server/default_limits.hpp"
#include "actors/openenv/server/input_errors.hpp"
#include "tests/test.hpp"

namespace troupe::openenv_server {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t gib = std::size_t{1} << 30;

TEST_CASE("byte budget: clients hold no more than there is, and give it back at their end") {
  byte_budget budget(100);
  held_bytes one(budget);
  {
    held_bytes other(budget);
    CHECK(one.set(60));
    CHECK(other.set(40));
    CHECK_FALSE(other.set(41));
    CHECK(other.missing_for(41) == 1);
    CHECK(other.count() == 40);
    one.shrink_to(70);
    CHECK(one.count() == 60);
    one.shrink_to(50);
    CHECK(other.set(50));
    CHECK(budget.held() == 100);
  }
  CHECK(budget.held() == 50);
  CHECK(one.set(100));
  CHECK(one.set(0));
  CHECK(budget.held() == 0);
  CHECK(budget.most_held() == 100);
}

TEST_CASE("default limits: the memory for messages is an eighth of the machine's") {
  CHECK(default_memory_bytes(64 * gib, mib) == gib);
  CHECK(default_memory_bytes(4 * gib, mib) == gib / 2);
  CHECK(default_memory_bytes(64 * mib, mib) == least_budget(mib));
}

TEST_CASE("default limits: sessions that are processes follow cores and memory") {
  CHECK(default_sessions(false, 1, gib) == 1024);
  CHECK(default_sessions(true, 2, 64 * gib) == 16);
  CHECK(default_sessions(true, 64, 4 * gib) == 16);
  CHECK(default_sessions(true, 1, 64 * mib) == 1);
  CHECK(default_sessions(true, 1000, 1024 * gib) == 1024);
}

TEST_CASE("input errors: a long input is left out, in whatever way it is long") {
  using nlohmann::json;
  const json short_input = {{"a", {1, 2, 3}}, {"b", "text"}};
  const json many = json(std::vector<json>(1000, json::object()));
  json nested = 1, named;
  for (int i = 0; i < 1000; ++i) nested = json::array({nested, 1});
  named[std::string(3000, 'k')] = 1;
  for (const auto& input : {json(std::string(3000, 'x')), many, nested, named}) {
    input_errors errors;
    for (int i = 0; i < 30; ++i) errors.add("type", json::array(), "message", input);
    CHECK(errors.list().size() == input_errors::errors_max);
    CHECK(errors.list().dump().size() < 5000);
    CHECK(errors.list()[0]["input"] == "(left out, as it has more than 2000 bytes)");
  }
  input_errors errors;
  errors.add("type", json::array(), "message", short_input);
  CHECK(errors.list()[0]["input"] == short_input);
}

}  // namespace
}  // namespace troupe::openenv_server

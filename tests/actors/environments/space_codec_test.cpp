#include <limits>

#include "actors/environments/environment.hpp"
#include "actors/environments/vector_environment.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using Catch::Matchers::Contains;

template <class T>
T there_and_back(const T& value) {
  const auto bytes = detail::encode(value);
  return detail::decode<T>(bytes.bytes());
}

/// How the space is refused whose parts `parts` are, of that kind.
template <class Parts>
std::string refusal(std::uint8_t kind, const Parts& parts) {
  const auto bytes = detail::encode(std::tuple(kind, parts));
  return testing::message_of<wire_error>([&] { detail::decode<space>(bytes.bytes()); });
}

const float infinity = std::numeric_limits<float>::infinity();

std::vector<space> all_kinds() {
  return {spaces::box(-infinity, 2, {2, 3}),
          spaces::image(3, 4, 4),
          spaces::discrete(5, -1),
          spaces::multi_discrete({2, 3}, {0, -1}),
          spaces::multi_binary(4),
          spaces::text(9, 2, "abc"),
          spaces::tuple({spaces::discrete(2), spaces::tuple({spaces::box(0, 1, {0})})}),
          spaces::dict({{"a", spaces::discrete(2)}, {"b", spaces::multi_binary(1)}})};
}

TEST_CASE("space codec: every kind of space comes back equal") {
  for (const auto& what : all_kinds()) CHECK(there_and_back(what) == what);
  const env_spec spec{"Corridor-v0", spaces::box(-1, 1, {3}), spaces::discrete(2), 100, 0.5};
  CHECK(there_and_back(spec) == spec);
}

TEST_CASE("space codec: values of a space come back, within each other too") {
  const space_value value = std::vector<space_value>{
      std::int64_t{3}, std::vector<float>{1, infinity}, std::string("left"),
      std::vector<space_value>{std::vector<std::uint8_t>{0, 1}}};
  CHECK(there_and_back(value) == value);
}

TEST_CASE("space codec: what makes no space is refused with the constructor's words") {
  using floats = std::vector<float>;
  using integers = std::vector<std::int64_t>;
  const auto box = [](floats low, integers shape) {
    return refusal(0, std::tuple(low, floats{1, 1}, shape, spaces::element::float32));
  };
  CHECK(box({0, 0}, {2}) == "");
  CHECK_THAT(box({0, 2}, {2}), Contains("expected low <= high at element 1"));
  CHECK_THAT(box({0, 0}, {3}), Contains("as many elements as there are bounds"));
  CHECK_THAT(box({0, 0}, {std::int64_t{1} << 62, 8}), Contains("as many elements"));
  CHECK_THAT(refusal(1, std::tuple(std::int64_t{0}, std::int64_t{0})), Contains("expected n > 0"));
  CHECK_THAT(refusal(7, std::monostate()), Contains("its index is 7"));
}

TEST_CASE("space codec: what a step gives crosses") {
  env_step step;
  step.obs = {1, 2};
  step.reward = {0.5};
  step.finished.push_back({.index = 0, .episode_return = 3, .length = 7, .final_obs = {9, 9}});
  step.failures.push_back({.id = "Corridor-v0", .reason = env_failure_reason::shape});
  const auto back = there_and_back(step);
  CHECK(back.obs == step.obs);
  CHECK(back.finished[0].final_obs == step.finished[0].final_obs);
  CHECK(back.failures[0].reason == env_failure_reason::shape);
}

}  // namespace
}  // namespace troupe

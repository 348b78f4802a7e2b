#include "actors/worlds/pixels/pixel_catch.hpp"

#include <algorithm>

#include "actors/environments/space_sampler.hpp"
#include "actors/worlds/registry.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using floats = std::vector<float>;

/// Columns of ball and paddle, from a picture of 10 x 10 pixels: a row each, two pixels a column.
struct board {
  std::ptrdiff_t ball, paddle;
};
board read(const floats& picture, int ball_row) {
  const auto column = [&](int row) {
    const auto first = picture.begin() + row * 10;
    return (std::find(first, first + 10, 255.0F) - first) / 2;
  };
  return {column(ball_row), column(9)};
}

TEST_CASE("catch: its observation is an image of bytes, and what it shows is one", "[env]") {
  for (const auto& [id, text] : {std::pair{"Catch-v0", "Box(0, 255, (1, 84, 84), uint8)"},
                                 std::pair{"CatchSmall-v0", "Box(0, 255, (1, 36, 36), uint8)"}}) {
    const auto batch = make_vector_environment(id, 1);
    const auto spec = batch->spec();
    CHECK(spec.id == id);
    CHECK(to_string(spec.observation_space) == text);
    const auto begun = batch->reset(1).obs;
    CHECK(spec.observation_space.contains(begun));
  }
}

TEST_CASE("catch: a cell is painted with all its pixels", "[env]") {
  pixel_catch one({.id = "Catch", .pixels = 10});
  floats obs(100);
  one.reset(1, obs);
  CHECK(std::ranges::count(obs, 255.0F) == 4);  // ball and paddle, 1 x 2 pixels each
  CHECK(std::ranges::count(obs, 0.0F) == 96);
  CHECK(read(obs, 0).paddle == 2);
}

TEST_CASE("catch: the paddle moves, stops at the walls, and the ball's last row decides", "[env]") {
  pixel_catch one({.id = "Catch", .pixels = 10});
  floats obs(100);
  int caught = 0;
  for (int episode = 0; episode < 40; ++episode) {
    const std::int64_t push = episode % 3;  // all to the left, none, all to the right
    one.reset(episode == 0 ? std::optional(5) : std::nullopt, obs);
    const auto ball = read(obs, 0).ball;
    for (int t = 1; t <= 9; ++t) {
      const auto result = one.step(action_view(push), obs);
      const auto paddle = std::clamp<std::ptrdiff_t>(2 + t * (push - 1), 0, 4);
      if (t < 9) {
        const auto seen = read(obs, t);
        REQUIRE(seen.ball == ball);
        REQUIRE(seen.paddle == paddle);
        REQUIRE(result.reward == 0);
        REQUIRE_FALSE(result.terminated);
      } else {
        REQUIRE(result.terminated);
        REQUIRE(result.reward == (ball == paddle ? 1 : -1));
        caught += ball == paddle;
      }
      REQUIRE_FALSE(result.truncated);
    }
  }
  CHECK(caught > 0);
  CHECK(caught < 40);
}

TEST_CASE("catch: it is saved in the middle of an episode and goes on", "[env]") {
  const auto one = make_vector_environment({.id = "CatchSmall-v0", .wrappers = {.frames = 2}}, 2);
  const auto other = make_vector_environment({.id = "CatchSmall-v0", .wrappers = {.frames = 2}}, 2);
  CHECK(to_string(one->spec().observation_space) == "Box(0, 255, (2, 1, 36, 36), uint8)");
  one->reset(3);
  const env_actions actions{.discrete = {0, 2}, .continuous = {}};
  for (int t = 0; t < 4; ++t) one->step(actions);
  other->restore(*one->save());
  for (int t = 0; t < 20; ++t) CHECK(one->step(actions).obs == other->step(actions).obs);
}

TEST_CASE("catch: what it can't be is named", "[env]") {
  CHECK_THROWS_WITH(pixel_catch({.id = "Tiny-v0", .pixels = 9}),
                    "Tiny-v0: expected at least 10 pixels, got 9");
  pixel_catch one;
  floats obs(84 * 84);
  one.reset(1, obs);
  const std::int64_t none = 3;
  CHECK_THROWS_WITH(one.step(action_view(none), obs), "Catch: expected action 0, 1 or 2, got 3");
}

TEST_CASE("spaces: bytes are whole numbers, drawn over their whole range", "[env]") {
  const space bytes = spaces::image(1, 40, 40);
  CHECK(bytes.contains(floats(1600, 255.0F)));
  CHECK_FALSE(bytes.contains(floats(1600, 0.5F)));
  CHECK_FALSE(bytes.contains(floats(1600, 256.0F)));
  const auto drawn = space_sampler(bytes, 1).sample();
  CHECK(bytes.contains(drawn));
  const auto& numbers = std::get<floats>(drawn);
  CHECK(std::ranges::max(numbers) > 250.0F);
  CHECK(std::ranges::min(numbers) < 5.0F);
}

}  // namespace
}  // namespace troupe

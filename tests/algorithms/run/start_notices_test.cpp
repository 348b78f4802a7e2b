#include "algorithms/run/start_notices.hpp"

#include "actors/networks/shape_of.hpp"
#include "runtime/base/log.hpp"
#include "tests/captured_stream.hpp"

namespace troupe {
namespace {

env_spec images_of_size(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {.id = "Images",
          .observation_space = spaces::image(channels, height, width),
          .action_space = spaces::discrete(3)};
}

std::string told(const std::string& id, const env_spec& spec) {
  log::set_level("info");  // another case may have turned it off
  const testing::captured_stderr log;
  tell_large_images({.id = id}, spec, shape_of(spec), {});
  return log.text();
}

TEST_CASE("large images: their size, the time of an action and what to do are told") {
  const auto pong = told("gymnasium:ALE/Pong-v5", images_of_size(3, 210, 160));
  CHECK_THAT(pong, Catch::Contains("numbers=100800") && Catch::Contains("acting_ms=") &&
                       Catch::Contains("env.wrappers=[AtariPreprocessing]") &&
                       Catch::Contains("docs/guides/atari.md"));
  CHECK_THAT(told("gymnasium:My-v0", images_of_size(3, 200, 200)),
             Catch::Contains("ResizeObservation(shape=(84, 84))"));
  CHECK_THAT(
      told("Mine-v0", images_of_size(3, 200, 200)),
      Catch::Contains("smaller pictures, such as 84x84") && !Catch::Contains("ResizeObservation"));
}

TEST_CASE("large images: nothing is told of four pictures of 84x84, and of what is no image") {
  CHECK(told("gymnasium:ALE/Pong-v5", images_of_size(4, 84, 84)).empty());
  auto vectors = images_of_size(1, 10, 10);
  vectors.observation_space = spaces::box(0, 1, {100'000});
  CHECK(told("Vectors-v0", vectors).empty());
}

TEST_CASE("start notices: more steps than were asked for, and idle replicas, are told") {
  log::set_level("info");  // another case may have turned it off
  run_settings sizes;
  sizes.config = R"({"total_steps": 300})";
  sizes.total_steps = 4096;
  sizes.steps_of_update = 2048;
  sizes.update_options = "rollout.n_steps * env.n_envs";
  const auto told_of = [](const run_settings& of) {
    const testing::captured_stderr log;
    tell_sizes(of);
    return log.text();
  };
  CHECK_THAT(told_of(sizes), Catch::Contains("total_steps=300 steps=4096") &&
                                 Catch::Contains("steps_of_an_update=2048"));
  sizes.config = R"({"total_steps": 4000})";
  CHECK(told_of(sizes).empty());
  sizes.env.replicas = 3;
  sizes.replicas_at_once = 1;
  sizes.replicas_option = "rollout.workers";
  CHECK_THAT(told_of(sizes), Catch::Contains("env.replicas=3 at_once=1"));
}

}  // namespace
}  // namespace troupe

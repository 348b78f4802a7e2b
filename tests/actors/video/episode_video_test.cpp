#include "actors/video/episode_video.hpp"

#include <limits>
#include <memory>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/task_environment.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/actors/video/read_gif.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::read_gif;

/// Episodes of 3 steps. Its picture is grey; the brightness is 50 for each step and 10 for each
/// episode.
class lamp final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Lamp-v0",
            .observation_space = spaces::box(0.0F, 1.0F, {1}),
            .action_space = spaces::discrete(2),
            .render_fps = fps};
  }
  void reset(std::optional<std::uint64_t>, std::span<float> obs) override {
    ++episode_;
    step_ = 0;
    obs[0] = 0;
  }
  step_result step(action_view, std::span<float> obs) override {
    obs[0] = 0;
    return {.reward = 1, .terminated = ++step_ == 3};
  }
  bool render(canvas& on) const override {
    const auto light = static_cast<std::uint8_t>(50 * step_ + 10 * episode_);
    on.begin(side, side, {light, light, light});
    if (grows) ++side;
    return true;
  }

  static inline double fps = 5;
  static inline bool grows = false;
  static inline int side = 20;

 private:
  int step_ = 0, episode_ = -1;
};

std::unique_ptr<vector_environment> lamps(std::size_t count = 1) {
  return std::make_unique<vector_env<lamp>>(count);
}

/// Plays until the video is complete. Returns the number of steps.
int play(episode_video& video, vector_environment& on) {
  on.reset(1);
  video.begin(on);
  int steps = 0;
  while (!video.complete()) {
    env_actions actions;
    actions.discrete.assign(1, 1);
    video.add(on, on.step(actions));
    ++steps;
  }
  return steps;
}

std::vector<int> brightness(const std::filesystem::path& path) {
  std::vector<int> seen;
  const auto shown = read_gif(path);
  for (const auto& picture : shown.pictures) seen.push_back(picture[0].red);
  return seen;
}

TEST_CASE("episode_video: every episode is seen from its first picture to its last") {
  const temporary_folder folder;
  const auto path = folder.path / "lamp.gif";
  episode_video video({.file = path, .episodes = 2}, *lamps());
  const auto played = lamps();
  CHECK(play(video, *played) == 6);
  video.finish();
  CHECK(video.frames() == 8);
  CHECK(video.seconds() == 8 / 5.0);
  CHECK_FALSE(video.is_cut());
  // The last picture of an episode is that of its third step, though the environment has begun
  // the next episode by then.
  CHECK(brightness(path) == std::vector{0, 50, 100, 150, 10, 60, 110, 160});
  CHECK(read_gif(path).delays == std::vector(8, 20));
}

TEST_CASE("episode_video: what is beyond its length is left out, and it says so") {
  const temporary_folder folder;
  const auto path = folder.path / "lamp.gif";
  episode_video video({.file = path, .episodes = 100, .frames_max = 5}, *lamps());
  const auto played = lamps();
  play(video, *played);
  env_actions actions;
  actions.discrete.assign(1, 1);
  video.add(*played, played->step(actions));  // nothing more
  video.finish();
  CHECK(video.is_cut());
  CHECK(brightness(path) == std::vector{0, 50, 100, 150, 10});
}

TEST_CASE("episode_video: pictures that change their size are scaled to the first one's") {
  lamp::grows = true;
  const temporary_folder folder;
  episode_video video({.file = folder.path / "lamp.gif"}, *lamps());
  const auto played = lamps();
  play(video, *played);
  lamp::grows = false;
  video.finish();
  const auto shown = read_gif(folder.path / "lamp.gif");
  CHECK(shown.width == 20);
  CHECK(shown.pictures.size() == 4);
}

TEST_CASE("episode_video: each task has its turn and its picture") {
  const temporary_folder folder;
  const std::vector<env_task> tasks{{.name = "Acrobot-v1"}, {.name = "CartPole-v1"}};
  const auto played = make_task_environments(tasks, 1, {.wrappers = {.max_episode_steps = 2}});
  played->set_turns({0, 1});
  episode_video video({.file = folder.path / "tasks.gif", .episodes = 2}, *played);
  played->set_turns({0, 1});
  play(video, *played);
  video.finish();
  const auto shown = read_gif(folder.path / "tasks.gif");
  REQUIRE(shown.pictures.size() == 6);
  CHECK(shown.width == 500);
  CHECK(shown.height == 500);
  const canvas::colour white{255, 255, 255}, black{};
  CHECK(shown.at(2, 250, 5) == white);
  CHECK(shown.at(3, 250, 5) == black);  // above CartPole's picture of 600 x 400, scaled
  CHECK(shown.at(3, 5, 100) == white);
}

TEST_CASE("episode_video: what it can't show is refused before the file is made") {
  const temporary_folder folder;
  const auto in_folder = [&](const char* name) {
    return episode_video_options{.file = folder.path / name};
  };
  class dark final : public environment {
   public:
    env_spec spec() const override {
      return {.id = "Dark-v0",
              .observation_space = spaces::box(0.0F, 1.0F, {1}),
              .action_space = spaces::discrete(2)};
    }
    void reset(std::optional<std::uint64_t>, std::span<float> obs) override { obs[0] = 0; }
    step_result step(action_view, std::span<float>) override { return {}; }
  };
  vector_env<dark> without(1);
  CHECK_THROWS_WITH(episode_video(in_folder("a.gif"), without),
                    "video of Dark-v0: expected an environment with a picture, got one without "
                    "render");
  CHECK_THROWS_WITH(episode_video(in_folder("a.webm"), *lamps()), Catch::Contains(".gif or .mp4"));
  CHECK_THROWS_WITH(episode_video(in_folder("a.gif"), *lamps(2)),
                    "video of Lamp-v0: expected 1 environment, got 2");
  for (const double fps : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    lamp::fps = fps;
    CHECK_THROWS_WITH(episode_video(in_folder("a.gif"), *lamps()),
                      Catch::Contains("expected render_fps > 0"));
  }
  lamp::fps = 5;
  CHECK(count_entries(folder.path) == 0);
}

}  // namespace
}  // namespace troupe

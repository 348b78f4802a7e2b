// A recorder goes on where another one was saved, as if nothing had come in between.

#include <chrono>
#include <sstream>

#include "actors/recorder/recorder.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

/// Two run directories under one clock that stands still.
struct fixture {
  recorder_options fresh(const std::string& root) {
    return {.root = folder.path / root,
            .algo = "ppo",
            .env = "CartPole-v1",
            .total_steps = 1000,
            .curve_interval = 1h,
            .on_failure = [this](const std::string& message) { failures.push_back(message); },
            .now = [this] { return now; }};
  }
  recorder_options resumed(recorder& before) {
    auto options = fresh("unused");
    options.directory = before.directory();
    options.saved = before.save();
    return options;
  }
  temporary_folder folder;
  std::chrono::system_clock::time_point now{1700000000s};
  std::vector<std::string> failures;
};

void first_part(recorder& to) {
  for (int i = 1; i <= 5; ++i) to.episode(10 * i, 3.5 * i, 10);
  to.record({100, {{"train/loss", 0.25}}});
  to.evaluation(100, 30, 2, 30);
}

void second_part(recorder& to) {
  for (int i = 6; i <= 9; ++i) to.episode(10 * i, 2.5 * i, 10);
  to.record({200, {{"train/loss", 0.125}, {"train/new", 1}}});
  to.finish("{}");
}

std::string events_of(const std::filesystem::path& directory) {
  std::string text;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!entry.path().filename().string().starts_with("events.")) continue;
    text = read_text(entry.path());
    ++files;
  }
  CHECK(files == 1);
  return text;
}

TEST_CASE("recorder: one that was saved goes on in the same files, without what came after") {
  fixture run;
  recorder straight(run.fresh("straight"));
  first_part(straight);
  second_part(straight);

  recorder killed(run.fresh("killed"));
  first_part(killed);
  const auto options = run.resumed(killed);
  killed.record({150, {{"train/lost", 9}}});
  killed.evaluation(150, 99, 9, 99);
  {
    recorder after(options);
    second_part(after);
  }
  const std::filesystem::path a = straight.directory(), b = killed.directory();
  CHECK(events_of(a) == events_of(b));
  CHECK(read_text(a / "learning_curve.png") == read_text(b / "learning_curve.png"));
  const auto csv = read_text(b / "progress.csv");
  CHECK_THAT(csv, Catch::Contains("train/new"));
  CHECK_THAT(csv, !Catch::Contains("99"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK(run.failures.empty());
}

TEST_CASE("recorder: time goes on from what had passed, without the pause") {
  fixture run;
  recorder before(run.fresh("runs"));
  run.now += 10s;
  const auto options = run.resumed(before);
  run.now += 1h;
  recorder after(options);
  run.now += 10s;
  after.record({100, {}});
  CHECK_THAT(read_text(std::filesystem::path(before.directory()) / "progress.csv"),
             Catch::Contains("5,20,100"));  // time/fps, time/time_elapsed, time/total_timesteps
}

TEST_CASE("recorder: with nothing saved a run directory is begun anew") {
  fixture run;
  recorder before(run.fresh("runs"));
  first_part(before);
  auto options = run.fresh("unused");
  options.directory = before.directory();
  recorder after(options);
  after.record({10, {}});
  CHECK(after.directory() == before.directory());
  const auto csv = read_text(options.directory / "progress.csv");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 2);
  events_of(options.directory);
}

TEST_CASE("progress csv: going on keeps quoted columns and needs no file") {
  temporary_folder folder;
  const auto path = folder.path / "progress.csv";
  {
    progress_csv csv(path);
    csv.write({{"a,\"b\"", 1}, {"c", 2}});
    csv.write({{"c", 3}});
  }
  {
    auto csv = progress_csv::resume(path, 1);
    csv.write({{"a,\"b\"", 4}});
  }
  CHECK(read_text(path) == "\"a,\"\"b\"\"\",c\n1,2\n4,\n");
  CHECK(progress_csv::resume(path, 7).rows() == 2);
  CHECK(progress_csv::resume(folder.path / "none.csv", 3).rows() == 0);
}

/// Adds episodes with these returns until there are so many of them.
void add_episodes(recorder& to, int from, int until, double episode_return) {
  for (int i = from; i < until; ++i) to.episode(10 * i, episode_return, 10);
}

TEST_CASE("recorder: the return of the first 100 episodes is told once if it was always the same") {
  fixture run;
  std::vector<double> told;
  const auto listening = [&](recorder_options options) {
    options.returns_are_equal = [&](double every) { told.push_back(every); };
    return options;
  };
  recorder equal(listening(run.fresh("equal")));
  add_episodes(equal, 0, 99, -200);
  CHECK(told.empty());
  add_episodes(equal, 99, 250, -200);
  CHECK(told == std::vector<double>{-200});

  recorder late(listening(run.fresh("late")));
  add_episodes(late, 0, 1, 1);
  add_episodes(late, 1, 250, 0);
  CHECK(told.size() == 1);

  // A resumed run counts on, and tells nothing twice.
  recorder before(listening(run.fresh("resumed")));
  add_episodes(before, 0, 60, 0);
  recorder after(listening(run.resumed(before)));
  add_episodes(after, 60, 99, 0);
  CHECK(told.size() == 1);
  add_episodes(after, 99, 110, 0);
  CHECK(told == std::vector<double>{-200, 0});
  recorder last(listening(run.resumed(after)));
  add_episodes(last, 110, 250, 0);
  CHECK(told.size() == 2);
}

}  // namespace
}  // namespace troupe

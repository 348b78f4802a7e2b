#include "actors/recorder/recorder.hpp"

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "tests/actors/recorder/file_size_limit.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/test.hpp"

namespace {

using namespace std::chrono_literals;
using troupe::recorder;
using troupe::recorder_options;
using troupe::run_directory;
using troupe::run_directory_error;

/// A run in a folder of its own, with a clock that the test turns.
struct fixture {
  recorder_options options(const std::string& config = R"({"lr": 3e-4})") {
    recorder_options result;
    result.root = folder.path / "runs";
    result.algo = "ppo";
    result.env = "CartPole-v1";
    result.config = config;
    result.total_steps = 1000;
    result.on_failure = [this](const std::string& message) { failures.push_back(message); };
    result.now = [this] { return now; };
    return result;
  }

  temporary_folder folder;
  std::chrono::system_clock::time_point now{std::chrono::seconds(1700000000)};
  std::vector<std::string> failures;
};

/// What is printed on stdout while it lives.
class captured_stdout {
 public:
  captured_stdout() : old_(std::cout.rdbuf(text_.rdbuf())) {}
  ~captured_stdout() { std::cout.rdbuf(old_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* old_;
};

TEST_CASE("recorder: a status page is told once a second, and at the end", "[recorder]") {
  fixture run;
  auto options = run.options();
  std::vector<std::string> boards;
  options.board_changed = [&](std::string board) { boards.push_back(std::move(board)); };
  recorder of(options);
  for (int i = 1; i <= 20; ++i) {
    run.now += 100ms;
    of.episode(10 * i, i, 10);
  }
  CHECK(boards.size() == 2);  // after 0.1 s and after 1.1 s
  of.finish("{}");
  REQUIRE(boards.size() == 3);
  const auto last = nlohmann::json::parse(boards.back());
  CHECK(last.at("title") == "PPO on CartPole-v1");
  CHECK(last.at("now") == 200);
  CHECK(last.at("dots").size() == 20);
}

TEST_CASE("recorder: a finished run leaves its files", "[recorder]") {
  fixture run;
  recorder record(run.options());
  const auto directory = run_directory::open(record.directory());
  CHECK(directory.path() == run.folder.path / "runs" / "ppo" / "CartPole-v1_1");

  run.now += 2s;
  record.episode(10, 20, 10);
  record.episode(30, 40, 20);
  record.episode(35, std::nan(""), 5);
  record.record({100, {{"train/loss", 0.5}}});
  record.evaluation(100, 475, 1.5, 480);
  record.finish(R"({"wall_s": 1.5, "algo": "ppo", "solved": true})");

  CHECK(nlohmann::json::parse(read_text(directory.config_json())) == nlohmann::json{{"lr", 3e-4}});
  CHECK(read_text(directory.summary_json()) ==
        "{\n  \"wall_s\": 1.5,\n  \"algo\": \"ppo\",\n  \"solved\": true\n}\n");
  CHECK(read_text(directory.progress_csv()) ==
        "rollout/ep_len_mean,rollout/ep_rew_mean,time/fps,time/time_elapsed,time/total_timesteps,"
        "train/loss,eval/mean_ep_length,eval/mean_reward,eval/std_reward\n"
        "15,30,50,2,100,0.5,,,\n"
        ",,,,100,,480,475,1.5\n");
  CHECK(read_text(directory.learning_curve_png()).substr(1, 3) == "PNG");
  CHECK(count_entries(directory.path()) == 6);  // those four, the events and the lock
  CHECK(record.write_failures() == 0);
  CHECK(run.failures.empty());
}

TEST_CASE("recorder: the chosen numbers of episodes become columns and metrics", "[recorder]") {
  fixture run;
  auto options = run.options();
  options.info = {"keys", "missing"};
  std::map<std::string, double> noted;
  options.noted = [&](const std::string& name, double value) { noted[name] = value; };
  recorder record(options);
  record.episode_with_info(10, 20, 10, {{"keys", 1}, {"doors", 5}, {"is_success", 1}});
  record.episode_with_info(20, 20, 10, {{"keys", 2}, {"is_success", 0}});
  record.episode_with_info(30, 20, 10, {{"keys", std::nan("")}, {"is_success", 0}});
  record.episode(40, 20, 10);
  record.record({100, {}});
  CHECK(run.failures ==
        std::vector<std::string>{"env.info: no episode has a number \"missing\" so far; the last "
                                 "infos have doors, is_success, keys"});
  const std::map<std::string, double> expected{{"rollout/ep_keys_mean", 1.5},
                                               {"rollout/success_rate", 1.0 / 3}};
  CHECK(noted == expected);
  const auto csv = read_text(run_directory::open(record.directory()).progress_csv());
  CHECK_THAT(csv,
             Catch::Contains("rollout/ep_keys_mean") && Catch::Contains("rollout/success_rate"));
  CHECK_THAT(csv, !Catch::Contains("doors") && !Catch::Contains("missing"));
}

TEST_CASE("recorder: what a row brings itself is not replaced", "[recorder]") {
  fixture run;
  recorder record(run.options());
  record.episode(10, 20, 10);
  record.record({100, {{"rollout/ep_rew_mean", 7}, {"time/fps", 8}}});
  CHECK_THAT(read_text(run_directory::open(record.directory()).progress_csv()),
             Catch::EndsWith("\n10,7,8,0,100\n"));
}

TEST_CASE("recorder: a noted value is in the next row, also in that of a recorder that goes on",
          "[recorder]") {
  fixture run;
  auto options = run.options();
  std::map<std::string, double> told;
  options.noted = [&](const std::string& name, double value) { told[name] = value; };
  std::string directory, saved;
  {
    recorder record(options);
    directory = record.directory();
    record.note("custom/wins", 1);
    record.note("custom/wins", 2);
    CHECK(told == std::map<std::string, double>{{"custom/wins", 2}});
    record.record({10, {{"custom/wins", 7}, {"time/fps", 8}}});
    record.note("custom/wins", 3);
    saved = record.save();
  }
  options.directory = directory;
  options.saved = saved;
  recorder next(options);
  next.record({20, {{"time/fps", 8}}});
  next.record({30, {{"time/fps", 8}}});
  CHECK(read_text(run_directory::open(directory).progress_csv()) ==
        "custom/wins,time/fps,time/time_elapsed,time/total_timesteps\n"
        "2,8,0,10\n"
        "3,8,0,20\n"
        ",8,0,30\n");
  CHECK_THROWS_WITH(next.note("a,b", 1), Catch::Contains("expected the name of a column"));
}

TEST_CASE("recorder: the curve is drawn every few seconds at most", "[recorder]") {
  fixture run;
  recorder record(run.options());
  const auto png = run_directory::open(record.directory()).learning_curve_png();
  record.episode(1, 1, 1);
  run.now += 4s;
  record.episode(2, 1, 1);
  CHECK_FALSE(std::filesystem::exists(png));
  run.now += 1s;
  record.episode(3, 1, 1);
  CHECK(std::filesystem::exists(png));

  std::filesystem::remove(png);
  run.now += 4s;
  record.episode(4, 1, 1);
  CHECK_FALSE(std::filesystem::exists(png));
  record.finish("{}");
  CHECK(std::filesystem::exists(png));
}

TEST_CASE("recorder: a run that ends without finish has its curve", "[recorder]") {
  fixture run;
  auto record = std::make_unique<recorder>(run.options());
  const auto png = run_directory::open(record->directory()).learning_curve_png();
  record->episode(1, 1, 1);
  record.reset();
  CHECK(std::filesystem::exists(png));
}

TEST_CASE("recorder: a full disk is reported once, counted, and does not throw", "[recorder]") {
  fixture run;
  auto options = run.options();
  int told = 0;
  options.write_failed = [&told] { ++told; };
  recorder record(options);
  const auto directory = run_directory::open(record.directory());
  {
    file_size_limit limit(64);
    record.episode(10, 20, 10);
    record.record({100, {{"train/loss", 0.5}}});  // progress.csv and the events
    record.finish("{}");                          // the curve; the summary fits
  }
  CHECK(record.write_failures() == 3);
  CHECK(told == 3);
  REQUIRE(run.failures.size() == 1);
  CHECK_THAT(run.failures[0], Catch::Contains("progress.csv") && Catch::Contains("File too large"));
  CHECK(read_text(directory.progress_csv()).empty());

  record.record({200, {{"train/loss", 0.25}}});  // there is room again
  CHECK_THAT(read_text(directory.progress_csv()), Catch::EndsWith(",0.25\n"));
  CHECK(record.write_failures() == 3);
}

TEST_CASE("recorder: a run directory that vanishes does not throw", "[recorder]") {
  fixture run;
  recorder record(run.options());
  std::filesystem::remove_all(record.directory());
  record.evaluation(10, 1, 0, 7);
  record.finish("{}");
  CHECK(record.write_failures() >= 2);
  CHECK(run.failures.size() == 1);
}

TEST_CASE("recorder: a run that can not be stored does not start", "[recorder]") {
  fixture run;
  auto options = run.options();
  options.root = "/proc/nowhere";
  CHECK_THROWS_AS(recorder(options), run_directory_error);
  CHECK_THROWS_AS(recorder(run.options("{")), std::invalid_argument);
  {
    file_size_limit limit(4);
    CHECK_THROWS_WITH(recorder(run.options()), Catch::Contains("config.json"));
  }
  CHECK(count_entries(run.folder.path / "runs" / "ppo") == 0);
}

TEST_CASE("recorder: a summary that is not JSON is refused", "[recorder]") {
  fixture run;
  recorder record(run.options());
  CHECK_THROWS_AS(record.finish("{'a'}"), std::invalid_argument);
}

TEST_CASE("recorder: the table is printed where it is asked for", "[recorder]") {
  fixture run;
  auto options = run.options();
  options.table = true;
  captured_stdout out;
  recorder record(options);
  record.record({100, {{"train/loss", 0.5}}});
  CHECK_THAT(out.text(), Catch::Contains("| train/ ") && Catch::Contains("|    loss "));
}

}  // namespace

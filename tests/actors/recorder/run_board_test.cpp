#include "actors/recorder/run_board.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/test.hpp"

namespace {

using nlohmann::json;
using troupe::learning_curve;

learning_curve of_episodes(int count) {
  learning_curve curve;
  curve.title = "PPO on CartPole-v1";
  for (int i = 0; i < count; ++i) curve.episodes.push_back({100.0 * i, 1.0 * i});
  return curve;
}

json board_of(const learning_curve& curve) {
  return json::parse(troupe::run_board(curve, {500, 1000, std::chrono::duration<double>(2), 9}));
}

TEST_CASE("run_board: holds the curve, its legend and how far the run is", "[recorder]") {
  auto curve = of_episodes(3);
  curve.evaluations = {{200, 5, 0.5}, {300, 6, std::nan("")}, {400, std::nan(""), 0}};
  curve.threshold = 475;
  const auto board = board_of(curve);
  CHECK(board["title"] == "PPO on CartPole-v1");
  CHECK(board["now"] == 500);
  CHECK(board["goal"] == 1000);
  CHECK(board["seconds"] == 2);
  CHECK(board["dots"] == json::parse("[[0, 0], [100, 1], [200, 2]]"));
  CHECK(board["line"] == json::parse("[[0, 0], [100, 0.5], [200, 1]]"));
  CHECK(board["marks"] == json::parse("[[200, 5, 0.5], [300, 6, null]]"));
  CHECK(board["level"] == 475);
  CHECK(board["level_label"] == "solved at 475");
}

TEST_CASE("run_board: its legend has the word for what the points are", "[recorder]") {
  auto curve = of_episodes(3);
  CHECK(board_of(curve)["dots_label"] == "one episode");
  curve.dot = "group";
  CHECK(board_of(curve)["dots_label"] == "one group");
  CHECK(board_of(curve)["line_label"] == "mean of the last 100 groups");
}

TEST_CASE("run_board: before the first episode there is nothing to draw", "[recorder]") {
  const auto board = board_of({});
  CHECK(board["dots"].empty());
  CHECK(board["line"].empty());
  CHECK_FALSE(board.contains("level"));
}

TEST_CASE("run_board: is small, however long the run, and keeps both ends", "[recorder]") {
  auto curve = of_episodes(20'000);
  for (int i = 0; i < 5000; ++i) curve.evaluations.push_back({100.0 * i, i == 777 ? 2.0 : 1.0, 1});
  const auto board = board_of(curve);
  CHECK(board["line"].size() <= 402);
  CHECK(board["line"].front()[0] == 0);
  CHECK(board["line"].back()[0] == 100.0 * 19'999);
  CHECK(board["marks"].size() <= 60);
  CHECK(board["marks"].size() > 50);
  CHECK(board["marks"].front()[0] == 0);
  CHECK(std::count(board["marks"].begin(), board["marks"].end(), json({77700, 2, 1})) ==
        1);  // the best one
  CHECK(board["marks"].back()[0] == 100.0 * 4999);
  CHECK(board.dump().size() < 60'000);
}

}  // namespace

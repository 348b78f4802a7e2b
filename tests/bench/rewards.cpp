// What answers with faults cost a reward in Python.
//
// 500 answers are judged at once by a service of python_reward, of which every tenth has a fault:
// the function raises, hangs or ends its process for it. The function takes 20 ms for an answer,
// and the time limit of an answer is five times as much.
//
//   judged       answers that have a reward; without faults all, else 450
//   seconds      from the first call to the last answer
//   judged_per_s judged / seconds
//   slowdown     judged_per_s without faults over that with them
//   restarts     of the service's replica
//
// bench_rewards [--json]

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "actors/python/python_reward.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/paths.hpp"
#include "tests/runtime/metrics/series.hpp"

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

constexpr int answers = 500;
constexpr const char* name = "rewards:takes_a_while";
constexpr double limit = 0.1;  // seconds, five times what the function takes

struct measured {
  int judged = 0;
  double seconds = 0, restarts = 0;
  double rate() const { return judged / seconds; }
};

task<bool> is_judged(service<python_reward> rewards, std::string text) {
  judged_completion asked{"p", std::move(text), "{}"};
  const auto result = co_await rewards.try_route<&python_reward::evaluate>(std::move(asked));
  co_return result&& result.value().total == 1;
}

task<> judge_all(system& sys, std::string fault, measured& found) {
  serve_options serving{.name = "reward",
                        .placement = placement::thread,
                        .idempotent = {endpoint<&python_reward::evaluate>}};
  python_reward_options options{.functions = {name}, .timeout = limit};
  const auto rewards =
      co_await sys.serve<python_reward>(std::move(serving), std::move(options), &sys.metrics());
  const auto began = clock::now();
  std::vector<task<bool>> calls;
  for (int i = 0; i < answers; ++i)
    calls.push_back(is_judged(rewards, (i % 10 == 5 ? fault : "fine") + std::to_string(i)));
  for (const bool judged : co_await all(std::move(calls))) found.judged += judged;
  found.seconds = std::chrono::duration<double>(clock::now() - began).count();
  found.restarts =
      series(sys.metrics().text(), R"(troupe_replica_restarts_total{service="reward"})");
}

measured measure(const std::string& fault) {
  measured found;
  system sys({.threads = 1});
  sys.run(judge_all(sys, fault, found));
  return found;
}

int run(bool as_json) {
  ::setenv("PYTHONPATH", testing::source_path("tests/actors/python/functions").c_str(), 1);
  log::set_level("off");
  nlohmann::ordered_json all;
  double without = 0;
  for (const std::string fault : {"fine", "throw", "hang", "die"}) {
    const auto found = measure(fault);
    if (fault == "fine") without = found.rate();
    const double slowdown = without / found.rate();
    all[fault] = {{"judged", found.judged},
                  {"seconds", found.seconds},
                  {"judged_per_s", found.rate()},
                  {"slowdown", slowdown},
                  {"restarts", found.restarts}};
    if (!as_json)
      std::printf("%-6s %d judged in %.2f s, %.1f/s, slowdown %.2f, %.0f restarts\n", fault.c_str(),
                  found.judged, found.seconds, found.rate(), slowdown, found.restarts);
  }
  if (as_json) std::printf("%s\n", nlohmann::json{{"rewards", all}}.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  return troupe::run(argc > 1 && std::string_view(argv[1]) == "--json");
}

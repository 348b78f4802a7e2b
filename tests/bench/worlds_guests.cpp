#include "tests/bench/worlds_guests.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/hosted_environment.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/system/system.hpp"
#include "tests/bench/two_clocks.hpp"
#include "tests/paths.hpp"

namespace troupe {
namespace {

constexpr std::int64_t warm_up = 50;  // steps that are not timed
constexpr int rounds = 5;

/// A side's counts and its wall time.
struct counted {
  double wall = 0;
  std::uint64_t checksum = 0;
  std::int64_t episodes = 0;
};

/// The environments of one replica take their steps as fast as they can, as in a rollout.
task<counted> step_replica(service<hosted_environment> mine, std::size_t first, std::size_t each,
                           std::int64_t from, std::int64_t to) {
  counted seen;
  for (auto step = from; step < to; ++step) {
    env_actions actions;
    for (std::size_t i = 0; i < each; ++i) {
      const auto index = static_cast<std::int64_t>(first + i);
      actions.discrete.push_back((step * 7 + index * 13 + step * index / 3) % 2);
    }
    const auto after = co_await mine.route<&hosted_environment::step>(std::move(actions));
    std::uint64_t sum = 0;
    for (const float number : after.obs) sum += std::bit_cast<std::uint32_t>(number);
    seen.checksum += static_cast<std::uint64_t>(step + 1) * sum;
    seen.episodes += static_cast<std::int64_t>(after.finished.size());
  }
  co_return seen;
}

task<counted> step_all(std::vector<service<hosted_environment>> all_of_them, std::size_t each,
                       std::int64_t from, std::int64_t to) {
  std::vector<task<counted>> beside;
  for (const auto& mine : all_of_them)
    beside.push_back(step_replica(mine, beside.size() * each, each, from, to));
  const auto parts = co_await all(std::move(beside));
  counted sum;
  for (const auto& part : parts) {
    sum.checksum += part.checksum;
    sum.episodes += part.episodes;
  }
  co_return sum;
}

/// A vector environment whose first reset has the seed 1 + `first`, as AsyncVectorEnv's.
class seeded final : public vector_environment {
 public:
  seeded(std::unique_ptr<vector_environment> inner, std::uint64_t first)
      : inner_(std::move(inner)), first_(first) {}
  env_spec spec() override { return inner_->spec(); }
  std::size_t size() override { return inner_->size(); }
  env_reset reset(std::optional<std::uint64_t>) override { return inner_->reset(1 + first_); }
  env_step step(env_actions actions) override { return inner_->step(std::move(actions)); }

 private:
  std::unique_ptr<vector_environment> inner_;
  std::uint64_t first_;
};

task<counted> play(system& sys, const std::string& python, std::size_t processes, std::size_t each,
                   std::int64_t steps) {
  const environment_request request{.id = "gymnasium:CartPole-v1",
                                    .python = {.interpreter = python}};
  std::vector<service<hosted_environment>> envs;
  for (std::size_t i = 0; i < processes; ++i) {
    const auto make = [request, each, i]() -> std::unique_ptr<vector_environment> {
      return std::make_unique<seeded>(make_vector_environment(request, each), i * each);
    };
    auto served = co_await sys.serve<hosted_environment>(
        {.name = fmt::format("environments-{}", i), .placement = placement::thread},
        hosted_environment::factory(make), std::uint64_t{1});
    co_await served.route<&hosted_environment::observe>();
    envs.push_back(std::move(served));
  }
  auto counts = co_await step_all(envs, each, 0, warm_up);
  const double before = detail::now(CLOCK_MONOTONIC);
  const auto timed = co_await step_all(envs, each, warm_up, warm_up + steps);
  counts.wall = detail::now(CLOCK_MONOTONIC) - before;
  counts.checksum += timed.checksum;
  counts.episodes += timed.episodes;
  co_return counts;
}

counted play_peer(const std::string& python, std::size_t environments, std::int64_t steps) {
  const auto text = output_of(fmt::format("{} {} {} {}", python,
                                          testing::source_path("tests/bench/worlds_gymnasium.py"),
                                          environments, steps));
  const auto said = nlohmann::json::parse(text);
  return {said.at("wall"), said.at("checksum"), said.at("episodes")};
}

void compare(nlohmann::json& figures, const char* name, const std::string& python,
             std::size_t processes, std::size_t each, std::int64_t steps) {
  std::vector<double> ratios, ours, theirs;
  counted own, peer;
  for (int round = 0; round < rounds; ++round) {
    peer = play_peer(python, processes * each, steps);
    system sys({.threads = 2});
    own = sys.run(play(sys, python, processes, each, steps));
    if (own.checksum != peer.checksum || own.episodes != peer.episodes)
      throw std::runtime_error(
          fmt::format("{}: the sides differ: checksum {} and {}, episodes {} and {}", name,
                      own.checksum, peer.checksum, own.episodes, peer.episodes));
    ratios.push_back(peer.wall / own.wall);
    const auto total = static_cast<double>(steps) * static_cast<double>(processes * each);
    ours.push_back(total / own.wall);
    theirs.push_back(total / peer.wall);
  }
  const auto ratio = detail::series::median(ratios);
  std::printf(
      "%-26s %8.2f  times AsyncVectorEnv: %.0f and %.0f steps a second (medians of %d); each "
      "%lld steps of %zu environments, %lld episodes, checksum %llu\n",
      name, ratio, detail::series::median(ours), detail::series::median(theirs), rounds,
      static_cast<long long>(steps), processes * each, static_cast<long long>(own.episodes),
      static_cast<unsigned long long>(own.checksum));
  std::fflush(stdout);
  figures[name] = ratio;
}

}  // namespace

std::string output_of(const std::string& command) {
  std::FILE* from = ::popen(command.c_str(), "r");
  if (!from) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c; (c = std::fgetc(from)) != EOF;) text += static_cast<char>(c);
  if (::pclose(from) != 0) throw std::runtime_error(command + " failed: " + text);
  return text;
}

void measure_guests(nlohmann::json& figures) {
  auto python = output_of(testing::source_path("tests/actors/worlds/gymnasium_venv.py") + " " +
                          testing::build_folder());
  python = python.substr(0, python.find('\n'));
  compare(figures, "guest_vs_async_vector_8x1", python, 8, 1, 3000);
  compare(figures, "guest_vs_async_vector_64", python, 8, 8, 600);
}

}  // namespace troupe

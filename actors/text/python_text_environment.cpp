#include "actors/text/python_text_environment.hpp"

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "actors/python/python_environment.hpp"
#include "actors/python/python_worker.hpp"

namespace troupe {
namespace {

using nlohmann::json;

call_limit limit_of(const python_text_options& options) {
  return {options.timeout, "python.world_timeout"};
}

/// Starts a process with the world.
std::unique_ptr<python_worker> worker_of(const python_text_options& options) {
  auto worker = std::make_unique<python_worker>(options.python, options.world);
  worker->call(
      {{"do", "make_text"}, {"name", options.world}, {"options", json::parse(options.options)}},
      {options.python.start_timeout, "python.start_timeout"}, "making the world");
  return worker;
}

class python_text_environment final : public text_environment {
 public:
  explicit python_text_environment(python_text_options options) : options_(std::move(options)) {
    start();
  }

  task<text_step> reset(const text_reset& with) override {
    if (!worker_->is_running()) start();
    // Generators in Python take such a seed.
    const auto told = worker_->call(
        {{"do", "reset_text"}, {"seed", with.seed & 0x7fffffff}, {"item", json::parse(with.item)}},
        limit_of(options_), "a reset");
    co_return read(told);
  }

  task<text_step> step(std::string reply) override {
    const auto told =
        worker_->call({{"do", "step_text"}, {"reply", reply}}, limit_of(options_), "a step");
    auto now = read(told);
    const auto& reward = told.at("reward");
    now.reward = reward.is_null() ? std::numeric_limits<double>::quiet_NaN() : reward.get<double>();
    now.ended = told.at("ended").get<bool>();
    now.refused = told.at("refused").get<std::string>();
    now.info = told.at("info").get<std::map<std::string, double>>();
    co_return now;
  }

 private:
  void start() { worker_ = worker_of(options_); }

  static text_step read(const json& told) {
    return {.system = told.at("system").get<std::string>(),
            .shown = {.words = told.at("shown").get<std::string>()}};
  }

  python_text_options options_;
  std::unique_ptr<python_worker> worker_;
};

}  // namespace

bool names_python_text(std::string_view world) {
  if (world.starts_with("skyrl:")) return true;
  for (const auto* kind : {"gymnasium:", "pettingzoo:", "openenv:"})
    if (world.starts_with(kind)) return false;
  return names_python(world);
}

text_environment_maker python_text_environments(python_text_options options) {
  return
      [options = std::move(options)] { return std::make_unique<python_text_environment>(options); };
}

std::function<std::vector<dialogue_turn>(action_random& random)> python_practice(
    python_text_options options) {
  const std::shared_ptr<python_worker> worker = worker_of(options);
  const auto asked =
      worker->call({{"do", "practises_text"}}, limit_of(options), "the search for practise");
  if (!asked.at("practises").get<bool>()) return nullptr;
  return [worker, limit = limit_of(options)](action_random& random) {
    const auto seed = random.below(std::uint64_t{1} << 31);
    const auto told = worker->call({{"do", "practise_text"}, {"seed", seed}}, limit, "practise");
    std::vector<dialogue_turn> turns;
    for (const auto& turn : told.at("turns"))
      turns.push_back({.shown = {.words = turn.at(0).get<std::string>()},
                       .said = {.words = turn.at(1).get<std::string>()}});
    return turns;
  };
}

}  // namespace troupe

// PPO on an OpenEnv server that shows its observation as the list "obs" and takes {"action":
// number}:
//
//   served_ppo URL OBS_SIZE ACTIONS FOLDER [KEY=VALUE...]
//
// KEY=VALUE are settings of ppo_config. The run directory is below FOLDER; the last line of the
// output is the run's summary as JSON.

#include "actors/torch/torch.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/openenv/client/numeric_worlds.hpp"
#include "actors/torch/torch_threads.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"

namespace {

using namespace troupe;

std::int64_t size_of(const char* what, const std::string& text) {
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < 1) {
    throw std::invalid_argument(std::string(what) + ": expected a number > 0, got \"" + text + '"');
  }
  return size;
}

void train(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    throw std::invalid_argument("expected URL OBS_SIZE ACTIONS FOLDER [KEY=VALUE...]");
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const env_spec spec{
      .id = "Served",
      .observation_space = spaces::box(-infinity, infinity, {size_of("OBS_SIZE", words[1])}),
      .action_space = spaces::discrete(size_of("ACTIONS", words[2]))};
  openenv::register_world(spec.id, openenv::served_view(spec), {.urls = {words[0]}});
  auto config = parse_config<ppo_config>(load_config({}, {words.begin() + 4, words.end()}));
  config.env.id = spec.id;
  config.env.placement = "thread";
  const auto run = train(config, {.root = words[3]}, {});
  std::puts(run.summary.value().to_json().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  use_one_torch_thread();
  try {
    train({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "served_ppo: %s\n", e.what());
    return 1;
  }
}

#include "actors/torch/torch.hpp"

#include "examples/own_algorithm_class/search.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"

search::search(std::int64_t parameters, std::uint64_t seed)
    : now_{.mean = std::vector<float>(parameters), .deviation = std::vector(parameters, 1.0f)},
      seed_(seed) {}

trial search::draw() {
  trial drawn{.parameters = now_.mean, .version = now_.version};
  drawn.seed = troupe::derived_seed(seed_, "trial", {static_cast<std::uint64_t>(now_.drawn++)});
  std::mt19937_64 random(drawn.seed);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < now_.mean.size(); ++i) {
    drawn.parameters[i] += now_.deviation[i] * normal(random);
  }
  return drawn;
}

troupe::weights search::fit(std::vector<trial> trials) {
  std::ranges::sort(trials, std::greater(), &trial::episode_return);
  trials.resize(std::max<std::size_t>(trials.size() / 4, 1));
  const auto n = static_cast<float>(trials.size());
  for (std::size_t i = 0; i < now_.mean.size(); ++i) {
    float sum = 0, squares = 0;
    for (const auto& best : trials) sum += best.parameters[i];
    for (const auto& best : trials) squares += std::pow(best.parameters[i] - sum / n, 2.0f);
    now_.mean[i] = sum / n;
    now_.deviation[i] = std::sqrt(squares / n) + 0.05f;  // never without exploration
  }
  ++now_.version;
  return {.version = now_.version, .parameters = torch::tensor(now_.mean), .sha256 = {}};
}

std::string search::save() const { return troupe::state_bytes(now_); }

void search::restore(std::string bytes) { now_ = troupe::state_of<state>(bytes); }

#include "tests/actors/env/trajectory.hpp"

#include <algorithm>
#include <bit>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "actors/env/cartpole.hpp"
#include "actors/env/vector_env.hpp"

namespace troupe {
namespace {

using four_doubles = std::array<double, 4>;

double parse_double(std::istream& in) {
  std::uint64_t bits = 0;
  in >> std::hex >> bits >> std::dec;
  return std::bit_cast<double>(bits);
}

four_doubles parse_four(std::istream& in) {
  four_doubles numbers;
  for (auto& number : numbers) number = parse_double(in);
  std::string bar;
  in >> bar;  // none after a reset's observation
  return numbers;
}

class replay {
 public:
  explicit replay(std::uint64_t seed) : seed_(seed) {}

  void line(const std::string& text) {
    line_ = text;
    std::istringstream in(text);
    std::string kind;
    in >> kind;
    if (kind == "E")
      run(in);
    else if (kind == "R")
      reset(in);
    else if (kind == "S")
      step(in);
    else
      throw std::runtime_error("trajectory: expected a line of kind E, R or S, got " + text);
  }
  trajectory_report report;

 private:
  void run(std::istream& in) {
    std::string id;
    in >> id;
    if (std::uint64_t seed = 0; in >> seed) seed_ = seed;
    seeded_reset_ = true;
  }

  void reset(std::istream& in) {
    const auto state = parse_four(in);
    const auto obs = parse_four(in);
    const auto seed = seeded_reset_ ? std::optional(seed_) : std::nullopt;
    one_.reset(seed, obs_);
    if (seeded_reset_) vector_obs_ = vector_.reset(seed).obs;
    seeded_reset_ = false;
    ++report.resets;
    expect(one_.state() == state, "state after reset");
    expect(same(obs_, obs), "observation after reset");
    expect(same(vector_obs_, obs), "vector environment's observation after reset");
  }

  void step(std::istream& in) {
    std::int64_t action = 0;
    in >> action;
    const auto state = parse_four(in);
    const auto obs = parse_four(in);
    const double reward = parse_double(in);
    bool terminated = false;
    bool truncated = false;
    if (!(in >> terminated >> truncated))
      throw std::runtime_error("trajectory: expected a whole step, got " + line_);

    const auto result = one_.step(action_view(action), obs_);
    const auto batch = vector_.step({.discrete = {action}});
    vector_obs_ = batch.obs;
    ++report.steps;
    report.terminated += terminated;
    report.truncated += truncated;
    expect(one_.state() == state, "state");
    expect(same(obs_, obs), "observation");
    expect(result.reward == reward && batch.reward[0] == reward, "reward");
    expect(result.terminated == terminated && batch.terminated[0] == terminated, "terminated");
    expect(batch.truncated[0] == truncated, "truncated");
    expect(batch.failures.empty(), "no failure");
    if (terminated || truncated)
      expect(batch.finished.size() == 1 && same(batch.finished[0].final_obs, obs),
             "last observation");
    else
      expect(batch.finished.empty() && same(vector_obs_, obs), "vector environment's observation");
  }

  static bool same(std::span<const float> ours, const four_doubles& theirs) {
    auto equal_bits = [](float a, double b) {
      return std::bit_cast<std::uint64_t>(double{a}) == std::bit_cast<std::uint64_t>(b);
    };
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), equal_bits);
  }

  void expect(bool held, const char* what) {
    if (held) return;
    if (report.mismatches++ == 0) report.first_mismatch = std::string(what) + " at: " + line_;
  }

  std::uint64_t seed_;
  bool seeded_reset_ = true;
  std::string line_;
  cartpole one_;
  std::array<float, 4> obs_{};
  vector_env<cartpole> vector_{1};
  std::vector<float> vector_obs_;
};

}  // namespace

trajectory_report replay_cartpole(std::istream& record, std::uint64_t seed) {
  replay replayed(seed);
  for (std::string line; std::getline(record, line);) replayed.line(line);
  return replayed.report;
}

}  // namespace troupe

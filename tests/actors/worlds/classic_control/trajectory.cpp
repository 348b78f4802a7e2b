#include "tests/actors/worlds/classic_control/trajectory.hpp"

#include <algorithm>
#include <bit>
#include <istream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "actors/environments/vector_env.hpp"
#include "actors/worlds/classic_control/acrobot.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/classic_control/mountain_car.hpp"
#include "actors/worlds/classic_control/mountain_car_continuous.hpp"
#include "actors/worlds/classic_control/pendulum.hpp"

namespace troupe {
namespace {

using doubles = std::vector<double>;

double parse_number(const std::string& bits) {
  return std::bit_cast<double>(std::stoull(bits, nullptr, 16));
}

/// Up to a bar, or the line's end.
doubles parse_numbers(std::istream& in) {
  doubles numbers;
  for (std::string word; in >> word && word != "|";) numbers.push_back(parse_number(word));
  return numbers;
}

class player {
 public:
  virtual ~player() = default;
  virtual void begin(std::uint64_t seed) = 0;
  virtual void reset(const std::string& line, trajectory_report& report) = 0;
  virtual void step(const std::string& line, trajectory_report& report) = 0;
};

template <class Env>
class replay final : public player {
 public:
  void begin(std::uint64_t seed) override {
    seed_ = seed;
    has_left_box_ = false;
  }

  void reset(const std::string& line, trajectory_report& report) override {
    std::istringstream in(line.substr(1));
    const auto state = parse_numbers(in);
    const auto obs = parse_numbers(in);
    one_.reset(seed_, obs_);
    if (seed_) vector_obs_ = vector_.reset(seed_).obs;
    seed_.reset();
    ++report.resets;
    const check expect{line, report};
    expect(same(one_.state(), state), "state after reset");
    expect(same(obs_, obs), "observation after reset");
    expect(has_left_box_ || same(vector_obs_, obs), "vector environment's observation after reset");
  }

  void step(const std::string& line, trajectory_report& report) override {
    std::istringstream in(line.substr(1));
    const auto action = parse_action(in);
    const auto state = parse_numbers(in);
    const auto obs = parse_numbers(in);
    std::string reward_bits;
    bool terminated = false;
    bool truncated = false;
    if (!(in >> reward_bits >> terminated >> truncated))
      throw std::runtime_error("trajectory: expected a whole step, got " + line);
    const double reward = parse_number(reward_bits);

    const auto result = is_box_ ? one_.step(action_view(action.continuous), obs_)
                                : one_.step(action_view(action.discrete), obs_);
    const auto batch = vector_.step(action);
    vector_obs_ = batch.obs;
    ++report.steps;
    report.terminated += terminated;
    report.truncated += truncated;
    const check expect{line, report};
    expect(same(one_.state(), state), "state");
    expect(same(obs_, obs), "observation");
    expect(result.reward == reward, "reward");
    expect(result.terminated == terminated, "terminated");
    expect(batch.failures.empty(), "no failure");
    if (has_left_box_) return;
    expect(batch.reward[0] == reward, "vector environment's reward");
    expect(batch.terminated[0] == terminated, "vector environment's terminated");
    expect(batch.truncated[0] == truncated, "truncated");
    if (terminated || truncated)
      expect(batch.finished.size() == 1 && same(batch.finished[0].final_obs, obs),
             "last observation");
    else
      expect(batch.finished.empty() && same(vector_obs_, obs), "vector environment's observation");
  }

 private:
  struct check {
    const std::string& line;
    trajectory_report& report;

    void operator()(bool held, const char* what) const {
      if (held) return;
      if (report.mismatches++ == 0) report.first_mismatch = std::string(what) + " at: " + line;
    }
  };

  env_actions parse_action(std::istream& in) {
    env_actions action;
    if (!is_box_) {
      in >> action.discrete.emplace_back();
      return action;
    }
    for (std::size_t i = 0; i < space_.flat_size(); ++i) {
      std::string word;
      in >> word;
      action.continuous.push_back(static_cast<float>(parse_number(word)));
    }
    has_left_box_ |= !space_.contains(action.continuous);
    return action;
  }

  template <class Ours>
  static bool same(const Ours& ours, const doubles& theirs) {
    auto equal_bits = [](double a, double b) {
      return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
    };
    return std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(), equal_bits);
  }

  const space space_ = Env().spec().action_space;
  const bool is_box_ = space_.get_if<spaces::box>() != nullptr;
  std::optional<std::uint64_t> seed_;
  bool has_left_box_ = false;
  Env one_;
  std::vector<float> obs_ = std::vector<float>(Env().spec().observation_space.flat_size());
  vector_env<Env> vector_{1};
  std::vector<float> vector_obs_;
};

std::unique_ptr<player> make_player(const std::string& id) {
  if (id == "Acrobot-v1") return std::make_unique<replay<acrobot>>();
  if (id == "CartPole-v1") return std::make_unique<replay<cartpole>>();
  if (id == "MountainCar-v0") return std::make_unique<replay<mountain_car>>();
  if (id == "MountainCarContinuous-v0") return std::make_unique<replay<mountain_car_continuous>>();
  if (id == "Pendulum-v1") return std::make_unique<replay<pendulum>>();
  throw std::runtime_error("trajectory: expected a recorded environment, got " + id);
}

}  // namespace

std::map<std::string, trajectory_report> replay_trajectories(std::istream& record,
                                                             std::uint64_t seed) {
  std::map<std::string, trajectory_report> reports;
  std::unique_ptr<player> player;
  trajectory_report* report = nullptr;
  for (std::string line; std::getline(record, line);) {
    const char kind = line.empty() ? ' ' : line[0];
    if (kind == 'E') {
      std::istringstream in(line.substr(1));
      std::string id;
      in >> id;
      player = make_player(id);
      report = &reports[id];
      std::uint64_t named = 0;
      player->begin(in >> named ? named : seed);
    } else if (kind == 'R' && player) {
      player->reset(line, *report);
    } else if (kind == 'S' && player) {
      player->step(line, *report);
    } else {
      throw std::runtime_error("trajectory: expected a line of kind E, R or S, got " + line);
    }
  }
  return reports;
}

}  // namespace troupe

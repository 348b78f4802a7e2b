// The particle environments beside the Python package mpe2 1.1.1: recorded episodes of it, which
// package_test.py records anew.
//
//   E id seed options        begins with a seed
//   A name numbers actions   an agent, the numbers of its observation, and its action space
//   R obs                    a reset
//   S actions | rewards | truncated | obs    a step; the observations of all agents may be left out
//
// All numbers but choices are bit patterns, of floats or, for rewards, of doubles.

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "actors/worlds/registry.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

struct report {
  int episodes = 0, steps = 0, observations = 0;
  int mismatches = 0;
  std::string first_mismatch;
  double reward_error = 0;  ///< The largest, in parts of the reward.
};

float float_of(const std::string& bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(bits, nullptr, 16)));
}
double double_of(const std::string& bits) {
  return std::bit_cast<double>(std::uint64_t{std::stoull(bits, nullptr, 16)});
}

/// Returns the words of a line up to a bar, or its end.
std::vector<std::string> words_of(std::istream& line) {
  std::vector<std::string> words;
  for (std::string word; line >> word && word != "|";) words.push_back(word);
  return words;
}

class replay {
 public:
  /// Observations may differ by `tolerance`, in parts of numbers beyond 1.
  explicit replay(float tolerance) : tolerance_(tolerance) {}

  std::map<std::string, report> run(std::istream& record) {
    for (std::string line; std::getline(record, line);) {
      line_ = line;
      std::istringstream in(line.substr(1));
      if (line[0] == 'E') begin(in);
      if (line[0] == 'A') meet(in);
      if (line[0] == 'R') compare_reset(in);
      if (line[0] == 'S') step(in);
    }
    return std::move(reports_);
  }

 private:
  void begin(std::istream& in) {
    std::string id, options;
    std::uint64_t seed = 0;
    in >> id >> seed >> options;
    env_ = make_vector_environment({.id = id, .options = options}, 1);
    spec_ = env_->spec();
    seed_ = seed;
    agent_ = 0;
    seen_ = &reports_[id];
  }

  void meet(std::istream& in) {
    std::string name, space;
    std::size_t numbers = 0;
    in >> name >> numbers >> std::ws;
    std::getline(in, space);
    REQUIRE(agent_ < spec_.agents.size());
    const auto& own = spec_.agents[agent_++];
    expect(own.name == name, "name");
    expect(own.observation_space.flat_size() == numbers, "observation space");
    expect(to_string(own.action_space) == space, "action space");
  }

  void compare_reset(std::istream& in) {
    REQUIRE(agent_ == spec_.agents.size());
    if (seed_) obs_ = env_->reset(std::exchange(seed_, std::nullopt)).obs;
    ++seen_->episodes;
    compare_obs(words_of(in));
  }

  void step(std::istream& in) {
    env_actions actions;
    for (const auto& word : words_of(in)) {
      if (word.size() == 8) actions.continuous.push_back(float_of(word));
      if (word.size() < 8) actions.discrete.push_back(std::stol(word));
    }
    const auto rewards = words_of(in);
    const bool is_over = words_of(in).at(0) == "1";
    auto after = env_->step(std::move(actions));
    ++seen_->steps;
    REQUIRE(after.failures.empty());
    REQUIRE(after.agent_reward.size() == rewards.size());
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      const double theirs = double_of(rewards[i]), apart = std::abs(after.agent_reward[i] - theirs);
      seen_->reward_error = std::max(seen_->reward_error, apart / std::max(1.0, std::abs(theirs)));
      expect(after.agent_ended[i] ==
                 std::uint8_t(is_over ? episode_end::truncated : episode_end::none),
             "end");
    }
    expect(after.truncated[0] == is_over && !after.terminated[0], "truncated");
    REQUIRE(after.finished.size() == is_over);
    obs_ = is_over ? after.finished[0].final_obs : after.obs;
    compare_obs(words_of(in));
    if (is_over) obs_ = after.obs;
  }

  /// The row has the observations of all agents, and the same numbers again as the state.
  void compare_obs(const std::vector<std::string>& words) {
    if (words.empty()) return;
    ++seen_->observations;
    REQUIRE(obs_.size() == 2 * words.size());
    bool same = true;
    for (std::size_t i = 0; i < words.size(); ++i)
      same &= is_close(obs_[i], float_of(words[i])) && obs_[words.size() + i] == obs_[i];
    expect(same, "observation");
  }

  bool is_close(float a, float b) const {
    return std::abs(a - b) <= tolerance_ * std::max(1.0F, std::abs(b));
  }

  void expect(bool held, const char* what) {
    if (!held && seen_->mismatches++ == 0) seen_->first_mismatch = what + (" at: " + line_);
  }

  float tolerance_;
  std::map<std::string, report> reports_;
  std::unique_ptr<vector_environment> env_;
  env_spec spec_;
  std::optional<std::uint64_t> seed_;
  std::size_t agent_ = 0;
  recycled_vector<float> obs_;
  report* seen_ = nullptr;
  std::string line_;
};

const std::vector<std::string> worlds{"simple_adversary_v3",        "simple_push_v3",
                                      "simple_reference_v3",        "simple_spread_v3",
                                      "simple_speaker_listener_v4", "simple_tag_v3"};

std::string read_fixture() {
  std::ifstream file(testing::source_path("tests/fixtures/mpe2/episodes.txt"));
  REQUIRE(file.is_open());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Another C library may round exp and log1p otherwise, from which the forces of contacts come.
constexpr float rounding = 1e-5F;

TEST_CASE("mpe: recorded episodes of mpe2 are those of the environments here", "[env]") {
  std::istringstream record(read_fixture());
  const auto reports = replay(rounding).run(record);
  for (const auto& id : worlds) {
    REQUIRE(reports.contains(id));
    const auto& seen = reports.at(id);
    INFO(id << ": " << seen.first_mismatch);
    CHECK(seen.mismatches == 0);
    CHECK(seen.episodes == 4);
    CHECK(seen.steps == 100);
    CHECK(seen.observations == 8);
    CHECK(seen.reward_error < 1e-9);
  }
}

TEST_CASE("mpe: one changed digit in a recorded observation is noticed", "[env]") {
  auto text = read_fixture();
  const auto at = text.find("R ") + 2 + 9 * 3 + 3;  // the fourth digit of the fourth number
  text[at] = text[at] == '0' ? '1' : '0';
  std::istringstream record(text);
  const auto seen = replay(rounding).run(record).at("simple_spread_v3");
  CHECK(seen.mismatches == 1);
  CHECK(seen.first_mismatch.starts_with("observation at: R "));
}

TEST_CASE("mpe: equal the installed mpe2 over 100 episodes", "[.mpe2]") {
  const char* path = std::getenv("TROUPE_MPE2_RECORD");
  REQUIRE(path != nullptr);
  std::ifstream record(path);
  REQUIRE(record.is_open());
  const auto reports = replay(0).run(record);
  for (const auto& id : worlds) {
    REQUIRE(reports.contains(id));
    const auto& seen = reports.at(id);
    WARN(id << ": " << seen.episodes << " episodes, " << seen.steps << " steps, " << seen.mismatches
            << " mismatches, the rewards differ by up to " << seen.reward_error);
    INFO(id << ": " << seen.first_mismatch);
    CHECK(seen.mismatches == 0);
    CHECK(seen.episodes >= 200);
    CHECK(seen.observations == seen.steps + seen.episodes);
    CHECK(seen.reward_error < 1e-9);
  }
}

}  // namespace
}  // namespace troupe

#pragma once
// What the multi-agent particle environments share: actions, episodes, saving and pictures.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/env_state.hpp"
#include "actors/environments/multi_agent_environment.hpp"
#include "actors/worlds/mpe/particles.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

/// The options that all of the particle environments have.
struct mpe_options {
  std::int64_t max_cycles = 25;     ///< The steps of an episode, which is then truncated.
  bool continuous_actions = false;  ///< Boxes of numbers from 0 to 1 instead of choices.
  bool silent = false;              ///< Nobody hears what others say.
};
void describe(options_schema<mpe_options>& s);

/// Describes the fields of mpe_options as fields of `Options`, which derives from it.
template <class Options>
void describe_episodes(options_schema<Options>& s) {
  s.field("max_cycles", &Options::max_cycles)
      .at_least(1)
      .unit("steps")
      .help("The length of an episode.");
  s.field("continuous_actions", &Options::continuous_actions)
      .help("If true, actions are numbers from 0 to 1 instead of choices.");
  s.field("silent", &Options::silent)
      .help("If true, nobody hears what others say, for comparison.");
}

/// Writes an observation from its beginning to its end.
class observation_writer {
 public:
  explicit observation_writer(std::span<float> to) : next_(to.begin()) {}

  void add(vec2 value) {
    *next_++ = static_cast<float>(value.x);
    *next_++ = static_cast<float>(value.y);
  }
  void add(std::span<const float> values) {
    for (const float value : values) *next_++ = value;
  }
  void add_zeros(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) *next_++ = 0;
  }

 private:
  std::span<float>::iterator next_;
};

/// An environment of Lowe et al. 2017, https://arxiv.org/abs/1706.02275: agents that move in a
/// plane, and may say a word in each step. The environments are equal to those of the Python
/// package mpe2 1.1.1, and so are their seeds.
///
/// Actions, where agents choose: 0 none, 1 left (-x), 2 right, 3 down (-y), 4 up. An agent that
/// also says one of C words chooses move + 5 word; one that doesn't move chooses the word alone.
/// With continuous_actions a move is a Box [5] of numbers from 0 to 1, and the push is right - left
/// and up - down; a word is a Box [C] after it.
///
/// The global state is the observations of all agents one after another. Positions begin at random
/// in the square from -1 to 1. No episode terminates.
class particle_environment : public multi_agent_environment {
 public:
  env_spec spec() const final;
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) final;
  /// Throws std::invalid_argument for a choice that an agent doesn't have.
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) final;
  void set_level(std::size_t level) final;
  bool render(canvas& on) const final;

  bool save(state_writer& to) const final;
  void restore(const state_reader& from) final;

  std::span<const particle> agents() const { return {particles_.data(), agents_.size()}; }
  std::span<const particle> landmarks() const {
    return std::span(particles_).subspan(agents_.size());
  }
  /// Returns how many of the agents are there. An environment with levels has fewer at first; the
  /// others neither act nor are seen.
  std::size_t present() const { return present_; }
  /// Returns the landmarks that are goals, which each episode draws.
  std::span<const std::size_t> goals() const { return goals_; }
  /// Returns what agent i said in the last step, [C]: a one-hot word, or the numbers of a
  /// continuous action; zeros at first.
  std::span<const float> said_by(std::size_t i) const {
    return std::span(said_).subspan(i * words_, words_);
  }

 protected:
  struct agent {
    std::string name;
    std::size_t obs_size = 0;
    particle body;
    bool speaks = false;
  };
  /// What makes one environment different from the others.
  struct definition {
    std::string id;
    std::vector<agent> agents;
    std::vector<particle> landmarks;
    std::size_t words = 0;     ///< C, the number of words that agents can say.
    std::size_t goals = 0;     ///< The number of goals.
    double landmark_area = 1;  ///< Landmarks begin in a square from -landmark_area on.
    /// There is a level for each number of agents, and as many landmarks: level 0 has one of each.
    bool grows = false;
  };

  particle_environment(definition of, const mpe_options& options);

  /// Sets the colours that depend on the goals of the episode. There are none by default.
  virtual void paint() {}
  /// Writes the observation of agent i.
  virtual void observe(std::size_t i, observation_writer& to) const = 0;
  /// Adds the rewards of all agents.
  virtual void reward(std::span<agent_step> results) const = 0;

  particle& agent_at(std::size_t i) { return particles_[i]; }
  particle& landmark_at(std::size_t i) { return particles_[agents_.size() + i]; }
  /// Writes where the landmarks, or the other agents, are, as seen by agent i.
  void add_landmarks(std::size_t i, observation_writer& to) const;
  void add_others(std::size_t i, observation_writer& to) const;

 private:
  space actions_of(std::size_t i) const;
  std::size_t moves_of(std::size_t i) const { return particles_[i].movable ? 5 : 0; }
  std::size_t words_of(std::size_t i) const { return agents_[i].speaks ? words_ : 0; }
  std::int64_t choices_of(std::size_t i) const;
  /// Takes the action of agent i: returns its push, and stores what it says.
  vec2 choose(std::size_t i, std::int64_t choice);
  vec2 choose(std::size_t i, std::span<const float> numbers);
  void show(joint_observation obs);
  std::size_t saved_size() const;
  std::string sentence_of(std::size_t i) const;

  std::string id_;
  std::vector<agent> agents_;
  std::size_t words_;
  double landmark_area_;
  bool grows_;
  std::size_t present_;
  mpe_options options_;
  std::vector<particle> particles_;  // the agents, then the landmarks
  std::vector<vec2> forces_;         // [agents]
  std::vector<float> said_;          // [agents, C]
  std::vector<std::size_t> goals_;
  detail::env_random random_;
};

}  // namespace troupe

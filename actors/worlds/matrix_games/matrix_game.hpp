#pragma once
// Games of two players with tables of payoffs: climbing-v0, penalty-v0, two_step-v0,
// prisoners_dilemma-v0, matching_pennies-v0, rock_paper_scissors-v0 and matrix_game-v0.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/multi_agent_environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

/// Payoffs [A_0, A_1]: a row for each action of agent_0, and in it a number for each action of
/// agent_1.
using payoff_table = std::vector<std::vector<double>>;

struct matrix_game_options {
  std::string id = "matrix_game-v0";
  /// What agent_0 gets. By default only equal actions are worth something.
  payoff_table payoffs = {{1, 0}, {0, 1}};
  payoff_table payoffs_of_agent_1 = {};  ///< What agent_1 gets; empty means the same.
  std::int64_t rounds = 1;               ///< The rounds of an episode.
};
void describe(options_schema<matrix_game_options>& s);

/// The climbing game and the penalty game of Claus and Boutilier 1998, "The Dynamics of
/// Reinforcement Learning in Cooperative Multiagent Systems". Both agents get 11 or 10 if they
/// agree on the best actions, and what one risks in trying makes it hard to find them.
matrix_game_options climbing_options();
struct penalty_options {
  double penalty = -100;    ///< The payoff k <= 0 of the two worst joint actions.
  std::int64_t rounds = 1;  ///< The rounds of an episode.
};
void describe(options_schema<penalty_options>& s);

/// Action 0 cooperates, and 1 defects: payoffs 3, 3 if both cooperate, 1, 1 if both defect, and 5,
/// 0 for the one who defects alone and the other one. 10 rounds. Axelrod 1984, "The Evolution of
/// Cooperation".
matrix_game_options prisoners_dilemma_options();
/// agent_0 gets 1 from agent_1 if the actions are equal, and pays 1 otherwise. 10 rounds.
matrix_game_options matching_pennies_options();
/// Actions 0 rock, 1 paper, 2 scissors: the winner gets 1 from the loser. 10 rounds.
matrix_game_options rock_paper_scissors_options();

/// Agents agent_0 and agent_1 choose one action each, at once, and get what a table says. The
/// episode terminates after the last round. The environment draws nothing at random.
///
/// The observation of both agents, and the global state, is the last action of agent_0 and that of
/// agent_1, each one-hot; all are 0 before the first round. In a game of several tables it is the
/// number of the present table instead, one-hot.
class matrix_game : public multi_agent_environment {
 public:
  matrix_game() : matrix_game(matrix_game_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range, for rows of different lengths
  /// and for two tables of different sizes.
  explicit matrix_game(const matrix_game_options& options);

  env_spec spec() const final;
  void begin(std::optional<std::uint64_t> seed, joint_observation obs) final;
  /// Throws std::invalid_argument for an action that the table doesn't have.
  void act(joint_action actions, joint_observation obs, std::span<agent_step> results) final;
  /// Draws the table that was played last, with the chosen payoffs in colour.
  bool render(canvas& on) const final;

  bool save(state_writer& to) const final;
  void restore(const state_reader& from) final;

 protected:
  /// One table of a game.
  struct stage {
    std::string name;
    std::array<payoff_table, 2> payoffs;  ///< What each agent gets.
    /// The stage after each action of agent_0, or one stage that follows all of them.
    std::vector<std::size_t> next = {0};
  };
  /// Takes stages of as many actions each.
  matrix_game(std::string id, std::vector<stage> stages, std::int64_t rounds);

 private:
  std::size_t count_of(std::size_t agent) const;
  std::size_t obs_size() const;
  const stage& stage_after(std::size_t first_action) const;
  void show(joint_observation obs) const;

  std::string id_;
  std::vector<stage> stages_;
  std::int64_t rounds_;
  // What a checkpoint has. The actions of the last round are -1 before the first one.
  std::int64_t round_ = 0;
  std::size_t stage_ = 0, played_ = 0;  // the present stage and that of the last round
  std::array<std::int64_t, 2> last_{-1, -1};
};

/// The penalty game.
class penalty_game final : public matrix_game {
 public:
  penalty_game() : penalty_game(penalty_options{}) {}
  /// Throws std::invalid_argument for an option outside of its range.
  explicit penalty_game(const penalty_options& options);
};

/// The two-step game of Rashid et al. 2018 (QMIX), https://arxiv.org/abs/1803.11485. In the first
/// round agent_0 alone chooses the table of the second round, for which both get their reward: 7
/// for every joint action of table 2A, and 0, 1, 1, 8 for those of table 2B. There are three
/// stages: the first round, 2A and 2B.
class two_step_game final : public matrix_game {
 public:
  two_step_game();
};

}  // namespace troupe

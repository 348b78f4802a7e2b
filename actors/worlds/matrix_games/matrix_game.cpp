#include "actors/worlds/matrix_games/matrix_game.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/environments/canvas.hpp"
#include "runtime/config/config.hpp"

namespace troupe {
namespace {

payoff_table negative(payoff_table of) {
  for (auto& row : of)
    for (auto& payoff : row) payoff = -payoff;
  return of;
}

bool is_rectangular(const payoff_table& of) {
  return std::ranges::all_of(of, [&](const auto& row) { return row.size() == of[0].size(); });
}

bool same_size(const payoff_table& a, const payoff_table& b) {
  return a.size() == b.size() && is_rectangular(a) && is_rectangular(b) &&
         a[0].size() == b[0].size();
}

std::string number_of(std::size_t index) { return std::to_string(index); }

}  // namespace

matrix_game_options climbing_options() {
  return {.id = "climbing-v0", .payoffs = {{11, -30, 0}, {-30, 7, 6}, {0, 0, 5}}};
}

matrix_game_options prisoners_dilemma_options() {
  return {.id = "prisoners_dilemma-v0",
          .payoffs = {{3, 0}, {5, 1}},
          .payoffs_of_agent_1 = {{3, 5}, {0, 1}},
          .rounds = 10};
}

matrix_game_options matching_pennies_options() {
  const payoff_table equal{{1, -1}, {-1, 1}};
  return {.id = "matching_pennies-v0",
          .payoffs = equal,
          .payoffs_of_agent_1 = negative(equal),
          .rounds = 10};
}

matrix_game_options rock_paper_scissors_options() {
  const payoff_table wins{{0, -1, 1}, {1, 0, -1}, {-1, 1, 0}};
  return {.id = "rock_paper_scissors-v0",
          .payoffs = wins,
          .payoffs_of_agent_1 = negative(wins),
          .rounds = 10};
}

matrix_game::matrix_game(std::string id, std::vector<stage> stages, std::int64_t rounds)
    : id_(std::move(id)), stages_(std::move(stages)), rounds_(rounds) {}

matrix_game::matrix_game(const matrix_game_options& options)
    : matrix_game(options.id,
                  {{.name = {},
                    .payoffs = {options.payoffs, options.payoffs_of_agent_1.empty()
                                                     ? options.payoffs
                                                     : options.payoffs_of_agent_1}}},
                  options.rounds) {
  checked_options(options, id_);
}

penalty_game::penalty_game(const penalty_options& options)
    : matrix_game({.id = "penalty-v0",
                   .payoffs = {{10, 0, options.penalty}, {0, 2, 0}, {options.penalty, 0, 10}},
                   .rounds = options.rounds}) {
  checked_options(options, "penalty-v0");
}

two_step_game::two_step_game()
    : matrix_game(
          "two_step-v0",
          [] {
            const payoff_table none{{0, 0}, {0, 0}}, a{{7, 7}, {7, 7}}, b{{0, 1}, {1, 8}};
            return std::vector<stage>{
                {"1", {none, none}, {1, 2}}, {"2A", {a, a}, {1}}, {"2B", {b, b}, {2}}};
          }(),
          2) {}

std::size_t matrix_game::count_of(std::size_t agent) const {
  const auto& table = stages_[0].payoffs[0];
  return agent == 0 ? table.size() : table[0].size();
}

std::size_t matrix_game::obs_size() const {
  return stages_.size() > 1 ? stages_.size() : count_of(0) + count_of(1);
}

env_spec matrix_game::spec() const {
  env_spec made{.id = id_, .render_fps = 2};
  const space seen = spaces::box(0, 1, {static_cast<std::int64_t>(obs_size())});
  for (std::size_t i = 0; i < 2; ++i)
    made.agents.push_back({.name = "agent_" + number_of(i),
                           .observation_space = seen,
                           .action_space = spaces::discrete(std::int64_t(count_of(i)))});
  made.state_space = seen;
  return with_joint_spaces(std::move(made));
}

void matrix_game::begin(std::optional<std::uint64_t>, joint_observation obs) {
  round_ = 0;
  stage_ = played_ = 0;
  last_ = {-1, -1};
  show(obs);
}

void matrix_game::act(joint_action actions, joint_observation obs, std::span<agent_step> results) {
  std::array<std::size_t, 2> chosen;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto choice = actions[i].discrete();
    if (choice < 0 || choice >= std::int64_t(count_of(i)))
      throw std::invalid_argument(fmt::format("{}: agent_{}: expected an action of 0 to {}, got {}",
                                              id_, i, count_of(i) - 1, choice));
    last_[i] = choice;
    chosen[i] = static_cast<std::size_t>(choice);
  }
  const auto& now = stages_[stage_];
  ++round_;
  for (std::size_t i = 0; i < 2; ++i) {
    results[i].reward = now.payoffs[i][chosen[0]][chosen[1]];
    if (round_ >= rounds_) results[i].ended = episode_end::terminated;
  }
  played_ = stage_;
  stage_ = now.next.size() == 1 ? now.next[0] : now.next[chosen[0]];
  show(obs);
}

void matrix_game::show(joint_observation obs) const {
  const auto write = [this](std::span<float> to) {
    std::ranges::fill(to, 0.0F);
    if (stages_.size() > 1) {
      to[stage_] = 1;
    } else if (last_[0] >= 0) {
      to[std::size_t(last_[0])] = 1;
      to[count_of(0) + std::size_t(last_[1])] = 1;
    }
  };
  for (std::size_t i = 0; i < 2; ++i) write(obs[i]);
  write(obs.state());
}

// The rows are the actions of agent_0. A cell has what both get, or what each of them gets, or the
// stage to which it leads.
bool matrix_game::render(canvas& on) const {
  constexpr canvas::colour white{255, 255, 255}, black{}, chosen{255, 214, 102};
  constexpr int height = 60, margin = 40, side_max = 2000;
  const int rows = static_cast<int>(count_of(0)), columns = static_cast<int>(count_of(1));
  const int cell_width = std::clamp(side_max / columns, 1, 110);
  const int cell_height = std::clamp(side_max / rows, 1, height);
  const int width = std::max(margin + columns * cell_width, 340);
  const double first_column = (width - columns * cell_width) / 2.0;
  on.begin(width, std::max(margin + rows * cell_height, 160), white);
  const auto& table = stages_[played_];
  on.text({width / 2.0, margin / 2.0},
          fmt::format("{}: {}round {} of {}", id_, table.name.empty() ? "" : table.name + ", ",
                      round_, rounds_),
          14, black);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double left = first_column + column * cell_width, top = margin + row * cell_height;
      const bool was_chosen = last_ == std::array<std::int64_t, 2>{row, column};
      on.rectangle({left, top}, cell_width - 2, cell_height - 2, black);
      on.rectangle({left + 1, top + 1}, cell_width - 4, cell_height - 4,
                   was_chosen ? chosen : white);
      const auto of = [&](std::size_t agent) {
        return table.payoffs[agent][std::size_t(row)][std::size_t(column)];
      };
      auto words = fmt::format("{}", of(0));
      if (table.payoffs[0] != table.payoffs[1]) words += fmt::format(", {}", of(1));
      if (table.next.size() > 1) words = "to " + stages_[table.next[std::size_t(row)]].name;
      on.text({left + cell_width / 2.0, top + cell_height / 2.0}, words, 16, black);
    }
  }
  return true;
}

bool matrix_game::save(state_writer& to) const {
  to.put("game", std::vector<std::int64_t>{round_, std::int64_t(stage_), std::int64_t(played_),
                                           last_[0], last_[1]});
  return true;
}

void matrix_game::restore(const state_reader& from) {
  const auto saved = from.get<std::vector<std::int64_t>>("game");
  const auto is_below = [](std::int64_t value, std::size_t end, std::int64_t first = 0) {
    return value >= first && value < std::int64_t(end);
  };
  if (saved.size() != 5 || saved[0] < 0 || !is_below(saved[1], stages_.size()) ||
      !is_below(saved[2], stages_.size()) || !is_below(saved[3], count_of(0), -1) ||
      !is_below(saved[4], count_of(1), -1) || (saved[3] < 0) != (saved[4] < 0))
    throw state_error(fmt::format("{}: expected a round, stages 0 to {} and actions, got {}", id_,
                                  stages_.size() - 1, fmt::join(saved, ", ")));
  round_ = saved[0];
  stage_ = static_cast<std::size_t>(saved[1]);
  played_ = static_cast<std::size_t>(saved[2]);
  last_ = {saved[3], saved[4]};
  const bool over = round_ >= rounds_;
  set_ended({over, over});
}

void describe(options_schema<matrix_game_options>& s) {
  constexpr std::size_t actions_max = 64;
  s.field("payoffs", &matrix_game_options::payoffs)
      .items(1, actions_max)
      .example("[[1,0],[0,1]]")
      .help("What agent_0 gets: a row for each of its actions, a number for each of agent_1's.");
  s.field("payoffs_of_agent_1", &matrix_game_options::payoffs_of_agent_1)
      .help("What agent_1 gets; an empty list means the same.");
  s.field("rounds", &matrix_game_options::rounds)
      .at_least(1)
      .unit("rounds")
      .help("The rounds of an episode.");
  s.rule("payoffs", "rows of 1 to 64 numbers each, all of the same length",
         [](const matrix_game_options& o) {
           return is_rectangular(o.payoffs) && !o.payoffs[0].empty() &&
                  o.payoffs[0].size() <= actions_max;
         });
  s.rule("payoffs_of_agent_1", "as many rows and numbers as payoffs has",
         [](const matrix_game_options& o) {
           return o.payoffs_of_agent_1.empty() || same_size(o.payoffs, o.payoffs_of_agent_1);
         });
}

void describe(options_schema<penalty_options>& s) {
  s.field("k", &penalty_options::penalty)
      .at_most(0)
      .help("The payoff of the two worst joint actions.");
  s.field("rounds", &penalty_options::rounds)
      .at_least(1)
      .unit("rounds")
      .help("The rounds of an episode.");
}

}  // namespace troupe

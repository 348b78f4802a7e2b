#include "actors/openenv/text/catch_text.hpp"

#include <algorithm>
#include <array>

#include "actors/openenv/text/move_text.hpp"
#include "actors/openenv/text/observation_list.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

constexpr std::int64_t rows = 10, columns = 5;

// The moves, in the order of OpenSpiel's numbers.
const std::array<wording, 3> moves{{{"LEFT", "-"}, {"STAY", "="}, {"RIGHT", "+"}}};

wording tell(const falling_ball& seen) {
  return {.words = fmt::format("The ball is in column {}, {} rows above the paddle, which is in "
                               "column {}. LEFT, STAY or RIGHT?",
                               seen.column, seen.height, seen.paddle),
          .letters = fmt::format("{}{}{}>", seen.column, seen.height, seen.paddle)};
}

wording show(const json& observation) { return tell(read_openspiel_ball(observation)); }

std::optional<json> act(const json&, std::string_view said) {
  const auto word = move_text(said);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (word == move_text(moves[i].words) || word == moves[i].letters)
      return json{{"action_id", i}};
  }
  return std::nullopt;
}

/// Returns a whole fall of the ball, with random moves.
std::vector<dialogue_turn> practise(action_random& random) {
  std::vector<dialogue_turn> turns;
  falling_ball now{.column = std::int64_t(random.below(columns))};
  for (now.height = rows - 1; now.height > 0; --now.height) {
    const auto move = random.below(moves.size());
    turns.push_back({tell(now), moves[move]});
    now.paddle = std::clamp<std::int64_t>(now.paddle + std::int64_t(move) - 1, 0, columns - 1);
  }
  return turns;
}

}  // namespace

falling_ball read_openspiel_ball(const json& observation) {
  const auto& tensor = list_of("catch", observation, "info_state", rows * columns);
  std::vector<std::int64_t> set;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (tensor[static_cast<std::size_t>(i)].get<float>() > 0) set.push_back(i);
  }
  // At the end the ball is in the paddle's row, and may be in the paddle's cell.
  if (set.empty() || set.size() > 2 || set.back() < (rows - 1) * columns)
    throw std::invalid_argument(fmt::format(
        "catch: info_state: expected a ball and a paddle in the last row, got {}", tensor.dump()));
  return {.column = set.front() % columns,
          .height = rows - 1 - set.front() / columns,
          .paddle = set.back() % columns};
}

text_game catch_game() {
  return {
      .name = "catch",
      .what = "move a paddle below a ball that falls",
      .environment = "",
      .turns = rows - 1,
      .view = {.rules = "Catch: a ball falls by a row each turn. Move the paddle by a column at "
                        "most, so that it is below the ball in the end. Answer with LEFT, STAY "
                        "or RIGHT alone.",
               .show = show,
               .act = act,
               .practise = practise}};
}

}  // namespace troupe::openenv

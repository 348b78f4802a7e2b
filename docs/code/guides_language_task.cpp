// The code of docs/guides/language_task.md that is in no example.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "actors/environments/environment.hpp"

/// A row of ten places, of which the last is the exit; see examples/own_program.cpp.
class corridor final : public troupe::environment {
 public:
  troupe::env_spec spec() const override {
    return {.id = "Corridor-v0",
            .observation_space = troupe::spaces::box(0.0f, 1.0f, {1}),
            .action_space = troupe::spaces::discrete(2),
            .max_episode_steps = 100};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    place_ = static_cast<int>(seed.value_or(0) % 5);
    obs[0] = static_cast<float>(place_) / 10;
  }
  troupe::step_result step(troupe::action_view action, std::span<float> obs) override {
    place_ = std::max(0, place_ + (action.discrete() == 1 ? 1 : -1));
    obs[0] = static_cast<float>(place_) / 10;
    return {.reward = place_ == 10 ? 1.0 : -0.01, .terminated = place_ == 10, .truncated = false};
  }

 private:
  int place_ = 0;
};

// readme: text_game
#include "actors/openenv/text/text_view.hpp"

namespace openenv = troupe::openenv;
using nlohmann::json;

troupe::wording place_in_words(int place) {
  const auto number = std::to_string(place);
  return {.words = "You are at place " + number + " of 10. LEFT or RIGHT?",
          .letters = number + ">"};
}

troupe::wording show(const json& observation) {
  const double place = 10 * observation.at("obs").at(0).get<double>();
  return place_in_words(static_cast<int>(std::lround(place)));
}

std::optional<json> act(const json&, std::string_view said) {
  if (said == "LEFT" || said == "-") return json{{"action", 0}};
  if (said == "RIGHT" || said == "+") return json{{"action", 1}};
  return std::nullopt;  // no legal move: the game ends with world.malformed_reward
}

/// A made-up conversation with moves by a coin. It teaches how a move is said.
std::vector<troupe::dialogue_turn> practise(troupe::action_random& random) {
  std::vector<troupe::dialogue_turn> turns;
  for (int i = 0; i < 4; ++i) {
    const bool right = random.below(2) == 1;
    turns.push_back({.shown = place_in_words(static_cast<int>(random.below(10))),
                     .said = {right ? "RIGHT" : "LEFT", right ? "+" : "-"}});
  }
  return turns;
}

const openenv::text_game corridor_game{
    .name = "corridor",
    .what = "a corridor with an exit",
    .environment = "Corridor-v0",  // this program registers it
    .turns = 12,
    .view = {.rules = "The exit is at place 10.", .show = show, .act = act, .practise = practise}};
// readme: end

// readme: text_episode
#include "actors/openenv/text/chat_view.hpp"
#include "actors/text/text_episode.hpp"

/// Plays one hand on servers. `write` asks the model for its next text.
troupe::task<double> play_a_hand(openenv::world_maker games, troupe::text_writer write) {
  const auto game = openenv::chat_environments(openenv::blackjack_chat_view(), games)();
  const troupe::text_task item{.prompt = {{"user", "Play one hand."}},
                               .reset = {{"seed", 7}},
                               .world = "blackjack",
                               .expected = ""};
  const auto played = co_await troupe::play_text_episode(*game, item, write, {.turns_max = 8});
  co_return played.world_return;
}
// readme: end

// readme: program_with_tasks
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/program/main.hpp"

int main(int argc, char** argv) {
  return troupe::main(argc, argv,
                      {.environments = {troupe::environment_of<corridor>("Corridor-v0")},
                       .algorithms = {troupe::grpo_algorithm({corridor_game})}});
}
// readme: end

#include "actors/openenv/text/text_view.hpp"

#include <algorithm>

#include "actors/openenv/text/blackjack_text.hpp"
#include "actors/openenv/text/board_text.hpp"
#include "actors/openenv/text/catch_text.hpp"
#include "actors/openenv/text/openspiel_text.hpp"
#include "actors/reward/text_reward.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

class world_on_server final : public json_world {
 public:
  explicit world_on_server(session session) : session_(std::move(session)) {}
  task<result> reset(json with) override { return session_.reset(std::move(with)); }
  task<result> step(json action) override { return session_.step(std::move(action)); }
  void end_episode() override { session_.end_episode(); }

 private:
  session session_;
};

}  // namespace

const std::vector<text_game>& text_games() {
  static const std::vector<text_game> games = [] {
    std::vector<text_game> all{blackjack_game(), catch_game(), connect_four_game(),
                               tic_tac_toe_game()};
    std::ranges::move(openspiel_text_games(), std::back_inserter(all));
    return all;
  }();
  return games;
}

const text_game* find_text_game(std::string_view name) {
  const auto found = std::ranges::find(text_games(), name, &text_game::name);
  return found == text_games().end() ? nullptr : &*found;
}

world_maker worlds_on(client_options servers, metrics_registry* metrics) {
  return [client = client(std::move(servers), metrics)] {
    return std::make_unique<world_on_server>(client.open());
  };
}

namespace {

/// A world that is played by its view.
class viewed_world final : public text_environment {
 public:
  viewed_world(text_view view, std::unique_ptr<json_world> world)
      : view_(std::move(view)), world_(std::move(world)) {}

  task<text_step> reset(const text_reset& with) override {
    json arguments{{"seed", with.seed}};
    auto first = co_await world_->reset(std::move(arguments));
    observed_ = std::move(first.observation);
    auto shown = view_.show(observed_);
    if (!view_.rules.empty()) shown.words = view_.rules + '\n' + shown.words;
    co_return text_step{.shown = std::move(shown), .ended = first.ended};
  }

  task<text_step> step(std::string reply) override {
    auto action = view_.act(observed_, after_thoughts(reply));
    if (!action) co_return text_step{.refused = "it is no legal move"};
    auto next = co_await world_->step(std::move(*action));
    observed_ = std::move(next.observation);
    co_return text_step{
        .shown = view_.show(observed_), .reward = next.reward.value_or(0), .ended = next.ended};
  }

  void end_episode() override { world_->end_episode(); }

 private:
  text_view view_;
  std::unique_ptr<json_world> world_;
  json observed_;
};

/// Made-up conversations whose first text has the rules.
std::function<std::vector<dialogue_turn>(action_random&)> practice_of(const text_view& view) {
  if (!view.practise) return nullptr;
  return [practise = view.practise, rules = view.rules](action_random& random) {
    auto turns = practise(random);
    auto& first = turns.at(0).shown.words;
    if (!rules.empty()) first = rules + '\n' + first;
    return turns;
  };
}

}  // namespace

text_environment_spec text_environment_of(const text_game& game, world_maker make) {
  return {.name = game.name,
          .what = game.what,
          .make = [view = game.view,
                   make = std::move(make)] { return std::make_unique<viewed_world>(view, make()); },
          .turns = game.turns,
          .has_letters = game.has_letters(),
          .refusal_ends = true,
          .practise = practice_of(game.view)};
}

}  // namespace troupe::openenv

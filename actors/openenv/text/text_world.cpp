#include "actors/openenv/text/text_world.hpp"

#include <algorithm>

#include "actors/openenv/text/blackjack_text.hpp"
#include "actors/openenv/text/board_text.hpp"
#include "actors/openenv/text/catch_text.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

class world_on_server final : public json_world {
 public:
  explicit world_on_server(session session) : session_(std::move(session)) {}
  task<result> reset(json with) override { return session_.reset(std::move(with)); }
  task<result> step(json action) override { return session_.step(std::move(action)); }

 private:
  session session_;
};

}  // namespace

const std::vector<text_game>& text_games() {
  static const std::vector<text_game> games{blackjack_game(), catch_game(), connect_four_game(),
                                            tic_tac_toe_game()};
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

text_world::text_world(text_view view, world_maker make, double illegal_reward)
    : view_(std::move(view)), illegal_reward_(illegal_reward), world_(make()) {}

task<text_turn> text_world::begin(std::uint64_t seed) {
  json with{{"seed", seed}};
  auto first = co_await world_->reset(std::move(with));
  shown_ = std::move(first.observation);
  co_return text_turn{.shown = view_.show(shown_), .ended = first.ended};
}

task<text_turn> text_world::say(std::string what) {
  auto action = view_.act(shown_, what);
  if (!action) {
    co_return text_turn{
        .shown = view_.show(shown_), .reward = illegal_reward_, .ended = true, .illegal = true};
  }
  auto next = co_await world_->step(std::move(*action));
  shown_ = std::move(next.observation);
  co_return text_turn{
      .shown = view_.show(shown_), .reward = next.reward.value_or(0), .ended = next.ended};
}

}  // namespace troupe::openenv

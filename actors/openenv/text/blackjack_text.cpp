#include "actors/openenv/text/blackjack_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "actors/openenv/text/move_text.hpp"
#include "actors/openenv/text/observation_list.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

wording tell(const blackjack_hand& hand) {
  const auto dealer = hand.dealer == 1 ? std::string("an ace") : std::to_string(hand.dealer);
  return {.words = fmt::format("You have {}{}, the dealer shows {}. HIT or STAND?",
                               hand.usable_ace ? "a soft " : "", hand.total, dealer),
          .letters = fmt::format("{}{}d{}>", hand.usable_ace ? "a" : "", hand.total, hand.dealer)};
}

wording show(const json& observation) {
  return tell(is_openspiel(observation) ? read_openspiel_hand(observation)
                                        : read_served_hand(observation));
}

std::optional<json> act(const json& observation, std::string_view said) {
  const auto word = move_text(said);
  const bool hit = word == "hit" || word == "+";
  if (!hit && word != "stand" && word != "=") return std::nullopt;
  if (is_openspiel(observation)) return json{{"action_id", hit ? 0 : 1}};
  return json{{"action", hit ? 1 : 0}};
}

/// Returns a hand of one to three equally likely turns, with random moves.
std::vector<dialogue_turn> practise(action_random& random) {
  std::vector<dialogue_turn> turns;
  blackjack_hand hand{.total = 4 + std::int64_t(random.below(18)),
                      .dealer = 1 + std::int64_t(random.below(10)),
                      .usable_ace = false};
  while (turns.size() < 3 && hand.total <= 21) {
    hand.usable_ace = hand.total > 11 && random.below(6) == 0;
    const bool hit = random.below(2) == 0;
    turns.push_back({tell(hand), hit ? wording{"HIT", "+"} : wording{"STAND", "="}});
    if (!hit) break;
    hand.total += 1 + std::int64_t(random.below(10));
  }
  return turns;
}

}  // namespace

blackjack_hand read_openspiel_hand(const json& observation) {
  constexpr int totals = 3, dealer_card = 33, own_cards = 85, cards = 52, ranks = 13;
  const auto& tensor = list_of("blackjack", observation, "info_state", 189);
  const auto has = [&](int at) { return tensor[static_cast<std::size_t>(at)].get<float>() > 0; };
  blackjack_hand hand;
  for (int i = totals + 1; i < dealer_card; ++i) hand.total += has(i);
  std::int64_t hard_total = 0;
  for (int card = 0; card < cards; ++card) {
    const std::int64_t value = std::min(card % ranks + 1, 10);
    if (has(dealer_card + card)) hand.dealer = value;
    if (has(own_cards + card)) hard_total += value;
  }
  hand.usable_ace = hand.total == hard_total + 10;
  return hand;
}

blackjack_hand read_served_hand(const json& observation) {
  const auto& obs = list_of("blackjack", observation, "obs", 3);
  return {obs[0].get<std::int64_t>(), obs[1].get<std::int64_t>(), obs[2].get<std::int64_t>() == 1};
}

text_game blackjack_game() {
  return {.name = "blackjack",
          .what = "hit or stand, with the cards shown",
          .environment = "Blackjack-v1",
          .turns = 6,
          .view = {.rules = "Blackjack: get closer to 21 than the dealer, but not above it. Answer "
                            "with HIT or STAND alone.",
                   .show = show,
                   .act = act,
                   .practise = practise}};
}

}  // namespace troupe::openenv

#include "actors/worlds/toy_text/blackjack.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr std::array<int, 13> deck = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10};
constexpr std::size_t sums = 32;
constexpr std::size_t cards_shown = 11;

}  // namespace

void blackjack::hand::add(int card) {
  ++cards;
  hard_sum += card;
  has_ace |= card == 1;
}

env_spec blackjack::spec() const {
  return {.id = "Blackjack-v1",
          .observation_space = spaces::tuple(
              {spaces::discrete(sums), spaces::discrete(cards_shown), spaces::discrete(2)}),
          .action_space = spaces::discrete(2),
          .render_fps = 2};
}

void blackjack::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  dealer_ = {};
  player_ = {};
  shown_ = draw_card();
  dealer_.add(shown_);
  dealer_.add(draw_card());
  player_.add(draw_card());
  player_.add(draw_card());
  // Gymnasium draws the suit and face of the card it would paint, from the same stream.
  random_->integers(0, 4);
  if (shown_ == 10) random_->integers(0, 3);
  show(obs);
}

step_result blackjack::step(action_view action, std::span<float> obs) {
  const auto choice = action.discrete();
  if (choice != 0 && choice != 1)
    throw std::invalid_argument("Blackjack: expected action 0 or 1, got " + std::to_string(choice));
  if (player_.sum() > 21) throw std::logic_error("Blackjack: the hand is bust, reset comes first");
  step_result result;
  if (choice == 1) {
    player_.add(draw_card());
    result.terminated = player_.sum() > 21;
    result.reward = result.terminated ? -1 : 0;
  } else {
    result.terminated = true;
    result.reward = settle();
  }
  show(obs);
  return result;
}

// Of a hand only the sum is known, so the player's cards are not drawn.
bool blackjack::render(canvas& on) const {
  constexpr int width = 600, height = 500;
  constexpr double middle = width / 2.0, card_width = 100, card_height = 140, card_top = 70;
  constexpr canvas::colour table{7, 99, 36}, white{255, 255, 255}, black{}, back{40, 70, 150};
  on.begin(width, height, table);
  on.text({middle, 35}, "dealer", 30, white);
  const auto draw_card = [&on](double left, canvas::colour paper) {
    on.rectangle({left, card_top}, card_width, card_height, paper);
  };
  draw_card(middle - card_width - 10, white);
  draw_card(middle + 10, back);
  const auto name = shown_ == 1 ? std::string("A") : std::to_string(shown_);
  on.text({middle - card_width / 2 - 10, card_top + card_height / 2}, name, 60, black);
  on.text({middle, 270}, "player", 30, white);
  on.text({middle, 360}, std::to_string(player_.sum()), 110, white);
  if (player_.usable_ace()) on.text({middle, 450}, "usable ace", 30, white);
  return true;
}

bool blackjack::save(state_writer& to) const {
  std::vector<std::int64_t> hands;
  for (const auto& h : {player_, dealer_}) {
    hands.insert(hands.end(), {h.cards, h.hard_sum, h.has_ace});
  }
  to.put("hands", hands);
  to.put("shown", shown_);
  random_.save(to);
  return true;
}

void blackjack::restore(const state_reader& from) {
  const auto hands = from.get<std::vector<std::int64_t>>("hands");
  const auto shown = from.get<int>("shown");
  if (hands.size() != 6 || shown < 1 || shown > 10)
    throw state_error("Blackjack: expected two hands and a card of 1 to 10, got " +
                      std::to_string(hands.size()) + " numbers and " + std::to_string(shown));
  const auto hand_at = [&](std::size_t i) {
    return hand{static_cast<int>(hands[i]), static_cast<int>(hands[i + 1]), hands[i + 2] != 0};
  };
  player_ = hand_at(0);
  dealer_ = hand_at(3);
  for (const auto& h : {player_, dealer_}) {
    if (h.hard_sum < 0 || h.sum() >= static_cast<int>(sums))
      throw state_error("Blackjack: expected a sum of 0 to 31, got " + std::to_string(h.sum()));
  }
  shown_ = shown;
  random_.restore(from);
}

int blackjack::draw_card() { return random_->choice(std::span<const int>(deck)); }

double blackjack::settle() {
  while (dealer_.sum() < 17) dealer_.add(draw_card());
  const int lead = player_.score() - dealer_.score();
  const double reward = lead > 0 ? 1 : lead < 0 ? -1 : 0;
  if (options_.sutton_barto) {
    return player_.natural() && !dealer_.natural() ? 1 : reward;
  }
  return options_.natural && player_.natural() && reward == 1 ? 1.5 : reward;
}

void blackjack::show(std::span<float> obs) const {
  std::fill(obs.begin(), obs.end(), 0.0F);
  obs[static_cast<std::size_t>(player_.sum())] = 1;
  obs[sums + static_cast<std::size_t>(shown_)] = 1;
  obs[sums + cards_shown + (player_.usable_ace() ? 1 : 0)] = 1;
}

void describe(options_schema<blackjack_options>& s) {
  s.field("sab", &blackjack_options::sutton_barto)
      .help("If true, the rules are those of Sutton and Barto 2018, example 5.1.");
  s.field("natural", &blackjack_options::natural)
      .help("If true, a winning natural pays 1.5; used only if sab is false.");
}

}  // namespace troupe

#pragma once
// The environment Blackjack-v1.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "actors/environments/env_state.hpp"
#include "actors/environments/environment.hpp"
#include "runtime/config/options_schema.hpp"

namespace troupe {

struct blackjack_options {
  /// Uses the rules of Sutton and Barto 2018, example 5.1: a natural (ace and ten) wins 1 unless
  /// the dealer has one too.
  bool sutton_barto = true;
  /// Pays 1.5 for a winning natural. Used only without `sutton_barto`.
  bool natural = false;
};
void describe(options_schema<blackjack_options>& s);

/// Blackjack against a dealer who draws below 17, from an infinite deck: Sutton and Barto 2018,
/// http://incompleteideas.net/book/the-book-2nd.html, example 5.1. Equal to Gymnasium's
/// Blackjack-v1 draw for draw.
///
/// Observation, one-hot [45]: the player's sum (32), the dealer's shown card (11; an ace is 1),
/// whether the player holds an ace that counts 11 (2). Actions: 0 sticks, 1 hits. Reward at the
/// end: 1, 0 or -1.
class blackjack final : public environment {
 public:
  blackjack() = default;
  explicit blackjack(const blackjack_options& options) : options_(options) {}

  env_spec spec() const override;
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override;
  /// Throws std::invalid_argument for an action other than 0 and 1.
  step_result step(action_view action, std::span<float> obs) override;
  bool render(canvas& on) const override;

  bool save(state_writer& to) const override;
  void restore(const state_reader& from) override;

 private:
  /// The facts about a hand that the rules depend on.
  struct hand {
    int cards = 0;
    int hard_sum = 0;  // the sum with every ace counted as 1
    bool has_ace = false;

    void add(int card);
    bool usable_ace() const { return has_ace && hard_sum + 10 <= 21; }
    int sum() const { return hard_sum + (usable_ace() ? 10 : 0); }
    int score() const { return sum() > 21 ? 0 : sum(); }
    bool natural() const { return cards == 2 && sum() == 21; }
  };

  int draw_card();
  double settle();
  void show(std::span<float> obs) const;

  blackjack_options options_;
  hand player_, dealer_;
  int shown_ = 1;  // the dealer's first card
  detail::env_random random_;
};

}  // namespace troupe

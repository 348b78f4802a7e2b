// A language model learns to play a text world of your own: to find a number from 1 to 9 in three
// turns. Its roles are those of GRPO: prompts, generators, this world, replay and trainer.
//
//   ./grpo_own_world train --algo grpo

#include "actors/reward/text_reward.hpp"
#include "actors/text/text_environment.hpp"
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/program/main.hpp"

using troupe::task, troupe::text_reset, troupe::text_step;

// readme: world
class guess_number final : public troupe::text_environment {
 public:
  task<text_step> reset(const text_reset& with) override {
    secret_ = double(1 + troupe::action_random(with.seed).below(9));
    co_return text_step{.shown = {"A number from 1 to 9?"}};
  }
  task<text_step> step(std::string reply) override {
    const auto guess = troupe::last_number(reply);
    if (!guess) co_return text_step{.refused = "expected a number"};
    if (*guess == secret_) co_return text_step{.shown = {"Right."}, .reward = 1, .ended = true};
    co_return text_step{.shown = {*guess < secret_ ? "Higher." : "Lower."}};
  }

 private:
  double secret_ = 0;
};
// readme: end

// readme: practise
/// A made-up conversation with guesses by chance. It teaches how a guess is written.
std::vector<troupe::dialogue_turn> practise(troupe::action_random& random) {
  const auto guess = [&] { return std::to_string(1 + random.below(9)); };
  const auto hint = [&] { return random.below(2) ? "Higher." : "Lower."; };
  return {{.shown = {"A number from 1 to 9?"}, .said = {guess()}},
          {.shown = {hint()}, .said = {guess()}},
          {.shown = {hint()}, .said = {guess()}}};
}

int main(int argc, char** argv) {
  const troupe::text_environment_spec world{.name = "guess_number",
                                            .what = "find a number in three turns",
                                            .make = [] { return std::make_unique<guess_number>(); },
                                            .turns = 3,
                                            .practise = practise};
  return troupe::main(argc, argv, {.algorithms = {troupe::grpo_algorithm({world})}});
}
// readme: end

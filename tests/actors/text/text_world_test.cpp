#include "actors/text/text_world.hpp"

#include "actors/reward/text_reward.hpp"
#include "runtime/system/system.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

/// A number that is to be guessed. It wants a number in each reply.
class guess_number final : public text_environment {
 public:
  task<text_step> reset(const text_reset& with) override {
    secret_ = double(with.seed % 10);
    co_return text_step{.system = "Be quick.", .shown = {.words = "Guess.", .letters = "0>"}};
  }
  task<text_step> step(std::string reply) override {
    const auto guess = last_number(reply);
    if (!guess) co_return text_step{.refused = "expected a number"};
    if (*guess == secret_)
      co_return text_step{
          .shown = {"Right."}, .reward = 1, .ended = true, .info = {{"success", 1}}};
    co_return text_step{.shown = {*guess < secret_ ? "Higher." : "Lower."}};
  }
  void end_episode() override { ++ended; }

  static inline int ended = 0;  // episodes that a caller has ended

 private:
  double secret_ = 0;
};

text_environment_maker guesses() {
  return [] { return std::make_unique<guess_number>(); };
}

task<> play_one(system& sys) {
  const auto worlds =
      co_await sys.serve<text_world>({.name = "worlds"}, guesses(), text_world_options{});
  const session_options alone{.exclusive = true};
  const auto table = co_await worlds.session(alone);
  const auto first = co_await table.route<&text_world::reset>(text_reset{.seed = 17});
  CHECK(first.system == "Be quick.");
  const auto refused = co_await table.route<&text_world::step>("seven");
  CHECK(refused.refused == "expected a number");
  CHECK_FALSE(refused.ended);
  CHECK(refused.reward == 0);
  CHECK(refused.shown.words == "That was no action: expected a number.\nGuess.");
  CHECK(refused.shown.letters == "0>");
  const auto higher = co_await table.route<&text_world::step>("I say 5");
  CHECK(higher.shown.words == "Higher.");
  const auto again = co_await table.route<&text_world::step>("hm");
  CHECK(again.shown.words == "That was no action: expected a number.\nHigher.");
  const auto right = co_await table.route<&text_world::step>("7");
  CHECK(right.ended);
  CHECK(right.reward == 1);
  CHECK(right.info.at("success") == 1);
}

TEST_CASE("text_world: a reply that is no action is told, and the turn counts") {
  troupe::system sys({.deterministic = true, .seed = 1});
  sys.run(play_one(sys));
}

task<> end_at_a_refusal(system& sys) {
  const text_world_options strict{.refusal_ends = true, .refusal_reward = -2};
  const auto worlds = co_await sys.serve<text_world>({.name = "worlds"}, guesses(), strict);
  const auto table = co_await worlds.session({.exclusive = true});
  co_await table.route<&text_world::reset>(text_reset{.seed = 17});
  guess_number::ended = 0;
  const auto lower = co_await table.route<&text_world::step>("9");
  CHECK_FALSE(lower.ended);
  CHECK(guess_number::ended == 0);
  const auto refused = co_await table.route<&text_world::step>("seven");
  CHECK(refused.ended);
  CHECK(refused.reward == -2);
  CHECK(guess_number::ended == 1);  // the world itself goes on, and is told
  co_await table.route<&text_world::end_episode>();
  CHECK(guess_number::ended == 2);
}

TEST_CASE("text_world: a refusal ends the episode where its options say so") {
  troupe::system sys({.deterministic = true, .seed = 1});
  sys.run(end_at_a_refusal(sys));
}

TEST_CASE("text environments: they are found by name, once each") {
  register_text_environment({.name = "guess_number", .make = guesses()});
  CHECK(find_text_environment("guess_number"));
  CHECK(find_text_environment("guess_word") == nullptr);
  CHECK(text_environment_names() == std::vector<std::string>{"guess_number"});
  CHECK_THROWS_WITH(register_text_environment({.name = "guess_number", .make = guesses()}),
                    Catch::Contains("\"guess_number\", which is registered already"));
  CHECK_THROWS_WITH(register_text_environment({.name = "nothing"}), Catch::Contains("nothing"));
}

}  // namespace
}  // namespace troupe

#include "actors/environments/agent_wrappers.hpp"

#include "actors/environments/vector_env.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using testing::meeting;
using floats = std::vector<float>;

/// Two agents of Meeting-v0 with a channel, outside of a vector.
struct talking {
  explicit talking(const channel_options& options)
      : channel(std::make_unique<meeting>(), options),
        layout(channel.spec()),
        row(layout.obs_size()) {
    channel.reset(1, row);
  }
  /// Both stay where they are. Returns what the agents hear.
  std::array<floats, 2> say(std::int64_t first, std::int64_t second) {
    channel.step(action_view(std::vector<std::int64_t>{1, first, 1, second}), row);
    return {heard_by(0), heard_by(1)};
  }
  floats heard_by(std::size_t i) const {
    const auto obs = layout[i].obs.of(std::span<const float>(row));
    return {obs.begin() + 2, obs.end()};
  }

  message_channel channel;
  agent_layout layout;
  floats row;
};

}  // namespace

TEST_CASE("message_channel: a word is heard by the other agent in the next observation") {
  talking both({.words = 3});
  CHECK(both.channel.spec().agents[0].action_space ==
        space(spaces::tuple({spaces::discrete(3), spaces::discrete(4)})));
  CHECK(both.heard_by(0) == floats{0, 0, 0});
  const auto heard = both.say(1, 3);
  CHECK(heard[0] == floats{0, 0, 1});
  CHECK(heard[1] == floats{1, 0, 0});
  CHECK(both.say(0, 2) == std::array{floats{0, 1, 0}, floats{0, 0, 0}});
}

TEST_CASE("message_channel: a delayed word comes later, and none after the episode's end") {
  talking both({.words = 1, .delay = 3});
  CHECK(both.say(1, 0)[1] == floats{0});
  CHECK(both.say(0, 0)[1] == floats{0});
  CHECK(both.say(0, 0)[1] == floats{1});
  CHECK(both.say(1, 0)[1] == floats{0});
  both.channel.reset(std::nullopt, both.row);
  for (int t = 0; t < 4; ++t) CHECK(both.say(0, 0)[1] == floats{0});
}

TEST_CASE("message_channel: messages are lost with the given probability") {
  talking none({.words = 1, .loss = 1});
  talking half({.words = 1, .loss = 0.5});
  double received = 0;
  for (int t = 0; t < 2000; ++t) {
    CHECK(none.say(1, 1) == std::array{floats{0}, floats{0}});
    for (const auto& heard : half.say(1, 1)) received += heard[0];
  }
  CHECK(received / 4000 == Approx(0.5).margin(0.03));
}

TEST_CASE("message_channel: a narrow channel carries one message a step, whose is drawn") {
  talking both({.words = 1, .bandwidth = 1});
  double first = 0;
  for (int t = 0; t < 2000; ++t) {
    const auto heard = both.say(1, 1);
    CHECK(heard[0][0] + heard[1][0] == 1);
    first += heard[1][0];
  }
  CHECK(first / 2000 == Approx(0.5).margin(0.05));
  CHECK(both.say(0, 1) == std::array{floats{1}, floats{0}});  // silence takes no bandwidth
}

TEST_CASE("message_channel: numbers are sent as they are") {
  message_channel channel(std::make_unique<meeting>(), {.numbers = 2});
  const agent_layout layout(channel.spec());
  floats row(layout.obs_size());
  channel.reset(1, row);
  const std::vector<std::int64_t> moves{1, 1};
  const floats sent{.1F, -.2F, .3F, .4F};
  channel.step({moves, sent}, row);
  CHECK(floats(row.begin() + 2, row.begin() + 4) == floats{.3F, .4F});
  CHECK(floats(row.begin() + 6, row.begin() + 8) == floats{.1F, -.2F});
}

TEST_CASE("message_channel: a saved one goes on with the messages on their way") {
  const channel_options options{.words = 2, .delay = 2, .loss = 0.3};
  talking one(options), other(options);
  one.say(1, 2);
  state_writer saved;
  REQUIRE(one.channel.save(saved));
  other.channel.restore(state_reader(saved.bytes()));
  for (int t = 0; t < 20; ++t) CHECK(one.say(t % 3, 1) == other.say(t % 3, 1));
}

TEST_CASE("message_channel: options out of range are named") {
  const auto with = [](const channel_options& options) {
    message_channel(std::make_unique<meeting>(), options);
  };
  CHECK_THROWS_WITH(with({}),
                    "Meeting-v0: channel.words: expected words or numbers to send, got 0");
  CHECK_THROWS_WITH(with({.words = 1, .delay = 0}),
                    "Meeting-v0: channel.delay: expected a number of steps >= 1, got 0");
  CHECK_THROWS_WITH(with({.words = 1, .loss = 1.5}),
                    "Meeting-v0: channel.loss: expected a probability, got 1.5");
}

TEST_CASE("difference_rewards: an environment that can't be saved is refused when it is made") {
  struct unsaved final : multi_agent_environment {
    env_spec spec() const override {
      const space seen = spaces::box(0, 1, {1});
      return with_joint_spaces(
          {.id = "Unsaved-v0",
           .agents = {{"a", seen, spaces::discrete(2)}, {"b", seen, spaces::discrete(2)}}});
    }
    void begin(std::optional<std::uint64_t>, joint_observation) override {}
    void act(joint_action, joint_observation, std::span<agent_step>) override {}
  };
  CHECK_THROWS_WITH(
      difference_rewards(std::make_unique<unsaved>()),
      "Unsaved-v0: difference_rewards: expected an environment that can be saved, got "
      "one without `save`");
}

TEST_CASE("difference_rewards: an agent gets what the team would have lost without its action") {
  meeting plain;
  const auto spec = plain.spec();
  const agent_layout layout(spec);
  difference_rewards wrapped(std::make_unique<meeting>());
  floats row(layout.obs_size()), other(layout.obs_size());
  wrapped.reset(5, row);
  plain.reset(5, other);
  CHECK(row == other);
  std::size_t worth_something = 0;
  for (std::int64_t t = 0; t < 60; ++t) {
    const std::vector<std::int64_t> actions{t % 3, t / 3 % 3};
    state_writer before;
    plain.save(before);
    double without[2];
    for (std::size_t i = 0; i < 2; ++i) {
      auto clamped = actions;
      clamped[i] = 0;
      without[i] = plain.step(action_view(clamped), other).reward;
      plain.restore(state_reader(before.bytes()));
    }
    const double team = plain.step(action_view(actions), other).reward;
    wrapped.step(action_view(actions), row);
    CHECK(row == other);
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(wrapped.agent_steps()[i].reward == team - without[i]);
      worth_something += wrapped.agent_steps()[i].reward != 0;
    }
  }
  CHECK(worth_something > 5);
}

}  // namespace troupe

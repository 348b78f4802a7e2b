#include "actors/torch/torch.hpp"

#include "tests/chaos/load.hpp"

#include <cmath>

#include "actors/weights/give_weights.hpp"

namespace troupe::chaos {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto pause = 2ms;  // Between two calls of one caller; without one they fill every core.
constexpr auto update_every = 250ms;

template <class T, class Right>
void note(request_count& of, clock::time_point began, const outcome<T>& got, Right is_right) {
  of.note_end(clock::now() - began, hung_after, got.error());
  if (got.ok() && !is_right(got.value())) ++of.wrong;
}

task<> ask_environments(load& l, std::uint64_t seed) {
  const auto to = l.to.environments.with({.deadline = hung_after});
  const episodes own;
  for (; !l.ending; ++seed) {
    ++l.environment.begun;
    const auto began = clock::now();
    const auto got = co_await to.try_route<&episodes::play>(seed);
    note(l.environment, began, got, [&](double r) { return r == own.play(seed); });
    co_await sleep_for(pause);
  }
}

/// The value of an observation by the weights of a version.
class known_values {
 public:
  float of(const std::vector<float>& obs, std::int64_t version) {
    if (version != version_) network_.load_parameters(weights_of(version).parameters);
    version_ = version;
    float value = 0;
    network_.values(obs.data(), 1, &value);
    return value;
  }

 private:
  std::int64_t version_ = 0;
  actor_critic network_{small_policy().shape, small_policy().network, 0};
};

task<> ask_policies(load& l, std::uint64_t seed) {
  const auto to = l.to.policies.with({.deadline = hung_after});
  known_values known;
  action_random random(seed);
  while (!l.ending) {
    std::vector<float> obs(4);
    for (auto& x : obs) x = static_cast<float>(random.next() >> 40) * 0x1p-24f - 0.5f;
    act_request request{.obs = {obs.begin(), obs.end()}, .deterministic = true};
    ++l.policy.begun;
    const auto began = clock::now();
    const auto acknowledged = l.updates;
    const auto got = co_await to.try_route<&policy::act>(std::move(request));
    // Rows of a batch are summed in another order than one alone.
    note(l.policy, began, got, [&](const act_reply& r) {
      return std::abs(r.value.at(0) - known.of(obs, r.version)) < 1e-5f;
    });
    if (got.ok() && got.value().version < acknowledged) ++l.stale;
    co_await sleep_for(pause);
  }
}

task<> ask_rewards(load& l, std::uint64_t seed) {
  const auto to = l.to.rewards.with({.deadline = hung_after});
  for (; !l.ending; ++seed) {
    const bool right = seed % 3 != 0;
    completion asked{.text = std::to_string(seed % 1000),
                     .expected = std::to_string(seed % 1000 + (right ? 0 : 1))};
    ++l.reward.begun;
    const auto began = clock::now();
    const auto got =
        co_await to.try_route<&weighted_reward<completion>::evaluate>(std::move(asked));
    note(l.reward, began, got,
         [&](const reward_result& r) { return r.total == (right ? 1.5 : 0.5); });
    co_await sleep_for(pause);
  }
}

/// New weights, again and again.
task<> update_policies(load& l) {
  for (std::int64_t version = 2; !l.ending; ++version) {
    const auto fresh = weights_of(version);
    co_await l.to.store.route<&weight_store::put>(fresh);
    co_await give_weights<&policy::update>(l.to.policies, fresh);
    l.updates = version;
    co_await sleep_for(update_every);
  }
}

/// How long the next call keeps its thread: one of ten for about as long as it may take.
int draw_milliseconds(action_random& random) {
  const bool is_long = random.next() % 10 == 0;
  return static_cast<int>(is_long ? 1000 + random.next() % 1000 : 10 + random.next() % 290);
}

task<> ask_workers(load& l, std::uint64_t seed) {
  constexpr auto deadline = 1500ms;
  const auto to = l.to.workers->with({.deadline = deadline});
  action_random random(seed);
  while (!l.ending) {
    const int milliseconds = draw_milliseconds(random);
    ++l.work.begun;
    const auto began = clock::now();
    const auto got = co_await to.try_route<&worker::work>(milliseconds);
    l.work.note_end(clock::now() - began, deadline, got.error());
    if (got.ok() && got.value() != milliseconds) ++l.work.wrong;
  }
}

/// Its return; none if the load ends meanwhile.
task<std::optional<double>> play_in_session(load& l, std::uint64_t seed) {
  auto mine = co_await l.to.environments.with({.deadline = hung_after}).session();
  const auto number = co_await mine.route<&episodes::begin>(seed);
  action_draw actions(seed);
  for (;;) {
    const auto seen = co_await mine.route<&episodes::step>(number, actions.next());
    if (seen.over) co_return seen.episode_return;
    if (l.ending) co_return std::nullopt;
    co_await sleep_for(pause);
  }
}

task<> play_episodes(load& l, std::uint64_t seed) {
  const episodes own;
  for (; !l.ending; ++seed) {
    ++l.sessions.begun;
    try {
      const auto got = co_await play_in_session(l, seed);
      ++(got ? l.sessions.finished : l.sessions.left);
      if (got && *got != own.play(seed)) ++l.sessions.wrong;
    } catch (...) {
      const auto error = std::current_exception();
      if (is_kind(error, error_kind::session_lost)) {
        ++l.sessions.lost;
      } else {
        note_failure(l.sessions.failed, error);
      }
    }
  }
}

}  // namespace

void start_load(group& g, load& l, int callers, std::uint64_t seed) {
  for (int i = 0; i < callers; ++i) {
    const auto own = seed * 1'000'003 + static_cast<std::uint64_t>(i) * 1'000'000;
    g.start(ask_environments(l, own));
    g.start(ask_policies(l, own));
    g.start(ask_rewards(l, own));
    g.start(play_episodes(l, own + 500'000));
    if (l.to.workers) g.start(ask_workers(l, own));
  }
  g.start(update_policies(l));
}

}  // namespace troupe::chaos

#include "actors/torch.hpp"

#include "tests/chaos/load.hpp"

#include <cmath>

#include "actors/weights/give_weights.hpp"

namespace troupe::chaos {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto pause = 2ms;  // Between two calls of one caller; without one they fill every core.
constexpr auto update_every = 250ms;

std::string kind_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const call_error& e) {
    return std::string(to_string(e.kind()));
  } catch (const std::exception& e) {
    return e.what();
  }
}

template <class T, class Right>
void note(request_count& of, clock::time_point began, const outcome<T>& got, Right is_right) {
  of.longest = std::max<duration>(of.longest, clock::now() - began);
  if (!got.ok()) {
    ++of.failed[kind_of(got.error())];
  } else {
    ++of.answered;
    if (!is_right(got.value())) ++of.wrong;
  }
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

/// Its return.
task<double> play_in_session(load& l, std::uint64_t seed) {
  auto mine = co_await l.to.environments.with({.deadline = hung_after}).session();
  const auto number = co_await mine.route<&episodes::begin>(seed);
  action_draw actions(seed);
  for (;;) {
    const auto seen = co_await mine.route<&episodes::step>(number, actions.next());
    if (seen.over) co_return seen.episode_return;
    co_await sleep_for(pause);
  }
}

task<> play_episodes(load& l, std::uint64_t seed) {
  const episodes own;
  for (; !l.ending; ++seed) {
    ++l.sessions.begun;
    try {
      const double got = co_await play_in_session(l, seed);
      ++l.sessions.finished;
      if (got != own.play(seed)) ++l.sessions.wrong;
    } catch (...) {
      const auto error = std::current_exception();
      if (is_kind(error, error_kind::session_lost)) {
        ++l.sessions.lost;
      } else {
        ++l.sessions.failed[kind_of(error)];
      }
    }
  }
}

}  // namespace

std::int64_t request_count::ended() const {
  auto sum = answered;
  for (const auto& [kind, n] : failed) sum += n;
  return sum;
}

void request_count::add(const request_count& other) {
  begun += other.begun;
  answered += other.answered;
  wrong += other.wrong;
  for (const auto& [kind, n] : other.failed) failed[kind] += n;
  longest = std::max(longest, other.longest);
}

void start_load(group& g, load& l, int callers, std::uint64_t seed) {
  for (int i = 0; i < callers; ++i) {
    const auto own = seed * 1'000'003 + static_cast<std::uint64_t>(i) * 1'000'000;
    g.start(ask_environments(l, own));
    g.start(ask_policies(l, own));
    g.start(ask_rewards(l, own));
    g.start(play_episodes(l, own + 500'000));
  }
  g.start(update_policies(l));
}

}  // namespace troupe::chaos

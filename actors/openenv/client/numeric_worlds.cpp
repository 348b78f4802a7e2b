#include "actors/openenv/client/numeric_worlds.hpp"

#include <algorithm>
#include <map>

#include "actors/environments/vector_env.hpp"
#include "actors/openenv/protocol/fields.hpp"
#include "actors/worlds/registry.hpp"
#include "runtime/base/log.hpp"
#include "runtime/coroutine/combine.hpp"
#include "runtime/service/external_result.hpp"
#include "runtime/service/stop_token.hpp"
#include "runtime/system/system.hpp"

namespace troupe::openenv {

using nlohmann::json;

namespace {

/// The reply of one session to one action and, if the action ended the episode, the first
/// observation of the next episode, or the error with which that didn't begin.
struct answer {
  std::optional<result> step;
  std::optional<result> next;
  std::exception_ptr error;
};

task<result> begin(session& in, std::optional<std::uint64_t> seed) {
  json with = json::object();
  if (seed) with["seed"] = *seed;
  auto first = co_await in.reset(std::move(with));
  co_return first;
}

task<answer> take_step(session& in, json action) {
  answer got;
  try {
    got.step = co_await in.step(std::move(action));
    if (got.step->ended) got.next = co_await begin(in, std::nullopt);
  } catch (...) {
    got.error = std::current_exception();
  }
  co_return got;
}

/// Returns whether the episode was cut short. Some environments, such as Troupe's own, say so in
/// their observation.
bool was_cut(const json& observation) {
  const auto says = [&](const char* key) {
    const auto found = observation.find(key);
    return found != observation.end() && found->is_boolean() && found->get<bool>();
  };
  return says("truncated") && !says("terminated");
}

/// Logs once that illegal actions have ended episodes, if there are such.
void tell_illegal_actions(const numeric_view& of) {
  const auto illegal = of.ended->by_illegal_action.load();
  if (illegal == 0 || of.ended->is_told.exchange(true)) return;
  log::warn("illegal actions have ended episodes; the server does not get them",
            {{"env", of.spec.id},
             {"episodes", of.ended->all.load()},
             {"by_illegal_action", illegal},
             {"hint",
              "the policy is not told which actions are legal, so it has to learn that; "
              "env.options.view.illegal_reward is the reward of an illegal one"}});
}

/// Counts an episode that has ended. After so many episodes the numbers of a run's beginning are
/// told.
void count_ended(const numeric_view& of, bool by_illegal_action) {
  constexpr std::int64_t told_after = 100;
  if (by_illegal_action) ++of.ended->by_illegal_action;
  if (++of.ended->all >= told_after) tell_illegal_actions(of);
}

/// What the worlds of one vector environment share: how they wait for the servers, and how the last
/// episode failed to begin.
class contact {
 public:
  /// `size` is the number of worlds.
  explicit contact(std::size_t size) : size_(size) {}

  /// Runs a coroutine on the calling thread, which waits for it. If the system of the calling role
  /// ends meanwhile, the coroutine is cancelled and call_error of kind cancelled is thrown.
  template <class T>
  T run(task<T> work) {
    const std::stop_callback ending(system_stop_token(), [this] { sys_.cancel(); });
    return sys_.run(std::move(work));
  }

  /// Returns what `begins` returns, which begins an episode or throws. Notes a failure that a new
  /// session would meet as well.
  template <class F>
  result begin_episode(F begins) {
    full_ = false;
    unreachable_ = nullptr;
    try {
      return begins();
    } catch (const error& e) {
      if (e.reason() == failure::connect) unreachable_ = std::current_exception();
      full_ = e.reason() == failure::capacity;
      if (!full_) throw;
      throw error(failure::capacity,
                  e.what() + (". These " + std::to_string(size_)) +
                      " environments take their steps together, so each of them keeps its slot: "
                      "expected a server with more sessions, or fewer environments",
                  e.details());
    }
  }

  /// True if the last episode didn't begin because every server was full.
  bool is_full() const { return full_; }
  /// Throws the error again if the last episode didn't begin because no server could be reached.
  void require_reachable() const {
    if (unreachable_) std::rethrow_exception(unreachable_);
  }

 private:
  const std::size_t size_;
  troupe::system sys_{{.threads = 1}};
  bool full_ = false;
  std::exception_ptr unreachable_;
};

/// The environment of one session. Its calls block until the server has answered.
class numeric_world final : public environment {
 public:
  numeric_world(contact& servers, const numeric_view& view, session session)
      : servers_(servers), view_(view), session_(std::move(session)) {}

  env_spec spec() const override { return view_.spec; }

  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    auto first = servers_.begin_episode([&] {
      const auto failure = std::exchange(next_failed_, nullptr);
      auto begun = std::exchange(next_, std::nullopt);
      if (seed) return servers_.run(begin(session_, seed));
      if (failure) std::rethrow_exception(failure);
      return begun ? *std::move(begun) : servers_.run(begin(session_, seed));
    });
    show(std::move(first.observation), obs);
  }

  step_result step(action_view action, std::span<float> obs) override {
    if (const auto lost = forbidden(action)) return lose(*lost, obs);
    return settle(servers_.run(ask(action)), obs);
  }

  /// Returns the reward of an illegal action, which is not sent, or nullopt for a legal one.
  std::optional<double> forbidden(action_view action) const {
    return view_.forbid ? view_.forbid(shown_, action) : std::nullopt;
  }
  task<answer> ask(action_view action) { return take_step(session_, view_.act(action)); }

  step_result settle(answer got, std::span<float> obs) {
    if (!got.step) std::rethrow_exception(got.error);
    next_ = std::move(got.next);
    next_failed_ = std::move(got.error);
    const bool cut = got.step->ended && was_cut(got.step->observation);
    show(std::move(got.step->observation), obs);
    return {.reward = got.step->reward.value_or(view_.null_reward),
            .terminated = got.step->ended && !cut,
            .truncated = cut};
  }
  step_result lose(double reward, std::span<float> obs) {
    view_.observe(shown_, obs);
    return {.reward = reward, .terminated = true};
  }

 private:
  void show(json observation, std::span<float> obs) {
    view_.observe(observation, obs);
    shown_ = std::move(observation);
  }

  contact& servers_;
  const numeric_view& view_;
  session session_;
  json shown_;
  std::optional<result> next_;      ///< The reset's result, if the next episode has already begun.
  std::exception_ptr next_failed_;  ///< Why it has not, if its reset was tried.
};

/// The vector environment. It sends all actions before it waits for the first reply.
class numeric_worlds final : public troupe::detail::vector_env_base {
 public:
  numeric_worlds(numeric_view view, client_options servers, std::size_t size,
                 metrics_registry* metrics)
      : vector_env_base(size, view.spec),
        view_(std::move(view)),
        client_(together(servers, size), metrics),
        hurried_(hurried(std::move(servers)), metrics),
        contact_(size) {
    if (!view_.observe || !view_.act)
      throw std::invalid_argument(view_.spec.id + ": expected a view with observe and act");
    worlds_.resize(size);
    for (std::size_t i = 0; i < size; ++i) numeric_worlds::replace(i);
  }
  ~numeric_worlds() override { tell_illegal_actions(view_); }

  env_reset reset(std::optional<std::uint64_t> seed) override {
    troupe::detail::require_real_time("a reply of the server of " + view_.spec.id);
    return vector_env_base::reset(seed);
  }

  void step_into(env_actions& actions, env_step& out) override {
    troupe::detail::require_real_time("a reply of the server of " + view_.spec.id);
    auto batch = begin_step(actions, out);
    std::vector<task<answer>> asked;
    std::vector<std::optional<double>> lost(size());
    for (std::size_t i = 0; i < size(); ++i) {
      lost[i] = worlds_[i]->forbidden(action(batch, i));
      if (!lost[i]) asked.push_back(worlds_[i]->ask(action(batch, i)));
    }
    auto answers = contact_.run(all(std::move(asked)));
    auto next = answers.begin();
    for (std::size_t i = 0; i < size(); ++i) {
      step_result result;
      try {
        result = lost[i] ? worlds_[i]->lose(*lost[i], batch.rows.row(i))
                         : worlds_[i]->settle(std::move(*next++), batch.rows.row(i));
      } catch (...) {
        drop_thrown(batch, i);
        continue;
      }
      if (result.terminated || result.truncated) count_ended(view_, lost[i].has_value());
      settle(batch, i, result);
    }
    end_step(batch);
  }

 private:
  environment& at(std::size_t i) override { return *worlds_[i]; }
  /// The worlds are stepped together, so none of them frees a slot while another one waits for it.
  /// After a wait in vain, further sessions are refused at once while the servers are full.
  void replace(std::size_t i) override {
    contact_.require_reachable();
    const auto& from = contact_.is_full() ? hurried_ : client_;
    worlds_[i] = std::make_unique<numeric_world>(contact_, view_, from.open());
  }

  static client_options together(client_options servers, std::size_t size) {
    servers.sessions_together = size;
    return servers;
  }
  static client_options hurried(client_options servers) {
    servers.capacity_timeout = std::chrono::milliseconds(0);
    return servers;
  }

  const numeric_view view_;
  const client client_;
  const client hurried_;
  contact contact_;
  std::vector<std::unique_ptr<numeric_world>> worlds_;
};

struct game_size {
  std::int64_t info_state, actions;
};

/// The sizes are those in open_spiel/integration_tests/playthroughs.
const std::map<std::string, game_size>& known_games() {
  static const std::map<std::string, game_size> known{
      {"2048", {16, 4}},       {"blackjack", {189, 2}},     {"catch", {50, 3}},
      {"chess", {1280, 4674}}, {"cliff_walking", {400, 4}}, {"connect_four", {126, 7}},
      {"kuhn_poker", {11, 2}}, {"leduc_poker", {30, 3}},    {"tic_tac_toe", {27, 9}}};
  return known;
}

/// Writes the list under `key` to `obs`.
void show_list(const json& observation, const char* key, std::span<float> obs) {
  std::vector<float> values;
  const detail::place outer{nullptr, "/data/observation", 0};
  const auto found = observation.find(key);
  if (found == observation.end())
    throw wrong_shape(std::string("openenv: /data/observation/") + key +
                      ": expected a list, got none");
  detail::read_value(*found, values, {&outer, key, 0});
  write_obs(values, obs);
}

void show_info_state(const json& observation, std::span<float> obs) {
  show_list(observation, "info_state", obs);
}

json number_or_list(action_view action, const space& of) {
  if (of.get_if<spaces::discrete>()) return action.discrete();
  json list = json::array();
  for (const auto part : action.parts()) list.push_back(part);
  if (list.empty())
    for (const auto part : action.continuous()) list.push_back(part);
  return list;
}

std::optional<double> lose_if_illegal(const json& observation, action_view action) {
  const auto legal = observation.find("legal_actions");
  if (legal == observation.end() || !legal->is_array()) return std::nullopt;
  const bool found = std::ranges::find(*legal, json(action.discrete())) != legal->end();
  return found ? std::nullopt : std::optional(-1.0);
}

}  // namespace

numeric_view openspiel_view(const std::string& game) {
  const auto& known = known_games();
  const auto found = known.find(game);
  if (found == known.end()) {
    std::string names;
    for (const auto& [name, size] : known) names += (names.empty() ? "" : ", ") + name;
    throw std::invalid_argument("openenv: expected a game of " + names + ", got \"" + game + '"');
  }
  const auto [width, actions] = found->second;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return {.spec = {.id = game + "-openenv",
                   .observation_space = spaces::box(-infinity, infinity, {width}),
                   .action_space = spaces::discrete(actions)},
          .observe = show_info_state,
          .act = [](action_view action) { return json{{"action_id", action.discrete()}}; },
          .forbid = lose_if_illegal};
}

std::optional<std::int64_t> openspiel_actions(const std::string& game) {
  const auto found = known_games().find(game);
  return found == known_games().end() ? std::nullopt : std::optional(found->second.actions);
}

numeric_view served_view(env_spec spec) {
  const auto actions = spec.action_space;
  return {
      .spec = std::move(spec),
      .observe = [](const json& observation,
                    std::span<float> obs) { show_list(observation, "obs", obs); },
      .act = [actions](
                 action_view action) { return json{{"action", number_or_list(action, actions)}}; },
      .forbid = nullptr};
}

std::unique_ptr<vector_environment> make_numeric_worlds(numeric_view view, client_options servers,
                                                        std::size_t size,
                                                        metrics_registry* metrics) {
  return std::make_unique<numeric_worlds>(std::move(view), std::move(servers), size, metrics);
}

void register_world(const std::string& id, numeric_view view, client_options servers,
                    metrics_registry* metrics) {
  register_vector_environment(
      id, [view = std::move(view), servers = std::move(servers), metrics](std::size_t size) {
        return make_numeric_worlds(view, servers, size, metrics);
      });
}

}  // namespace troupe::openenv

#pragma once
// make_algorithm turns a plain class into an algorithm that train() runs. The class has these
// members:
//
//   class my_algorithm {
//    public:
//     using experience = rollout;                  // the result of one episode
//
//     explicit my_algorithm(training_run& in, ...);         // `in` outlives it
//
//     rollout_roles roles;                         // the arguments of an episode, with a `replay`
//     static task<rollout> generate(rollout_roles);           // plays one episode
//     task<std::int64_t> update(std::vector<rollout> batch);  // learns, publishes the new weights
//                                                  // and returns their version
//     loop_sizes sizes() const;
//
//     task<> serve(const checkpoint* from);        // serves its roles by in.serve, restored from
//                                                  // `from` unless that is null
//     task<> save(checkpoint& to);                 // adds the state of its roles
//
//     task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed);
//     task<evaluation> evaluate_at_the_end(weights of);
//     void write_model(const std::filesystem::path&, const weights&, std::optional<double>) const;
//     std::optional<double> kept_score(const std::filesystem::path&) const;
//     std::optional<double> threshold() const;
//   };
//
// An algorithm that learns on an environment inherits `evaluate`, `write_model`, `kept_score` and
// `threshold` from environment_algorithm.hpp.
// Two members are optional. `task<bool> begin()` is awaited before the first update of a run or
// segment; if it returns false, no update follows. `task<weights> newest()` returns the newest
// weights, for an algorithm whose weight store may be behind.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/run/training_run.hpp"

namespace troupe {

/// How many episodes a loop has under way.
struct loop_sizes {
  std::size_t batch = 1;     ///< The episodes of one update in sync mode.
  std::size_t rollouts = 1;  ///< The episodes under way at once in async mode.
};

namespace detail {

/// The interface through which a run calls any algorithm, independent of its type of experience.
class running_algorithm {
 public:
  virtual ~running_algorithm() = default;
  virtual task<> serve(const checkpoint* from) = 0;
  virtual task<> train_until(std::int64_t version, bool drain) = 0;
  virtual task<> save(checkpoint& to) = 0;
  virtual task<weights> newest() = 0;
  virtual task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed) = 0;
  virtual task<evaluation> evaluate_at_the_end(weights of) = 0;
  /// The counters of the replay.
  virtual task<replay_counts> counts() = 0;
  virtual void write_model(const std::filesystem::path& path, const weights& of,
                           std::optional<double> score) const = 0;
  virtual std::optional<double> kept_score(const std::filesystem::path& path) const = 0;
  virtual std::optional<double> threshold() const = 0;
};

/// Implements running_algorithm for a class with the members listed above.
template <class Algorithm>
class running final : public running_algorithm {
 public:
  template <class... A>
  explicit running(training_run& in, A&&... args) : run_(in), what_(in, std::forward<A>(args)...) {}
  const Algorithm& algorithm() const { return what_; }

  task<> serve(const checkpoint* from) override { return what_.serve(from); }
  task<> save(checkpoint& to) override { return what_.save(to); }
  task<evaluation> evaluate(weights of, std::size_t episodes, std::uint64_t seed) override {
    return what_.evaluate(std::move(of), episodes, seed);
  }
  task<evaluation> evaluate_at_the_end(weights of) override {
    return what_.evaluate_at_the_end(std::move(of));
  }
  void write_model(const std::filesystem::path& path, const weights& of,
                   std::optional<double> score) const override {
    what_.write_model(path, of, score);
  }
  std::optional<double> kept_score(const std::filesystem::path& path) const override {
    return what_.kept_score(path);
  }
  std::optional<double> threshold() const override { return what_.threshold(); }

  /// Runs the loop of the run's mode until the weights have that version.
  task<> train_until(std::int64_t version, bool drain) override {
    if constexpr (requires { what_.begin(); }) {
      const bool begun = co_await what_.begin();
      if (!begun) co_return;
    }
    const auto before = run_.progress;
    loops::hooks<experience> hooks{
        .train =
            [this](std::vector<experience> batch) {
              run_.seed_torch_for_update();
              return run_.selects_tasks() ? practise_and_update(std::move(batch))
                                          : what_.update(std::move(batch));
            },
        .on_update_end = [this,
                          &before](loops::progress now) { return run_.after_update(before, now); },
        .metrics = run_.metrics};
    // The result of a deterministic run would depend on the moment of the request.
    if (!run_.settings.deterministic) hooks.stop_asked = run_.stop_asked;
    const auto sizes = what_.sizes();
    const auto updates = version - run_.progress.version;
    loops::report report;
    if (run_.settings.mode == training_mode::sync) {
      report = co_await loops::synchronous(what_.roles, &Algorithm::generate, std::move(hooks),
                                           {.batch = sizes.batch, .updates = updates});
    } else {
      report = co_await loops::asynchronous(
          what_.roles, &Algorithm::generate, std::move(hooks),
          {.rollouts = sizes.rollouts, .updates = updates, .drain = drain});
    }
    run_.add_report(report);
  }

  task<weights> newest() override {
    if constexpr (requires { what_.newest(); }) {
      return what_.newest();
    } else {
      return stored();
    }
  }

  task<replay_counts> counts() override {
    using queue = typename decltype(what_.roles.replay)::role_type;
    co_return co_await what_.roles.replay.template route<&queue::counts>();
  }

 private:
  using experience = typename Algorithm::experience;

  task<std::int64_t> practise_and_update(std::vector<experience> batch) {
    co_await run_.practise();
    co_return co_await what_.update(std::move(batch));
  }

  task<weights> stored() { co_return co_await run_.store.route<&weight_store::latest>(); }

  training_run& run_;
  Algorithm what_;
};

}  // namespace detail

/// Makes an algorithm of the class Algorithm with these settings. Its constructor is called with
/// the run and `args`. `check` is called before anything is made; it throws unknown_environment,
/// and std::invalid_argument if the algorithm does not fit the environment or the machine.
template <class Algorithm, class... A>
algorithm make_algorithm(run_settings settings, std::function<void()> check, A... args) {
  settings = with_task_selector(std::move(settings));
  auto check_all = [check = std::move(check), env = settings.env] {
    if (task_selector::is_needed(env)) task_selector{env};
    check();
  };
  return {std::move(settings),
          [args...](training_run& in) -> std::unique_ptr<detail::running_algorithm> {
            return std::make_unique<detail::running<Algorithm>>(in, args...);
          },
          std::move(check_all)};
}

}  // namespace troupe

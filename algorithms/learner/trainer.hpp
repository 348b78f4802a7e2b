#pragma once
// The trainer: a role that holds a learner and publishes its weights.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "actors/checkpoint/role_storage.hpp"
#include "actors/policy/policy.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/torch/torch_seed.hpp"
#include "actors/weights/give_weights.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/service/service.hpp"
#include "runtime/wire/portable_function.hpp"

namespace troupe {

/// A learner and the version of its weights, which is 0 before the first update and grows by 1 with
/// each update.
template <class Learner>
struct trained_learner : role_storage {
  std::unique_ptr<Learner> learner;
  std::int64_t version = 0;
};

/// The base of trainers, whose batches come from the loop (trainer) or from a replay
/// (off_policy_trainer): a learner, the version of its weights, and the store where they are put.
/// Learner is derived from learner<> (learner.hpp).
template <class Learner>
class trainer_base {
 public:
  /// Makes the learner. It is sent to the trainer's replica.
  using maker = portable_function<std::unique_ptr<Learner>()>;

  virtual ~trainer_base() = default;

 protected:
  /// Calls `make` unless `on` has a learner. With `torch_seed`, the generator of libtorch in the
  /// trainer's process is seeded from it and the version of the weights before `make` and before
  /// each update, so that what the learner draws from libtorch is the same in runs of the same
  /// seed, also in a process of its own (torch_seed.hpp).
  trainer_base(const maker& make, service<weight_store> store,
               std::optional<std::uint64_t> torch_seed,
               std::shared_ptr<trained_learner<Learner>> on)
      : torch_seed_(torch_seed),
        on_(std::move(on)),
        claim_(*on_, "trainer"),
        store_(std::move(store)) {
    if (on_->learner) return;
    seed();
    on_->learner = make();
  }

  Learner& learner() const { return *on_->learner; }
  std::int64_t& version() const { return on_->version; }
  const service<weight_store>& store() const { return store_; }
  /// The present weights. `behind` are numbers that follow the acting parameters.
  weights current(std::span<const float> behind = {}) const {
    return make_weights(version(), learner().acting(), behind);
  }
  void seed() const {
    if (!torch_seed_) return;
    seed_torch(derived_seed(*torch_seed_, "libtorch", {static_cast<std::uint64_t>(version())}));
  }

 private:
  std::optional<std::uint64_t> torch_seed_;
  std::shared_ptr<trained_learner<Learner>> on_;
  storage_claim claim_;
  service<weight_store> store_;
};

/// The role that learns from what the loop sends. Input is the learner's batch, or what Learner has
/// another `update` for.
template <class Learner, class Input = typename Learner::batch>
class trainer : public trainer_base<Learner> {
  using base = trainer_base<Learner>;

 public:
  using input_type = Input;
  using report_type = typename Learner::report_type;
  using typename base::maker;

  /// `make` is called in the trainer's own replica. `torch_seed` is trainer_base's.
  trainer(const maker& make, service<weight_store> store,
          std::optional<std::uint64_t> torch_seed = std::nullopt)
      : base(make, std::move(store), torch_seed, std::make_shared<trained_learner<Learner>>()) {}

  /// Puts the first weights into the store. After a restart, it takes the newest weights from the
  /// store instead.
  task<> catch_up() {
    const auto known = co_await store().template route<&weight_store::versions>();
    if (known.empty()) {
      co_await store().template route<&weight_store::put>(current());
    } else {
      const auto newest = co_await store().template route<&weight_store::latest>();
      learner().start_from(numbers_of(newest), {});
      version() = newest.version;
    }
  }

  /// Makes one update; the arguments are those of learner<>::update. Only the trainer has the new
  /// weights until they are pushed.
  virtual report_type train_step(Input input, double progress_remaining,
                                 std::optional<double> chosen_lr) {
    this->seed();
    report_type report = learner().update(input, progress_remaining, chosen_lr);
    ++version();
    return report;
  }

  /// Puts the current weights into the store and into every replica of `policies`, by control
  /// messages, which never queue behind work. A replica that dies meanwhile takes them from the
  /// store when it is restarted. Returns the version of the weights. It is the previous version if
  /// this trainer was restarted after its update, so that the update is lost.
  task<std::int64_t> push_weights(service<policy> policies) {
    const auto fresh = co_await publish();
    co_await give_weights<&policy::update>(std::move(policies), fresh);
    co_return fresh.version;
  }

  /// Puts the current weights only into the store, and returns them so that the caller can
  /// distribute them.
  task<weights> publish() {
    auto fresh = current();
    const auto prior = store().with({.priority = priority::control});
    co_await prior.template route<&weight_store::put>(fresh);
    co_return fresh;
  }

  /// Saves and restores the learner's state. Its acting parameters are in the store.
  std::string save() { return learner().save(); }
  void restore(std::string bytes) { learner().restore(bytes); }

 protected:
  using base::current;
  using base::learner;
  using base::store;
  using base::version;
};

}  // namespace troupe

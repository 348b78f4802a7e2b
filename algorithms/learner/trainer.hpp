#pragma once
// The trainer of every algorithm: a role that holds a learner and publishes its weights.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/policy/policy.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/torch/torch_seed.hpp"
#include "actors/weights/give_weights.hpp"
#include "actors/weights/weight_store.hpp"
#include "runtime/service/service.hpp"
#include "runtime/wire/portable_function.hpp"

namespace troupe {

/// The role that learns. Learner is derived from learner<> (learner.hpp). Input is what the loop
/// sends for an update: the learner's batch, or what Learner has another `update` for.
///
/// The version of the weights is 0 before the first update and grows by 1 with each update.
template <class Learner, class Input = typename Learner::batch>
class trainer {
 public:
  using learner_type = Learner;
  using input_type = Input;
  using report_type = typename Learner::report_type;
  /// Makes the learner. It is sent to the trainer's replica.
  using maker = portable_function<std::unique_ptr<Learner>()>;

  /// `make` is called in the trainer's own replica. With `torch_seed`, the generator of libtorch in
  /// the trainer's process is seeded from it and the version of the weights before `make` and
  /// before each update, so that what the learner draws from libtorch is the same in runs of the
  /// same seed, also in a process of its own (torch_seed.hpp).
  trainer(const maker& make, service<weight_store> store,
          std::optional<std::uint64_t> torch_seed = std::nullopt)
      : torch_seed_(torch_seed), learner_(made_by(make)), store_(std::move(store)) {}
  virtual ~trainer() = default;

  /// Puts the first weights into the store. After a restart, it takes the newest weights from the
  /// store instead.
  task<> catch_up() {
    const auto known = co_await store_.route<&weight_store::versions>();
    if (known.empty()) {
      co_await store_.route<&weight_store::put>(current());
    } else {
      const auto newest = co_await store_.route<&weight_store::latest>();
      learner_->start_from(numbers_of(newest), {});
      version_ = newest.version;
    }
  }

  /// Makes one update; the arguments are those of learner<>::update. Only the trainer has the new
  /// weights until they are pushed.
  virtual report_type train_step(Input input, double progress_remaining,
                                 std::optional<double> chosen_lr) {
    seed();
    auto report = learner_->update(input, progress_remaining, chosen_lr);
    ++version_;
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
    const auto store = store_.with({.priority = priority::control});
    co_await store.template route<&weight_store::put>(fresh);
    co_return fresh;
  }

  /// Saves and restores the learner's state. Its acting parameters are in the store.
  std::string save() { return learner_->save(); }
  void restore(std::string bytes) { learner_->restore(bytes); }

 protected:
  Learner& learner() { return *learner_; }

 private:
  void seed() const {
    if (!torch_seed_) return;
    seed_torch(derived_seed(*torch_seed_, "libtorch", {static_cast<std::uint64_t>(version_)}));
  }
  std::unique_ptr<Learner> made_by(const maker& make) const {
    seed();
    return make();
  }
  weights current() const { return make_weights(version_, learner_->acting()); }

  std::int64_t version_ = 0;
  std::optional<std::uint64_t> torch_seed_;
  std::unique_ptr<Learner> learner_;
  service<weight_store> store_;
};

}  // namespace troupe

#pragma once
// Data-parallel training: a trainer whose replicas are ranks that share every batch.

#include "actors/collective/gloo_collective.hpp"
#include "algorithms/learner/trainer.hpp"
#include "runtime/base/outcome.hpp"
#include "runtime/service/options/replica_info.hpp"

namespace troupe {

/// A trainer whose replicas are the ranks of one data-parallel group. A fanout of train_step gives
/// every batch to all of them, each trains on its shard, and their gradients are summed, so that
/// all have the same weights. The replicas block while they wait for each other, so each must have
/// a thread or a process of its own. In addition to the members that trainer requires, Learner has
///
///   void join(std::shared_ptr<collective>)
///
/// After it, update gets the whole batch and trains on this rank's shard of it. If a rank is lost,
/// the group ends: train_step then throws collective_error, on the ranks that stayed and on the one
/// that was restarted. The training since the last checkpoint is lost.
template <class Learner, class Input = typename Learner::batch>
class rank_trainer final : public trainer<Learner, Input> {
  using base = trainer<Learner, Input>;

 public:
  using typename base::maker;
  using typename base::report_type;

  /// The replica's index is its rank; `group.rank` is not read.
  rank_trainer(const replica_info& who, const maker& make, const service<weight_store>& store,
               gloo_rendezvous group, std::optional<std::uint64_t> torch_seed = std::nullopt)
      : base(make, store, of_rank(torch_seed, who.index)),
        group_(std::move(group)),
        generation_(who.generation) {
    group_.rank = who.index;
  }

  /// Makes one update. In the first call the ranks find each other. Throws collective_error.
  report_type train_step(Input input, double progress_remaining,
                         std::optional<double> chosen_lr) override {
    if (!joined_) {
      if (generation_ > 0) {
        throw collective_error("data-parallel rank " + std::to_string(group_.rank) + " of " +
                               std::to_string(group_.world) +
                               " was restarted, and its group has ended with the one before it");
      }
      this->learner().join(join_gloo(group_));
      joined_ = true;
    }
    return base::train_step(std::move(input), progress_remaining, chosen_lr);
  }

 private:
  /// Each rank draws its own numbers.
  static std::optional<std::uint64_t> of_rank(std::optional<std::uint64_t> seed, std::size_t rank) {
    if (!seed) return seed;
    return derived_seed(*seed, "rank", {rank});
  }

  gloo_rendezvous group_;
  std::size_t generation_;
  bool joined_ = false;
};

namespace detail {

/// Returns true if a rank's part in an update failed because this rank or another one was lost.
inline bool is_loss_of_a_rank(const std::exception_ptr& error) {
  if (is_kind(error, error_kind::replica_lost)) return true;
  try {
    std::rethrow_exception(error);
  } catch (const role_error& e) {
    try {
      std::rethrow_exception(e.cause());
    } catch (const collective_error&) {
      return true;
    } catch (...) {
      return false;
    }
  } catch (...) {
    return false;
  }
}

}  // namespace detail

/// Makes one update on all `world` ranks and returns their report, which is the same on all. Throws
/// collective_error if a rank is lost; the other ranks are then in the middle of the update.
template <class Learner, class Input>
task<outcome<typename Learner::report_type>> train_ranks(service<trainer<Learner, Input>> ranks,
                                                         Input input, double progress_remaining,
                                                         std::optional<double> chosen_lr,
                                                         std::size_t world) {
  using role = trainer<Learner, Input>;
  auto reports = co_await ranks.template fanout_settled<&role::train_step>(
      std::move(input), progress_remaining, chosen_lr);
  std::string lost;
  for (const auto& one : reports) {
    if (!one.ok() && detail::is_loss_of_a_rank(one.error())) lost += "; " + describe(one.error());
  }
  if (!lost.empty() || reports.size() < world) {
    throw collective_error("the trainer has lost a rank: " + std::to_string(reports.size()) +
                           " of " + std::to_string(world) + " took part" + lost);
  }
  co_return std::move(reports.front());
}

}  // namespace troupe

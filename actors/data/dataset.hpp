#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/data/shuffled_order.hpp"
#include "actors/random/derived_seed.hpp"
#include "runtime/service/options/replica_info.hpp"

namespace troupe {

struct dataset_options {
  bool shuffle = true;     ///< Anew each epoch; false: always in the order of the items.
  std::uint64_t seed = 0;  ///< Of the shuffling and of `sample`.
  std::int64_t epochs =
      0;  ///< After which `next` throws dataset_exhausted; 0: it goes on for ever.
};

/// `next` was called after the last item of the last epoch.
class dataset_exhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that holds examples. Its replicas share one copy of the items and each go through all
/// of them, the first in the order of `seed`, the others in orders of their own; let one replica
/// serve where every item is wanted exactly once an epoch. A replica that died begins anew.
///
///   auto items = dataset<question>::shared(read_jsonl<question>("questions.jsonl", to_question));
///   auto data = co_await sys.serve<dataset<question>>({.name = "dataset"}, items);
///   const auto asked = co_await data.route<&dataset<question>::next>();
template <class Item>
class dataset {
 public:
  using items_type = std::shared_ptr<const std::vector<Item>>;

  /// For one replica: several would each copy the items, and give them in the same order.
  explicit dataset(std::vector<Item> items, dataset_options options = {})
      : dataset(replica_info{}, shared(std::move(items)), options) {}
  /// Throws std::invalid_argument for no items and for negative `epochs`.
  dataset(const replica_info& info, items_type items, dataset_options options = {})
      : items_(std::move(items)),
        epochs_(options.epochs),
        order_(items_ ? items_->size() : 0, options.shuffle, seed_of(info, options.seed)),
        draws_(derived_seed(seed_of(info, options.seed), "samples")) {
    if (epochs_ < 0)
      throw std::invalid_argument("dataset: epochs: expected a number >= 0, got " +
                                  std::to_string(epochs_));
  }

  /// The next item of the epoch; after its last one a new epoch begins.
  Item next() {
    if (epochs_ > 0 && order_.epoch() >= epochs_)
      throw dataset_exhausted("dataset: all " + std::to_string(epochs_) + " epochs of " +
                              std::to_string(size()) + " items have been given");
    return (*items_)[order_.next()];
  }
  /// Any item, each as likely as the others; the epoch does not move.
  Item sample() { return (*items_)[draws_.below(items_->size())]; }

  std::size_t size() const { return items_->size(); }
  /// Of the next item, from 0.
  std::int64_t epoch() const { return order_.epoch(); }

  /// The cursor, for checkpoints: restored over the same items it gives exactly the same ones from
  /// there on, by `next` and by `sample`.
  std::string save() const { return state_bytes(cursor{order_.state(), draws_.state()}); }
  /// Throws state_error for what is no cursor over as many items. The dataset is then as before.
  void restore(std::string bytes) {
    const auto saved = state_of<cursor>(bytes);
    order_.set_state(saved.order);
    draws_.set_state(saved.draws);
  }

  /// Items as all replicas share them.
  static items_type shared(std::vector<Item> items) {
    return std::make_shared<const std::vector<Item>>(std::move(items));
  }

 private:
  struct cursor {
    detail::order_state order;
    action_random::state_type draws;
  };

  static std::uint64_t seed_of(const replica_info& info, std::uint64_t seed) {
    return derived_seed(seed, "dataset", {info.index, info.generation});
  }

  items_type items_;
  std::int64_t epochs_;
  detail::shuffled_order order_;
  action_random draws_;
};

}  // namespace troupe

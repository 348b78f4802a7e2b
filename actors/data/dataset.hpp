#pragma once
// Datasets for language models: a role that holds examples and hands them out epoch after epoch.

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
  /// If true, each epoch has a new order; otherwise it is always the order of the items.
  bool shuffle = true;
  std::uint64_t seed = 0;  ///< The seed of the shuffling and of `sample`.
  /// The number of epochs after which `next` throws dataset_exhausted; 0 means no limit.
  std::int64_t epochs = 0;
};

/// Thrown if `next` is called after the last item of the last epoch.
class dataset_exhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The role that holds examples. Its replicas share one copy of the items, and each replica goes
/// through all of them: the first in the order of `seed`, the others in orders of their own. Use
/// one replica if every item is wanted exactly once per epoch. A replica that died begins anew.
///
///   auto items = dataset<question>::shared(read_jsonl<question>("questions.jsonl", to_question));
///   auto data = co_await sys.serve<dataset<question>>({.name = "dataset"}, items);
///   const auto asked = co_await data.route<&dataset<question>::next>();
template <class Item>
class dataset {
 public:
  using items_type = std::shared_ptr<const std::vector<Item>>;

  /// Makes a dataset for a single replica. Several replicas would each copy the items and give them
  /// in the same order.
  explicit dataset(std::vector<Item> items, dataset_options options = {})
      : dataset(replica_info{}, shared(std::move(items)), options) {}
  /// Throws std::invalid_argument if there are no items or if `epochs` is negative.
  dataset(const replica_info& info, items_type items, dataset_options options = {})
      : items_(std::move(items)),
        epochs_(options.epochs),
        order_(items_ ? items_->size() : 0, options.shuffle, seed_of(info, options.seed)),
        draws_(derived_seed(seed_of(info, options.seed), "samples")) {
    if (epochs_ < 0)
      throw std::invalid_argument("dataset: epochs: expected a number >= 0, got " +
                                  std::to_string(epochs_));
  }

  /// Returns the next item of the epoch. A new epoch begins after the last one. Throws
  /// dataset_exhausted.
  Item next() {
    if (epochs_ > 0 && order_.epoch() >= epochs_)
      throw dataset_exhausted("dataset: all " + std::to_string(epochs_) + " epochs of " +
                              std::to_string(size()) + " items have been given");
    return (*items_)[order_.next()];
  }
  /// Returns the next items, at most `most` > 0 of them. The last ones of an epoch may be fewer, as
  /// no item of the epoch after it is among them. Throws dataset_exhausted.
  std::vector<Item> next_batch(std::size_t most) {
    const auto now = epoch();
    std::vector<Item> batch;
    while (batch.size() < most && epoch() == now) batch.push_back(next());
    return batch;
  }
  /// Returns a random item, with equal probabilities. It doesn't advance the epoch.
  Item sample() { return (*items_)[draws_.below(items_->size())]; }

  std::size_t size() const { return items_->size(); }
  /// The epoch of the next item, from 0.
  std::int64_t epoch() const { return order_.epoch(); }

  /// Returns the cursor for checkpoints. If it is restored over the same items, `next` and `sample`
  /// give exactly the same items from there on.
  std::string save() const { return state_bytes(cursor{order_.state(), draws_.state()}); }
  /// Restores a cursor. Throws state_error if `bytes` is no cursor over as many items; the dataset
  /// is then unchanged.
  void restore(std::string bytes) {
    const auto saved = state_of<cursor>(bytes);
    order_.set_state(saved.order);
    draws_.set_state(saved.draws);
  }

  /// Returns the items in the form that all replicas share.
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

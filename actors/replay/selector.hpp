#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "actors/policy/action_random.hpp"

namespace troupe {

class state_reader;
class state_writer;

/// Chooses among the entries of a replay table: as its sampler the one to train on next, as its
/// remover the one to go. After Reverb's selectors (Cassirer et al. 2021,
/// https://arxiv.org/abs/2102.04736, section 3.2). For one actor, without locks.
class selector {
 public:
  struct selection {
    std::uint64_t key;
    double probability;  ///< With which this key was chosen; 1 where nothing was drawn.
  };

  virtual ~selector() = default;

  /// Throws std::invalid_argument, without any change, if the key is there already or the priority
  /// is negative, infinite or no number.
  void insert(std::uint64_t key, double priority);
  /// A new priority. Throws as `insert` does, and std::out_of_range if the key is not there.
  void update(std::uint64_t key, double priority);
  /// Throws std::out_of_range if the key is not there.
  virtual void erase(std::uint64_t key) = 0;
  /// Changes nothing but the random generator. Throws std::logic_error if there is no key.
  selection select();

  virtual std::size_t size() const = 0;

  /// Under names that begin with `name`: the keys in the order that decides, and the generator.
  void save(state_writer& to, std::string_view name) const;
  /// Continues where `save` was: the next selections are the same. Another selector's state gives
  /// the keys alone. Throws state_error. REQUIRES: no key has been inserted.
  void restore(const state_reader& from, std::string_view name,
               const std::function<double(std::uint64_t key)>& priority_of);

 protected:
  selector() = default;
  /// One that draws at random.
  explicit selector(std::uint64_t seed) : random_(seed) {}

  std::optional<action_random> random_;

 private:
  virtual void do_insert(std::uint64_t key, double priority) = 0;
  virtual void do_update(std::uint64_t key, double priority) = 0;
  virtual selection do_select() = 0;
  /// In such an order that inserting them so into an empty selector gives an equal one.
  virtual std::vector<std::uint64_t> keys() const = 0;
};

/// Throws std::invalid_argument if the priority is negative, infinite or no number.
void check_priority(double priority);

enum class selection_order {
  uniform,      ///< Each key with the same probability.
  prioritised,  ///< In proportion to priority^exponent.
  fifo,         ///< The key that came first.
  lifo,         ///< The key that came last.
  min_heap,     ///< The lowest priority; of equal ones the key that came first.
  max_heap,     ///< The highest priority; of equal ones the key that came first.
};

struct selector_options {
  selection_order order = selection_order::uniform;
  /// Of a prioritised selector: alpha of Schaul et al. 2016, https://arxiv.org/abs/1511.05952,
  /// equation 1. 0 is uniform over priorities above 0.
  double exponent = 0.6;
};

/// Throws std::invalid_argument if the exponent is negative, infinite or no number.
std::unique_ptr<selector> make_selector(const selector_options& options, std::uint64_t seed);

}  // namespace troupe

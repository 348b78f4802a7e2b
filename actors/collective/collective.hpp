#pragma once
// What the ranks of a data-parallel trainer do together. There are world() of them, each with a
// number from 0 on, in processes or threads of their own; all make the same calls in the same
// order.

#include <cstddef>
#include <span>
#include <stdexcept>

namespace troupe {

/// A rank is missing, lost or late, or the ranks don't make the same calls. The message names the
/// rank that says so, the number of ranks and the time-out. The group is of no more use.
class collective_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's end of the group. Used by one thread at a time. Every call waits until all ranks have
/// made it, but no longer than the group's time-out. Throws collective_error.
class collective {
 public:
  virtual ~collective() = default;

  virtual std::size_t rank() const noexcept = 0;
  virtual std::size_t world() const noexcept = 0;

  /// Each value becomes its sum over the ranks, the same bits on every rank.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// The values become rank 0's.
  virtual void broadcast(std::span<float> values) = 0;
};

/// The only rank there is: nothing to do.
class lone_rank final : public collective {
 public:
  std::size_t rank() const noexcept override { return 0; }
  std::size_t world() const noexcept override { return 1; }
  void sum(std::span<float>) override {}
  void sum(std::span<double>) override {}
  void broadcast(std::span<float>) override {}
};

}  // namespace troupe

#pragma once
// Collective operations of the ranks of a data-parallel trainer. There are world() ranks, numbered
// from 0, each in a process or thread of its own. All of them make the same calls in the same
// order.

#include <cstddef>
#include <span>
#include <stdexcept>

namespace troupe {

/// Thrown if a rank is missing, lost or late, or if the ranks don't make the same calls. The
/// message names the rank that reports it, the number of ranks and the time-out. The group can't be
/// used any more.
class collective_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The group as one rank sees it. Only one thread may use it at a time. Every operation waits until
/// all ranks have called it, but no longer than the group's time-out. Throws collective_error.
class collective {
 public:
  virtual ~collective() = default;

  virtual std::size_t rank() const noexcept = 0;
  virtual std::size_t world() const noexcept = 0;

  /// Replaces each value by its sum over the ranks, with the same bits on every rank.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;
  /// Replaces the values by those of rank 0.
  virtual void broadcast(std::span<float> values) = 0;
};

/// A group of a single rank, whose operations do nothing.
class single_rank final : public collective {
 public:
  std::size_t rank() const noexcept override { return 0; }
  std::size_t world() const noexcept override { return 1; }
  void sum(std::span<float>) override {}
  void sum(std::span<double>) override {}
  void broadcast(std::span<float>) override {}
};

}  // namespace troupe

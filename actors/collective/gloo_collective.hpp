#pragma once
// Collectives by libtorch's Gloo backend.

#include <chrono>
#include <memory>
#include <string>

#include "actors/collective/collective.hpp"

namespace troupe {

/// The place of a group, and the rank as which to join it.
struct gloo_rendezvous {
  std::size_t rank = 0;   ///< The rank of this member, below `world` and different for each member.
  std::size_t world = 1;  ///< The number of members of the group, at least 1.
  /// The file by which members find each other, on a disk that all of them see. The first member
  /// creates it. A group that has failed can't be joined again; the next group must take another
  /// file.
  std::string file;
  /// The time-out of the rendezvous and of each operation after it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Joins a group of processes on this machine, or of threads of this process, by libtorch's Gloo
/// process group, which only uses the loopback interface. Returns when all ranks have joined.
/// Throws std::invalid_argument for a rank, a world or a time-out out of range, and
/// collective_error.
std::unique_ptr<collective> join_gloo(const gloo_rendezvous& where);

}  // namespace troupe

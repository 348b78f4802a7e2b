#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "actors/collective/collective.hpp"

namespace troupe {

/// Where and as whom to join a group.
struct gloo_rendezvous {
  std::size_t rank = 0;   ///< Below `world`; another for each member.
  std::size_t world = 1;  ///< Members of the group, at least 1.
  /// The file in which members find each other, on a disk that all of them see. Made by the first.
  /// A group that has failed is never joined again: the next one takes another file.
  std::string file;
  /// Of the rendezvous, and of each call after it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Joins a group of processes on this machine, or of threads of this process, by libtorch's Gloo
/// process group; its connections are on the loopback interface alone. Returns when all ranks have
/// joined. Throws std::invalid_argument for a rank, a world or a time-out out of range, and
/// collective_error.
std::unique_ptr<collective> join_gloo(const gloo_rendezvous& where);

}  // namespace troupe

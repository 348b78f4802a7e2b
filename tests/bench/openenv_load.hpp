#pragma once

#include <cstdint>

namespace troupe::openenv {

/// Plays so many steps of CartPole over so many sessions of the server at that port of this
/// machine, each with one request under way, and gives steps a second. One thread, raw sockets:
/// what it costs itself is little. Throws std::runtime_error where the server answers with an
/// error.
double steps_per_second(std::uint16_t port, int sessions, int steps);

/// So many clients come at once, each on a thread of its own, take one step and stay until all
/// have. Returns how many failed; the first failure is printed.
int failures_at_once(std::uint16_t port, int clients);

}  // namespace troupe::openenv

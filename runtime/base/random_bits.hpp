#pragma once
// Random bits of the kernel, for everything that another program must not be able to guess: names
// of sessions, secrets, nonces, incarnations of processes. A generator with a seed is not fit for
// these, because who has seen a few of its values computes the others.
//
// The bits differ in every run, also in a deterministic one. What a simulation must repeat, such as
// the order of turns, is drawn from its seed (runtime/actor/draws.hpp) and never from here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace troupe::detail {

/// Fills `bytes` by getrandom(2). Throws std::system_error if the kernel gives none.
void fill_random(std::span<std::byte> bytes);

/// Returns 128 random bits.
std::array<std::byte, 16> random_bits();

/// Returns 64 random bits as a number.
std::uint64_t random_number();

/// Returns a random UUID of 122 random bits, such as 4f2c1c1e-8a4b-4b8e-9d55-2f6a3c0b7e11
/// (version 4 of RFC 9562).
std::string random_uuid();

}  // namespace troupe::detail

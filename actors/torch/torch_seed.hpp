#pragma once
// The random numbers of libtorch: at::rand, at::dropout, the initialisers of modules.

#include <cstdint>

namespace troupe {

/// Seeds libtorch's default generator on the CPU, and with `on_gpu` those of the GPUs, as
/// torch.manual_seed does. The generator belongs to the process: all of its threads draw from it.
/// So two programs draw alike after equal seeds only as far as no other thread draws meanwhile.
/// Troupe's own algorithms do not use it; they have generators of their own.
void seed_torch(std::uint64_t seed, bool on_gpu = false);

}  // namespace troupe

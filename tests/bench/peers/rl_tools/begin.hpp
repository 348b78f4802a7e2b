// What RL-tools' programs for `./dev bench peers` begin with: its basis with OpenBLAS, and names.
// Compiled by peers.py with RL-tools' headers, where the order of includes matters; not part of the
// build.
#pragma once

// Without this, layers that OpenBLAS doesn't serve fall to RL-tools' own loops, ten times slower;
// with it they don't compile.
#define RL_TOOLS_NN_DISABLE_GENERIC_FORWARD_BACKWARD

// clang-format off
#include <rl_tools/operations/cpu_mux.h>
#include <rl_tools/nn/optimizers/adam/instance/operations_generic.h>
#include <rl_tools/nn/operations_cpu_mux.h>
// clang-format on

namespace peer {

namespace rlt = rl_tools;

using device = rlt::devices::DEVICE_FACTORY<>;
using index = device::index_t;
using numbers = rlt::numeric_types::Policy<float>;
using random = device::SPEC::RANDOM::ENGINE<>;

}  // namespace peer

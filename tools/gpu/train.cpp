// The commands of `troupe`, without language models: what `check` trains with.

#include <cstdio>
#include <cstdlib>

#include "algorithms/program/main.hpp"
#include "runtime/process/keeper.hpp"

int main(int argc, char** argv) {
  const int code = troupe::main(argc, argv, {.name = "gpu_train"});
  // As the troupe command ends.
  troupe::detail::end_kept_processes();
  std::fflush(nullptr);
  std::_Exit(code);
}

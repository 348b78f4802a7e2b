#include "runtime/service/progress.hpp"

#include "runtime/service/call/host.hpp"

namespace troupe {

void note_progress() noexcept {
  if (auto* host = detail::host::current_or_null()) host->note_progress();
}

}  // namespace troupe

#include "runtime/service/progress.hpp"

#include "runtime/service/call/host.hpp"

namespace troupe {

void note_progress(duration allowance) noexcept {
  if (auto* host = detail::host::current_or_null()) host->note_progress(allowance);
}

}  // namespace troupe

#pragma once

#include <memory>

#include "algorithms/run/train.hpp"

namespace troupe::testing {

inline task<loops::verdict> count_update(std::shared_ptr<int> updates) {
  ++*updates;
  co_return loops::verdict::go_on;
}

/// Options of a run that is asked to stop once it has made so many updates.
inline run_options stop_after(int updates) {
  const auto made = std::make_shared<int>(0);
  return {.stop_asked = [=] { return *made >= updates; },
          .callbacks = {.on_update_end = [=](loops::progress) { return count_update(made); }}};
}

}  // namespace troupe::testing

#pragma once
// A collector for metrics that are counted in another process. Internal to runtime/.

#include <prometheus/collectable.h>

namespace troupe::detail {

/// A collector of metrics that are counted elsewhere. Its Collect shows what it fetched last.
class fetching_collector : public prometheus::Collectable {
 public:
  /// Fetches the values that Collect shows from then on. The scraping thread calls it and waits for
  /// it. It must have a deadline of its own, and must not throw.
  virtual void fetch() const = 0;
};

}  // namespace troupe::detail

#pragma once

#include <prometheus/collectable.h>

namespace troupe::detail {

/// A collector of what is counted elsewhere: it shows what it fetched last.
class fetching_collector : public prometheus::Collectable {
 public:
  /// Fetches what Collect shows from then on. On the scraping thread, which waits for it: it has a
  /// deadline of its own, and throws nothing.
  virtual void fetch() const = 0;
};

}  // namespace troupe::detail

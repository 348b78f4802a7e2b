#pragma once
// Names of hosts that no name server tells until a test wants it to.

#include <string>

namespace troupe::testing {

/// While one exists, lookups of names that end with ".slow.test" wait in getaddrinfo. Afterwards
/// such names are those of 127.0.0.1. One exists at a time.
class slow_names {
 public:
  slow_names();
  ~slow_names();
  slow_names(const slow_names&) = delete;

  /// Lets the lookups that wait end.
  void tell();
  /// The lookups of such names that have begun.
  int begun() const;
};

}  // namespace troupe::testing

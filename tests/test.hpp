#pragma once
// Catch2 v2 (Debian 12) or v3 (Debian 13), after libtorch's logging, whose CHECK macro is not the
// one meant. The tests are written in v2's names; what v3 calls otherwise is named here, and
// nowhere else.
#ifdef CHECK
#undef CHECK
#endif
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <concepts>
#include <string>

namespace Catch {

using namespace Matchers;  // as in v2
using TestEventListenerBase = EventListenerBase;

namespace Matchers {

/// A text that holds `part`; v3's own Contains is of ranges and their elements.
template <class T>
  requires std::convertible_to<T, std::string>
auto Contains(T&& part) {
  return ContainsSubstring(part);
}

}  // namespace Matchers
}  // namespace Catch

using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#pragma once
// Catch2 v2 (Debian 12) or v3, after libtorch's logging, whose CHECK macro is not the one meant.
#ifdef CHECK
#undef CHECK
#endif
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

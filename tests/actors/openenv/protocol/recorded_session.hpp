#pragma once
// What a client and a real server have said to each other, from tests/fixtures/openenv.

#include <string>
#include <vector>

namespace troupe::openenv {

struct exchange {
  std::string request;  ///< Empty where the server spoke unasked.
  std::string reply;
};

/// The exchanges of the parts of a recording whose title has `title` in it, in order. Throws
/// std::runtime_error for a file or a part that is not there.
std::vector<exchange> recorded_exchanges(const std::string& file, const std::string& title = "");

}  // namespace troupe::openenv

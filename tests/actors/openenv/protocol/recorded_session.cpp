#include "tests/actors/openenv/protocol/recorded_session.hpp"
#include "tests/paths.hpp"

#include <fstream>
#include <stdexcept>

namespace troupe::openenv {

std::vector<exchange> recorded_exchanges(const std::string& file, const std::string& title) {
  std::ifstream lines(testing::source_path("tests/fixtures/openenv/") + file);
  std::vector<exchange> found;
  std::string request;
  bool wanted = title.empty();
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("===")) wanted = line.find(title) != line.npos;
    if (!wanted) continue;
    if (line.starts_with("C->S ")) request = line.substr(5);
    if (!line.starts_with("S->C {")) continue;  // nor what is said of a closed socket
    found.push_back({request, line.substr(5)});
    request.clear();
  }
  if (found.empty()) throw std::runtime_error(file + " has no exchanges under \"" + title + '"');
  return found;
}

}  // namespace troupe::openenv

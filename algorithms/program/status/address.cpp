#include "algorithms/program/status/address.hpp"

#include <charconv>
#include <stdexcept>

namespace troupe::command {

std::string program_address::text() const {
  const auto shown = host.find(':') == host.npos ? host : '[' + host + ']';
  return shown + ':' + std::to_string(port);
}

program_address parse_address(std::string_view text, std::uint16_t default_port) {
  const auto fail = [whole = std::string(text)]() {
    throw std::invalid_argument(
        "expected an address such as localhost:9464 or http://gpu-1:9464/metrics, got \"" + whole +
        '"');
  };
  if (text.starts_with("http://")) text.remove_prefix(7);
  if (const auto slash = text.find('/'); slash != text.npos) {
    const auto path = text.substr(slash);
    if (path != "/" && path != "/metrics") fail();
    text = text.substr(0, slash);
  }
  program_address at{"", default_port};
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == text.npos) fail();
    at.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    const auto colon = text.find(':');
    at.host = text.substr(0, colon);
    text = colon == text.npos ? std::string_view() : text.substr(colon);
  }
  if (at.host.empty() || at.host.find_first_of(" \t@?#") != at.host.npos) fail();
  if (text.empty()) return at;
  const auto* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 1, end, at.port);
  if (text.front() != ':' || read.ec != std::errc() || read.ptr != end || at.port == 0) fail();
  return at;
}

}  // namespace troupe::command

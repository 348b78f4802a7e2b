#include "algorithms/program/status/address.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <memory>
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

std::string resolve(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (error != 0) throw std::runtime_error(std::string("no such host: ") + gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  if (getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    throw std::runtime_error("no such host");
  }
  return text.data();
}

}  // namespace troupe::command

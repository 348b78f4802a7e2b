#include "runtime/cluster/hello.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/base/utf8.hpp"
#include "runtime/cluster/join_secret.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t text_max = 4096;
constexpr std::size_t name_max = 64;
constexpr std::size_t build_max = 128;
constexpr int slots_max = 1 << 20;
constexpr std::size_t refusal_max = 1000;

[[noreturn]] void refuse(const std::string& field, const std::string& expected) {
  throw std::invalid_argument("hello: " + field + ": expected " + expected);
}

std::string read_text(const nlohmann::json& from, const char* field, std::size_t size_max) {
  const auto found = from.find(field);
  if (found == from.end() || !found->is_string()) refuse(field, "a string");
  auto text = found->get<std::string>();
  if (text.empty() || text.size() > size_max) {
    refuse(field, "1 to " + std::to_string(size_max) + " characters");
  }
  return text;
}

int read_number(const nlohmann::json& from, const char* field, int max) {
  const auto found = from.find(field);
  if (found == from.end() || !found->is_number_integer() || *found < 0 || *found > max) {
    refuse(field, "a number from 0 to " + std::to_string(max));
  }
  return found->get<int>();
}

}  // namespace

void check_peer_name(std::string_view text) {
  const auto allowed = [](unsigned char c) {
    return c < 128 && (std::isalnum(c) || c == '-' || c == '_' || c == '.');
  };
  if (text.empty() || text.size() > name_max || !std::ranges::all_of(text, allowed)) {
    throw std::invalid_argument("name: expected 1 to 64 letters, digits, '-', '_' and '.', got \"" +
                                printable(text, 2 * name_max) + "\"");
  }
}

std::string to_text(const hello& of) {
  nlohmann::json fields{
      {"protocol", of.protocol}, {"build", of.build}, {"incarnation", to_string(of.self)},
      {"name", of.name},         {"role", of.role},   {"slots", of.slots}};
  if (!of.proof.empty()) fields["proof"] = of.proof;
  return fields.dump();
}

hello parse_hello(std::string_view text) {
  if (text.size() > text_max) refuse("size", "at most " + std::to_string(text_max) + " bytes");
  const auto fields = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object()) refuse("text", "a JSON object");
  hello read;
  read.protocol = read_number(fields, "protocol", 1 << 30);
  read.build = read_text(fields, "build", build_max);
  if (fields.contains("proof")) read.proof = read_text(fields, "proof", join_digits);
  if (read.protocol != hello::protocol_spoken) return read;
  const auto self = incarnation::parse(read_text(fields, "incarnation", 32));
  if (!self) refuse("incarnation", "32 hexadecimal digits");
  read.self = *self;
  read.name = read_text(fields, "name", name_max);
  check_peer_name(read.name);
  read.role = read_text(fields, "role", name_max);
  if (read.role != "node" && read.role != "controller") refuse("role", "node or controller");
  read.slots = read_number(fields, "slots", slots_max);
  return read;
}

std::string refusal_text(const std::string& why) {
  return nlohmann::json{{"refused", printable(why, refusal_max)}}.dump();
}

std::optional<std::string> parse_refusal(std::string_view text) {
  const auto fields = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object()) return {};
  const auto found = fields.find("refused");
  if (found == fields.end() || !found->is_string()) return {};
  return printable(found->get<std::string>(), 2 * refusal_max);
}

std::string disagreement(const hello& ours, const hello& theirs) {
  const auto differ = [](const std::string& what, const auto& our, const auto& their) {
    return "expected " + what + " " + our + ", as here, got " + their;
  };
  if (theirs.protocol != ours.protocol) {
    return differ("protocol", std::to_string(ours.protocol), std::to_string(theirs.protocol));
  }
  if (theirs.build != ours.build) {
    return differ("the program of build", ours.build, printable(theirs.build, build_max)) +
           "; the same executable has to run everywhere";
  }
  return {};
}

}  // namespace troupe::detail

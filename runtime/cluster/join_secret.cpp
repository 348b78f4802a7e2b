#include "runtime/cluster/join_secret.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "runtime/base/descriptor.hpp"
#include "runtime/base/hexadecimal.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/new_file.hpp"
#include "runtime/base/random_bits.hpp"
#include "runtime/base/user_folder.hpp"

namespace troupe::detail {

namespace {

namespace fs = std::filesystem;

constexpr mode_t others = 077;

bool are_digits(std::string_view text) {
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  };
  return text.size() == join_digits && std::ranges::all_of(text, is_digit);
}

// ---- the file -----------------------------------------------------------------------------------

[[noreturn]] void refuse(const fs::path& file, const std::string& got) {
  throw std::runtime_error(file.string() + ": expected the join secret, a regular file of user " +
                           std::to_string(::geteuid()) + " with mode 0600 and " +
                           std::to_string(join_digits) + " hexadecimal digits, got " + got);
}

[[noreturn]] void cannot_make(const std::string& why) {
  throw std::runtime_error("cannot make the join secret" + why +
                           "; --join-secret FILE puts it elsewhere, and --certs DIR needs none");
}

fs::path usual_file() {
  try {
    return user_folder("XDG_STATE_HOME", ".local/state") / "troupe" / "join.secret";
  } catch (const std::runtime_error& e) {
    cannot_make(std::string(": ") + e.what());
  }
}

void check_owner(const fs::path& file, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) refuse(file, "another kind of file");
  if (status.st_uid != ::geteuid()) refuse(file, "one of user " + std::to_string(status.st_uid));
  if ((status.st_mode & others) == 0) return;
  std::array<char, 8> mode;
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777));
  refuse(file, std::string("mode ") + mode.data());
}

/// Returns the digits; empty if there is no file.
std::optional<std::string> read_secret(const fs::path& file) {
  // Opening must not wait for a FIFO.
  const descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!from && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (!from && errno == ELOOP) refuse(file, "a symbolic link");
  if (!from) refuse(file, std::string("one that can't be opened: ") + std::strerror(errno));
  struct stat status{};
  if (::fstat(from.number(), &status) != 0) refuse(file, std::strerror(errno));
  check_owner(file, status);
  std::array<char, join_digits + 2> bytes;
  const auto size = ::read(from.number(), bytes.data(), bytes.size());
  if (size < 0) refuse(file, std::string("one that can't be read: ") + std::strerror(errno));
  std::string text(bytes.data(), static_cast<std::size_t>(size));
  if (text.ends_with('\n')) text.pop_back();
  if (!are_digits(text))
    refuse(file, "another text of " + std::to_string(status.st_size) + " bytes");
  return text;
}

void make_folder(const fs::path& folder) {
  if (folder.empty() || fs::exists(folder)) return;
  make_folder(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw std::system_error(errno, std::generic_category(), "cannot create " + folder.string());
}

/// Makes the file with link(2): if several processes begin at once, one makes it, and nobody reads
/// half of it.
void make_secret(const fs::path& file) {
  try {
    make_folder(file.parent_path());
    auto fresh = file;
    fresh += '.' + random_digits();
    write_new_file(fresh, random_digits() + '\n', 0600);
    const int error = ::link(fresh.c_str(), file.c_str()) == 0 ? 0 : errno;
    const bool made = error == 0 || error == EEXIST;
    ::unlink(fresh.c_str());
    if (!made) throw std::system_error(error, std::generic_category(), "cannot link it");
    if (error == 0) log::info("a join secret was made", {{"file", file.string()}});
  } catch (const std::runtime_error& e) {
    cannot_make(' ' + file.string() + ": " + e.what());
  }
}

// ---- messages -----------------------------------------------------------------------------------

/// Reads the digits of a field.
std::string read_digits(const nlohmann::json& from, const char* field) {
  const auto found = from.find(field);
  if (found != from.end() && found->is_string()) {
    auto text = found->get<std::string>();
    if (are_digits(text)) return text;
  }
  throw std::invalid_argument(std::string("challenge: ") + field + ": expected " +
                              std::to_string(join_digits) + " hexadecimal digits");
}

}  // namespace

std::string random_digits() {
  std::array<std::byte, join_digits / 2> bytes;
  fill_random(bytes);
  return hexadecimal(bytes);
}

std::string to_text(const join_challenge& of) {
  nlohmann::json fields{{"nonce", of.nonce}};
  if (!of.proof.empty()) fields["proof"] = of.proof;
  return fields.dump();
}

join_challenge parse_challenge(std::string_view text) {
  const auto fields = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object()) throw std::invalid_argument("challenge: expected a JSON object");
  join_challenge read{.nonce = read_digits(fields, "nonce"), .proof = {}};
  if (fields.contains("proof")) read.proof = read_digits(fields, "proof");
  return read;
}

join_secret::join_secret(fs::path file) : file_(file.empty() ? usual_file() : std::move(file)) {
  auto found = read_secret(file_);
  if (!found) {
    make_secret(file_);
    found = read_secret(file_);
  }
  if (!found) cannot_make(' ' + file_.string() + ": it has gone again");
  digits_ = std::move(*found);
}

std::string join_secret::proof(prover by, const join_nonces& of) const {
  const auto said =
      std::string(by == prover::caller ? "node" : "controller") + of.caller + of.listener;
  std::array<std::byte, join_digits / 2> bytes;
  unsigned size = 0;
  if (!HMAC(EVP_sha256(), digits_.data(), static_cast<int>(digits_.size()),
            reinterpret_cast<const unsigned char*>(said.data()), said.size(),
            reinterpret_cast<unsigned char*>(bytes.data()), &size)) {
    throw std::runtime_error("OpenSSL gives no HMAC of SHA-256");
  }
  return hexadecimal(bytes);
}

bool join_secret::is_proof(std::string_view shown, prover by, const join_nonces& of) const {
  const auto right = proof(by, of);
  return shown.size() == right.size() &&
         CRYPTO_memcmp(shown.data(), right.data(), right.size()) == 0;
}

}  // namespace troupe::detail

#pragma once
// The join secret replaces certificates on loopback addresses, where nothing is encrypted and
// anybody on this machine can connect or listen. It is in a file of one user. Before the hellos
// each side proves that it knows the secret, the listener first:
//
//   caller -> listener   {"nonce": C}
//   listener -> caller   {"nonce": L, "proof": HMAC("controller" C L)}
//   caller -> listener   its hello, with "proof": HMAC("node" C L)
//
// Nonces and proofs are 64 hexadecimal digits. The HMAC is that of SHA-256, with the secret's
// digits as its key.

#include <filesystem>
#include <string>
#include <string_view>

namespace troupe::detail {

/// The number of digits of a secret, a nonce and a proof.
inline constexpr std::size_t join_digits = 64;

/// Returns join_digits random hexadecimal digits. Throws std::runtime_error if there are no random
/// bytes.
std::string random_digits();

/// The random numbers that the two sides of a stream have drawn for this stream.
struct join_nonces {
  std::string caller, listener;
};

/// The side that proves something. Neither side can show the other its own proof.
enum class prover { caller, listener };

/// A message before the hellos.
struct join_challenge {
  std::string nonce;
  std::string proof;  ///< The listener's proof; empty in the caller's message.
};

/// Writes a challenge as JSON.
std::string to_text(const join_challenge& of);
/// Reads a challenge. Throws a std::invalid_argument that names the field if the text isn't a
/// challenge.
join_challenge parse_challenge(std::string_view text);

class join_secret {
 public:
  /// Reads `file`; empty means troupe/join.secret in $XDG_STATE_HOME, or in ~/.local/state if that
  /// is unset. The first process makes the file. Throws a std::runtime_error that names the file if
  /// it can't be made, isn't a regular file of this user that nobody else may use, or holds no
  /// secret.
  explicit join_secret(std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  std::string proof(prover by, const join_nonces& of) const;
  /// True if `shown` is that proof. The check takes equally long for every wrong proof.
  bool is_proof(std::string_view shown, prover by, const join_nonces& of) const;

 private:
  std::filesystem::path file_;
  std::string digits_;
};

}  // namespace troupe::detail

#pragma once
// What takes the place of certificates on loopback addresses, where nothing is encrypted and
// anybody on this machine can connect or listen: a secret in a file of one user. Before the hellos
// each side proves that it knows it, the listener first:
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

/// Digits of a secret, a nonce and a proof.
inline constexpr std::size_t join_digits = 64;

/// So many hexadecimal digits, of random bytes. Throws std::runtime_error where there are none.
std::string random_digits();

/// What the two sides of a stream have drawn for it alone.
struct join_nonces {
  std::string caller, listener;
};

/// Who proves something. Neither can show the other its own proof.
enum class prover { caller, listener };

/// A message before the hellos.
struct join_challenge {
  std::string nonce;
  std::string proof;  ///< Of the listener; empty: none.
};

/// As JSON.
std::string to_text(const join_challenge& of);
/// Throws std::invalid_argument naming the field for what is none.
join_challenge parse_challenge(std::string_view text);

class join_secret {
 public:
  /// Reads `file`; empty: troupe/join.secret in XDG_STATE_HOME, else in ~/.local/state. Whoever
  /// comes first makes it. Throws std::runtime_error naming the file where it can't be made, is no
  /// regular file of this user that nobody else may use, or holds no secret.
  explicit join_secret(std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  std::string proof(prover by, const join_nonces& of) const;
  /// Whether `shown` is that proof; takes equally long for each wrong one.
  bool is_proof(std::string_view shown, prover by, const join_nonces& of) const;

 private:
  std::filesystem::path file_;
  std::string digits_;
};

}  // namespace troupe::detail

#pragma once

#include <array>
#include <string>

namespace troupe::detail {

/// Why a peer is not admitted.
struct join_refusal {
  std::string reason;  ///< One of refusal_reasons.
  std::string text;    ///< For people.
};

/// The label of troupe_refused_peers_total.
inline constexpr std::array refusal_reasons{
    "no_certificate",   // none was shown
    "other_authority",  // it is not from our authority
    "expired",          // or not valid yet
    "revoked",          // its authority has taken it back
    "certificate",      // it is malformed, or not for this purpose
    "secret",           // without certificates: it did not prove that it knows ours
    "role",             // the hello, or the certificate, says another than may join
    "name",             // the certificate is another's
    "plain_text",       // TLS was expected
    "garbage",          // neither TLS nor HTTP/2, no hello, or a malformed one
    "silent",           // nothing came in time
    "protocol",         // another version of ours
    "build",            // another executable
    "name_in_use",      // by a live peer
    "stopping",         // this process ends
};

}  // namespace troupe::detail

#pragma once

#include <array>
#include <string>

namespace troupe::detail {

/// The reason why a peer isn't admitted.
struct join_refusal {
  std::string reason;  ///< One of refusal_reasons.
  std::string text;    ///< An explanation for people.
};

/// The values of the label `reason` of troupe_refused_peers_total.
inline constexpr std::array refusal_reasons{
    "no_certificate",   // The peer showed no certificate.
    "other_authority",  // The certificate isn't from this cluster's authority.
    "expired",          // The certificate has expired or isn't valid yet.
    "revoked",          // The authority has revoked the certificate.
    "certificate",      // The certificate is malformed or not for this purpose.
    "secret",       // Without certificates: the peer did not prove that it knows the join secret.
    "role",         // The hello or the certificate has a role that may not join.
    "name",         // The certificate is for another name.
    "plain_text",   // The peer used plain text although TLS was expected.
    "garbage",      // The bytes weren't those of a peer, or the hello was malformed.
    "silent",       // The peer sent nothing, or no hello, in time.
    "crowded",      // Too many connections had not proved who they are.
    "protocol",     // The peer speaks another version of the protocol.
    "build",        // The peer is another executable.
    "name_in_use",  // A live peer has this name.
    "stopping",     // This process is ending.
};

}  // namespace troupe::detail

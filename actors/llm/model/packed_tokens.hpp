#pragma once

#include <cstdint>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Documents one after the other, without padding: each attends to itself alone and its positions
/// begin at 0. One may also go on from an earlier one, as answers do from their prompt: it attends
/// to that one (and what that goes on from), its positions begin after it, and it doesn't see the
/// others that go on from there.
struct packed_tokens {
  std::vector<token_id> ids;          ///< [T]
  std::vector<std::int64_t> lengths;  ///< of the documents; their sum is T
  /// The index of the document that each goes on from, -1 for none; empty: none does.
  std::vector<std::int64_t> parents = {};
};

/// Tokens that lie one after the other.
struct token_span {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// Where a document of packed_tokens is, and what it sees.
struct document_place {
  token_span own;
  std::int64_t position = 0;     ///< of its first token
  std::vector<token_span> seen;  ///< what it goes on from, first things first; without itself
};

/// Throws std::invalid_argument for an id that is no row of the embedding, a parent that isn't an
/// earlier document, a document without tokens and one that ends beyond the context.
std::vector<document_place> places_of(const model_config& config, const packed_tokens& tokens);

}  // namespace troupe::llm

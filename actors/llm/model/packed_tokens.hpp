#pragma once
// Batches of texts without padding, which packed_forward.hpp takes.

#include <cstdint>
#include <vector>

#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/bpe.hpp"

namespace troupe::llm {

/// Documents one after the other, without padding. A document without a parent attends only to
/// itself, and its positions begin at 0. A document may have an earlier one as its parent, as an
/// answer has its prompt: it also attends to the parent and the parent's ancestors, and its
/// positions begin after the parent's. It doesn't attend to other children of the parent.
struct packed_tokens {
  std::vector<token_id> ids;          ///< [T]
  std::vector<std::int64_t> lengths;  ///< the lengths of the documents, whose sum is T
  /// The index of each document's parent, or -1 for none. Empty means that no document has one.
  std::vector<std::int64_t> parents = {};
};

/// A range of consecutive tokens.
struct token_span {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// The place of a document in packed_tokens, and the ranges that it attends to.
struct document_place {
  token_span own;
  std::int64_t position = 0;     ///< the position of its first token
  std::vector<token_span> seen;  ///< its ancestors, the oldest first, without itself
};

/// The places of all documents. Throws std::invalid_argument for an id that is no row of the
/// embedding, a parent that isn't an earlier document, a document without tokens, and a document
/// that ends beyond the context.
std::vector<document_place> places_of(const model_config& config, const packed_tokens& tokens);

}  // namespace troupe::llm

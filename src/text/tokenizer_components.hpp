// The components of a tokenizer.json. Each function throws Error for what it does not know.
#pragma once

#include <vector>

#include "text/decoder.hpp"
#include "text/fields.hpp"
#include "text/normalizer.hpp"
#include "text/pre_tokenizer.hpp"

namespace tapestry {

std::vector<NormalizerStep> normalizer_steps(const Json& json);
std::vector<PreTokenizerStep> pre_tokenizer_steps(const Json& json);
std::vector<DecoderStep> decoder_steps(const Json& json);

// The fields of a Metaspace, which pre-tokenizer and decoder share.
PreTokenizerStep metaspace_step(const std::string& type, Fields& fields);

// BERT's, with its four switches.
NormalizerStep bert_normalizer(bool clean, bool chinese, bool accents, bool lower);
std::vector<PreTokenizerStep> bert_pre_tokenizer();

}  // namespace tapestry

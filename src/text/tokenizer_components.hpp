// The components of a tokenizer.json. Each function throws Error for what it does not know.
#pragma once

#include <vector>

#include "text/decoder.hpp"
#include "text/fields.hpp"
#include "text/normaliser.hpp"
#include "text/pre_tokeniser.hpp"

namespace tapestry {

std::vector<NormaliserStep> normaliser_steps(const Json& json);
std::vector<PreTokeniserStep> pre_tokeniser_steps(const Json& json);
std::vector<DecoderStep> decoder_steps(const Json& json);

// The fields of a Metaspace, which pre-tokeniser and decoder share.
PreTokeniserStep metaspace_step(const std::string& type, Fields& fields);

// BERT's, with its four switches.
NormaliserStep bert_normaliser(bool clean, bool chinese, bool accents, bool lower);
std::vector<PreTokeniserStep> bert_pre_tokeniser();

}  // namespace tapestry

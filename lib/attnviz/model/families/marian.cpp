// Marian (Junczys-Dowmunt et al. 2018), as OPUS-MT's translation models are: the encoder-decoder of
// Vaswani et al. 2017, norms behind the sums.

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/model/families/bart_traits.h"
#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_marian(const HfConfig& config, TensorFiles files) {
  for (const std::string_view key :
       {"share_encoder_decoder_embeddings", "static_position_embeddings", "tie_word_embeddings"}) {
    require(config, key, "true");
  }
  for (const std::string_view key :
       {"normalize_before", "normalize_embedding", "add_final_layer_norm"}) {
    require(config, key, "false");
  }
  BartTraits traits = bart_traits(config);
  for (Traits* const stack : {&traits.encoder, &traits.decoder}) {
    stack->positions = Positions::kSinusoidal;
  }
  if (const auto n_vocab = config.size_if_there("decoder_vocab_size");
      n_vocab && *n_vocab != traits.encoder.n_vocab) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}decoder_vocab_size: expected {} as vocab_size says, found {}",
                            traits.encoder.where, traits.encoder.n_vocab, *n_vocab));
  }
  Model model = read_bart_stacks(traits, std::move(files));
  auto reader = std::make_shared<Model>(*model.encoder);
  model.sines_first = reader->sines_first = true;
  model.encoder = std::move(reader);
  const std::optional<std::uint32_t> start = decoder_start(config);
  if (!start) {
    config.node().fail("decoder_start_token_id: expected a token id, found none");
  }
  model.config.first_token = *start;
  // Where decoders begin is no token of any text; models are told so with bad_words_ids.
  model.config.never_written = {*start};
  return model;
}

}  // namespace attnviz

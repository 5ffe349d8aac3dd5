// An explanation with numbers that can be checked by hand.
#pragma once

#include "attnviz/report/why_document.h"

namespace attnviz::test {

/// "cat sat" after a first token: two heads and an MLP in one layer, head 0.1 an induction head.
/// The parts sum to the logits 3 and 1.
inline WhyDocument sample_why() {
  WhyDocument document;
  document.model.name = "toy";
  document.model.named_heads = {{0, 1, "induction"}};
  document.text.source = "cat sat";
  document.text.tokens = {{.id = 0, .text = "<s>", .special = true, .added = true},
                          {.id = 1, .text = "cat", .begin = 0, .end = 3},
                          {.id = 2, .text = " sat", .begin = 3, .end = 7}};
  document.token_texts = {{3, " on"}, {4, " \x1B[31m"}};
  document.prediction = {{3, -0.5}, {4, -2.5}, 2048};
  document.words = {
      {{0, 1}, "<s>", 0.25, 0.6}, {{1, 2}, "cat", -2.0, 0.3}, {{2, 3}, " sat", {}, 0.1}};
  using Kind = LogitPartKind;
  document.attribution = {{{Kind::kEmbedding, 0, 0, {0.5, 0.5}, 0.0, {}},
                           {Kind::kHead, 0, 0, {-1.5, 0.25}, 0.0, {-1.0, -0.5, 0.0}},
                           {Kind::kHead, 0, 1, {4.0, 0.0}, 0.5, {0.0, 4.0, 0.0}},
                           {Kind::kMlp, 0, 0, {0.0, 0.25}, 0.0, {}}},
                          {3.0, 1.0}};
  document.ablation =
      WhyDocument::Ablations{false,
                             {AblatedPart::kHeads, AblatedPart::kMlps},
                             {{{0, 0, false, false}, {0.25, 0.125, 0.5, {3, 0.75, 0.0F}}},
                              {{0, 1, false, false}, {-3.0, 1.5, 0.75, {4, 0.5, 0.0F}}},
                              {{0, std::nullopt, true, false}, {0.0, 0.0, 0.0, {3, 0.6, 0.0F}}}}};
  document.lens = {{0, LayerStep::kBefore, {{4, 0.5, 1.0F}, {3, 0.25, 0.5F}}, -1.386, 1},
                   {0, LayerStep::kMiddle, {{3, 0.5, 1.0F}}, -0.693, 0},
                   {0, LayerStep::kAfter, {{3, 0.6065, 1.0F}}, -0.5, 0}};
  return document;
}

}  // namespace attnviz::test

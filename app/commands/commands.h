// The program's commands. Each throws Error, and ClosedPipe when the reader of its output is gone.
#pragma once

#include "options/command_options.h"

namespace attnviz::app {

/// attnviz show: shows the attention in a text as a drawing, a picture or numbers; attnviz rollout:
/// the same for attention accumulated through all layers.
void run(const ShowOptions& options);

/// attnviz inspect: follows one query of a text through every step of a head.
void run(const InspectOptions& options);

/// attnviz heads: scores each head on probes, texts or given attention and names the patterns that
/// it is identified with.
void run(const HeadsOptions& options);

/// attnviz why: which tokens, heads and layers a prediction or a score rests on.
void run(const WhyOptions& options);

/// attnviz cite: ranks sentences of documents by what an answer loses when it cannot see them.
void run(const CiteOptions& options);

/// attnviz diff: compares two texts or two models, head by head.
void run(const DiffOptions& options);

/// attnviz render: draws attention that any tool has computed.
void run(const RenderOptions& options);

/// attnviz tokenize: lists the tokens, ids and byte ranges of texts.
void run(const TokenizeOptions& options);

/// attnviz merge: adds up exact sums of head scores.
void run(const MergeOptions& options);

/// attnviz tour: explains attention on six screens, one after another.
void run(const TourOptions& options);

/// attnviz lesson: explains one aspect of attention on one screen and in one figure.
void run(const LessonOptions& options);

/// attnviz softmax: applies softmax to one row of scores, step by step.
void run(const SoftmaxOptions& options);

/// attnviz meaning: compares a word's vectors in several texts, layer by layer.
void run(const MeaningOptions& options);

/// attnviz info: describes a model, given by its weights or its sizes. Reads none of the weight
/// matrices of a whole model. A malformed tokenizer is an error.
void run(const InfoOptions& options);

/// attnviz models: lists what -m NAME finds on this machine. Reads no tensors, and continues after
/// broken files.
void run(const ModelsOptions& options);

/// attnviz weights: writes random weights as JSON, a template to edit.
void run(const WeightsOptions& options);

}  // namespace attnviz::app

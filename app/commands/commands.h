// The program's commands. Each throws Error, and ClosedPipe when nobody reads what it writes.
#pragma once

#include "options/command_options.h"

namespace attnviz::app {

/// attnviz show: text in, attention out as a drawing, a picture or numbers; attnviz rollout: the
/// same of what attention comes to through all layers.
void run(const ShowOptions& options);

/// attnviz inspect: one query of a text, followed through every step of a head.
void run(const InspectOptions& options);

/// attnviz heads: what each head scores on probes, texts or given attention, and the names it
/// earns.
void run(const HeadsOptions& options);

/// attnviz why: which tokens, heads and layers a prediction, or a score, rests on.
void run(const WhyOptions& options);

/// attnviz cite: the sentences of documents, by what an answer loses when it cannot see them.
void run(const CiteOptions& options);

/// attnviz diff: two texts or two models, head by head.
void run(const DiffOptions& options);

/// attnviz render: attention that any tool computed, drawn.
void run(const RenderOptions& options);

/// attnviz tokenize: tokens, ids and byte ranges of texts.
void run(const TokenizeOptions& options);

/// attnviz merge: exact sums of head scores, added up.
void run(const MergeOptions& options);

/// attnviz tour: six screens about attention, one after another.
void run(const TourOptions& options);

/// attnviz lesson: one thing about attention on one screen and in one figure.
void run(const LessonOptions& options);

/// attnviz softmax: one row of scores, step by step.
void run(const SoftmaxOptions& options);

/// attnviz meaning: how alike a word's vectors are in several texts, layer by layer.
void run(const MeaningOptions& options);

/// attnviz info: what is in a model, with its weights or in numbers. Looks at no weight matrix of a
/// whole model. A tokenizer that is there and malformed is an error.
void run(const InfoOptions& options);

/// attnviz models: what -m NAME finds on this machine. Looks at no tensor, and ends for no broken
/// file.
void run(const ModelsOptions& options);

/// attnviz weights: random weights as JSON, a template to edit.
void run(const WeightsOptions& options);

}  // namespace attnviz::app

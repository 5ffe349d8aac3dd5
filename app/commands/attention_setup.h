// What every command that computes attention opens before its first text.
#pragma once

#include <memory>

#include "attnviz/model/model.h"
#include "attnviz/picture/fonts/font_set.h"
#include "commands/input.h"
#include "options/options.h"
#include "outputs/outputs.h"
#include "stores/model_source.h"
#include "system/talk.h"

namespace attnviz::app {

/// In this order, so that whatever can be refused is refused before slow work: the engine is
/// chosen; text, fonts, outputs and model are opened.
struct AttentionSetup {
  /// Throws what its parts throw.
  AttentionSetup(const AttentionOptions& options, const LookOptions& look, Result result,
                 bool side_by_side = false);

  Phases phases;
  Teller teller;
  TextSource source;
  std::unique_ptr<FontSet> fonts;
  ModelSource origin;  // of the model
  Outputs outputs;
  Model model;
};

}  // namespace attnviz::app

#include "commands/attention_setup.h"

#include "commands/attention_run.h"
#include "system/system_fonts.h"

namespace attnviz::app {

namespace {

Phases begun(const AttentionOptions& options) {
  const Phases phases(options.talk);
  choose_engine(options);
  tell_slip(options);
  return phases;
}

}  // namespace

AttentionSetup::AttentionSetup(const AttentionOptions& options, const LookOptions& look,
                               Result result, bool side_by_side)
    : phases(begun(options)),
      teller(options.talk),
      source(options.input, options.talk),
      fonts(open_fonts(look.fonts)),
      origin(model_source(options.model)),
      outputs({.result = result,
               .options = options.output,
               .look = look,
               .talk = options.talk,
               .fonts = *fonts,
               .read_files = read_files(options, origin),
               .many_results = options.input.many_texts(),
               .side_by_side = side_by_side}),
      model(open_model(origin, options.model)) {}

}  // namespace attnviz::app

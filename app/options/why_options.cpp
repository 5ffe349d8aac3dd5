// The options of attnviz why.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/document/why_document.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

std::vector<AblatedPart> parse_parts(std::string_view option,
                                     const std::vector<std::string>& lists) {
  std::vector<AblatedPart> parts;
  for (const std::string& list : lists) {
    for (const std::string_view item : list_parts(list)) {
      const AblatedPart part = parse_choice(option, item, kAblatedParts);
      if (std::ranges::find(parts, part) == parts.end()) {
        parts.push_back(part);
      }
    }
  }
  return parts;
}

}  // namespace

void define_why(OptionList& list, WhyOptions& options) {
  define_input(list, options.input);
  define_model(list, options);
  define_attention(list, options, "none: of a score that is split");
  define_names(list, options);
  list.add_value("Prediction", "--toward", "TOKEN",
                 "the token that is asked about (default: the most probable one): \" Potter\", or "
                 "id:301",
                 options.toward);
  list.add_value("Prediction", "--versus", "TOKEN",
                 "the one beside it (default: the most probable other one)", options.versus);
  list.add_value(
      "Prediction", "--at", "TOKEN|INDEX",
      "behind this token (default: the last); no text behind it is read: -1 of --hide is this "
      "token",
      options.at);
  list.add_flag("Prediction", "--tokens",
                "only what the prediction loses without each word (all parts unless one is named)",
                options.tokens);
  list.add_flag("Prediction", "--attribution", "only what heads and MLPs write into the logit",
                options.attribution);
  list.add_list("Prediction", "--ablate-each", "PARTS",
                "only what is lost without each of these: heads, mlps, layers (of attention), a "
                "list with commas; may be repeated",
                [&options](const std::vector<std::string>& lists) {
                  options.ablate_each = parse_parts("--ablate-each", lists);
                });
  list.propose({"heads", "mlps", "layers"});
  list.add_choice("Prediction", "--by", kReplacements,
                  "what stands in the place of what is taken out: 0, or its mean over the text "
                  "(default zero)",
                  options.by_mean);
  list.add_flag("Prediction", "--lens",
                "only what the model would say if it ended after each layer", options.lens);
  list.add_value("Attention", "--query", "TOKEN|INDEX",
                 "with --key and --head: split the score of this query, over what was written into "
                 "the two tokens, in place of a prediction",
                 options.query);
  list.add_value("Attention", "--key", "TOKEN|INDEX", "the key of that score", options.key);
  constexpr std::uint64_t kMostRows = 1'000'000;
  list.add_value("Output", "--top", "N", "only the first N rows of a table; 0: all (default 8)",
                 options.top, count_between(0, kMostRows));
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
}

}  // namespace attnviz::app

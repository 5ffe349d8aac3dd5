#include "attnviz/library/inspections.h"

#include <string_view>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

std::string inspection_json(const LanguageModel& model, const TokenizedText& text, HeadId head,
                            std::size_t query, const AttentionRequest& request) {
  const auto heads = select_heads(*model.model, head_name(head), "");
  std::string out;
  write_inspection_json(*model.model, text,
                        inspect_heads(*model.model, InputColumns(text).view(), request, heads,
                                      query, /*all_queries=*/true),
                        [&out](std::string_view bytes) { out += bytes; });
  return out;
}

}  // namespace attnviz

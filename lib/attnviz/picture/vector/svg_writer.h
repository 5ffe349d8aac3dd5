// Scenes as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Returns the scene as an SVG 1.1 document; `texts` are pairs of a keyword and its text, of which
/// "Title" is the picture's title. Texts stay texts, in a monospaced font of the reader's system,
/// as wide as in the scene. Cells are paths, one per colour, or an image if there are very many.
/// The size is that of the scene at its resolution. The same scene gives the same bytes; ids are
/// unique to the scene, so that several pictures can stand in one HTML page.
std::string scene_svg(const Scene& scene,
                      const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace attnviz

// Scenes as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// The scene as an SVG 1.1 document, `texts` being keywords and what stands under each, of which
/// "Title" names the picture. Texts stay texts, of a monospaced font that the reader has, as wide
/// as in the scene; cells are paths, a path for each colour, or, where they are very many, an
/// image. As large as the scene at its resolution. The same scene gives the same bytes, and its ids
/// are those of no other scene, so that pictures may stand in one HTML page.
std::string scene_svg(const Scene& scene,
                      const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace attnviz

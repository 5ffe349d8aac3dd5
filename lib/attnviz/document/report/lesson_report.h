// A lesson as a report.
#pragma once

#include "attnviz/document/lessons/lesson.h"
#include "attnviz/document/report/report.h"

namespace attnviz {

Report lesson_report(const Lesson& lesson);

/// Every lesson: what it teaches and what its figure shows.
Report lesson_list_report();

}  // namespace attnviz

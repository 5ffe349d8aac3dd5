# find_package(attnviz) makes the target attnviz::attnviz.
include("${CMAKE_CURRENT_LIST_DIR}/AttnvizDependencies.cmake")
attnviz_find_link_dependencies()
if(ATTNVIZ_MISSING)
  set(attnviz_FOUND FALSE)
  set(attnviz_NOT_FOUND_MESSAGE "attnviz needs what is not installed:${ATTNVIZ_MISSING}")
else()
  include("${CMAKE_CURRENT_LIST_DIR}/attnvizTargets.cmake")
endif()

# Compiles the sources of a folder several at a time: most of what a small one takes is parsing and
# instantiating the same templates as its neighbours. Their file-local names must differ, then. Those
# that are compiled without precompiled headers stay alone.
function(attnviz_unite target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(folder_of_target ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(is_alone ${source} TARGET_DIRECTORY ${target} SKIP_PRECOMPILE_HEADERS)
    if(NOT source MATCHES "\\.cpp$" OR is_alone)
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder_of_target} OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    cmake_path(GET path PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER ${folder} group)
    list(APPEND ${group} ${source})
    list(LENGTH ${group} n_sources)
    math(EXPR batch "(${n_sources} - 1) / ${ATTNVIZ_UNITE}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target}
      PROPERTIES UNITY_GROUP ${group}_${batch})
  endforeach()
endfunction()

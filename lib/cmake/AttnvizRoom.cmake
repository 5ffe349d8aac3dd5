# A room of the library: objects that are compiled, and tested, without what stands above them.
#
# attnviz_add_room(NAME [COLD] BELOW ROOM… SOURCES FILE…): attnviz_NAME, of which the library is made.
#   BELOW: the rooms that its sources include, as far as those do not include each other.
#   COLD:  no time is spent in it: -O1, which compiles a quarter faster than -O2.
function(attnviz_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "BELOW;SOURCES")
  set(target attnviz_${room})
  add_library(${target} OBJECT ${arg_SOURCES})
  set_property(TARGET ${target} PROPERTY ATTNVIZ_BELOW ${arg_BELOW})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib)
  target_link_libraries(${target} PRIVATE attnviz_settings attnviz_library_dependencies)
  attnviz_shipped(${target})
  # -O3 makes only the kernels faster, and all other sources a third slower to compile.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${arg_COLD}>,-O1,-O2>>)
  # Precompiled headers fit flags: one for each kind of room. Headers of the rooms below in them would
  # cost as much as they save.
  if(arg_COLD)
    set(first attnviz_model)
  else()
    set(first attnviz_core)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ATTNVIZ_COMMON_HEADERS})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  target_sources(attnviz PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# attnviz_link_rooms(TARGET ROOM…): links these rooms, those below them, and what they need.
function(attnviz_link_rooms target)
  set(rooms "")
  set(next ${ARGN})
  while(next)
    list(POP_FRONT next room)
    if(room IN_LIST rooms)
      continue()
    endif()
    list(APPEND rooms ${room})
    get_property(below TARGET attnviz_${room} PROPERTY ATTNVIZ_BELOW)
    list(APPEND next ${below})
  endwhile()
  foreach(room IN LISTS rooms)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:attnviz_${room}>)
  endforeach()
  target_link_libraries(${target} PRIVATE attnviz_library_dependencies)
endfunction()

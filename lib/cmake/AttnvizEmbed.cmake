# attnviz_embed(ROOM FILE NAME HEADER): the room gets attnviz::NAME, FILE's bytes, which HEADER declares.
function(attnviz_embed room file name header)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/lib/cmake/EmbedFile.cmake)
  get_filename_component(title ${file} NAME)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${source} -DHEADER=${header} -DNAME=${name}
            -P ${script}
    DEPENDS ${file} ${script} COMMENT "Embedding ${title}" VERBATIM)
  add_custom_target(attnviz_${name} DEPENDS ${source})
  add_dependencies(attnviz_${room} attnviz_${name})
  set_source_files_properties(${source} TARGET_DIRECTORY attnviz_${room}
    PROPERTIES OBJECT_DEPENDS ${file} SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(attnviz_${room} PRIVATE ${source})
endfunction()

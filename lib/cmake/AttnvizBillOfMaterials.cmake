# Installs what the program is made of and made with as SPDX 2.3 (attnviz.spdx.json): the dependencies'
# table, with the versions that are found here.

# attnviz_installed_version(NAME DEBIAN VARIABLE): of Debian's package, else as pkg-config knows it,
# else empty.
function(attnviz_installed_version name debian variable)
  find_program(ATTNVIZ_DPKG_QUERY dpkg-query)
  find_program(ATTNVIZ_PKG_CONFIG pkg-config)
  mark_as_advanced(ATTNVIZ_DPKG_QUERY ATTNVIZ_PKG_CONFIG)
  set(version "")
  if(ATTNVIZ_DPKG_QUERY)
    execute_process(COMMAND ${ATTNVIZ_DPKG_QUERY} -W -f "\${Version}\n" ${debian}
      OUTPUT_VARIABLE version ERROR_QUIET)
  endif()
  foreach(module ${name} lib${name})
    if(NOT version AND ATTNVIZ_PKG_CONFIG)
      execute_process(COMMAND ${ATTNVIZ_PKG_CONFIG} --modversion ${module}
        OUTPUT_VARIABLE version ERROR_QUIET)
    endif()
  endforeach()
  string(REGEX REPLACE "\n.*" "" version "${version}")  # one of several architectures
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

function(attnviz_write_bill_of_materials file)
  set(packages "")
  set(relations "")
  foreach(line IN LISTS ATTNVIZ_DEPENDENCY_TABLE)
    string(REGEX REPLACE " *\\| *" ";" fields "${line}")
    list(LENGTH fields n_fields)
    if(n_fields LESS 5)
      continue()
    endif()
    list(POP_FRONT fields name scope debian upstream license)
    if(name STREQUAL "compiler")
      set(version "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    else()
      attnviz_installed_version(${name} ${debian} version)
    endif()
    if(version)
      set(version "\n      \"versionInfo\": \"${version}\",")
    endif()
    string(MAKE_C_IDENTIFIER ${name} id)
    string(REPLACE "_" "-" id "SPDXRef-${id}")
    string(APPEND packages ",
    {
      \"SPDXID\": \"${id}\",
      \"name\": \"${name}\",${version}
      \"downloadLocation\": \"${upstream}\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"NOASSERTION\",
      \"licenseDeclared\": \"${license}\",
      \"copyrightText\": \"NOASSERTION\"
    }")
    set(relation "\"SPDXRef-attnviz\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"${id}\"")
    if(name MATCHES "^(compiler|cmake|ninja)$")
      set(relation "\"${id}\", \"relationshipType\": \"BUILD_TOOL_OF\", \"relatedSpdxElement\": \"SPDXRef-attnviz\"")
    endif()
    string(APPEND relations ",\n    { \"spdxElementId\": ${relation} }")
  endforeach()
  string(SHA256 digest "${packages}")
  string(SUBSTRING ${digest} 0 16 digest)
  string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)  # SOURCE_DATE_EPOCH fixes it
  file(WRITE ${file} "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"attnviz-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://attnviz.invalid/spdx/${PROJECT_VERSION}/${digest}\",
  \"creationInfo\": { \"created\": \"${created}\", \"creators\": [\"Tool: attnviz-${PROJECT_VERSION}\"] },
  \"packages\": [
    {
      \"SPDXID\": \"SPDXRef-attnviz\",
      \"name\": \"attnviz\",
      \"versionInfo\": \"${PROJECT_VERSION}\",
      \"primaryPackagePurpose\": \"APPLICATION\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"MIT\",
      \"licenseDeclared\": \"MIT\",
      \"copyrightText\": \"NOASSERTION\"
    }${packages}
  ],
  \"relationships\": [
    { \"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-attnviz\" }${relations}
  ]
}
")
endfunction()

attnviz_write_bill_of_materials(${PROJECT_BINARY_DIR}/attnviz.spdx.json)
install(FILES ${PROJECT_BINARY_DIR}/attnviz.spdx.json TYPE DOC)

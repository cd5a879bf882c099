# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes the source file that carries every header of include/tally inside the library, so that kernels compile
# wherever the binary runs. Run as: cmake -D INCLUDE=<include folder> -D OUTPUT=<file.cpp> -P embed.cmake
set(piece 12000) # compilers must take 65536 bytes of one literal, some stop at 16 KB: pieces stay below both

file(GLOB_RECURSE names RELATIVE "${INCLUDE}" "${INCLUDE}/tally/*.hpp" "${INCLUDE}/tally/*.cuh")
list(SORT names)
set(rows "")
set(digests "")
foreach(name IN LISTS names)
  file(READ "${INCLUDE}/${name}" text)
  file(SHA256 "${INCLUDE}/${name}" digest)
  string(APPEND digests "${name} ${digest}\n")
  set(literal "")
  string(LENGTH "${text}" left)
  while(left GREATER piece) # cut after a line end: no character is split
    string(SUBSTRING "${text}" 0 ${piece} head)
    string(FIND "${head}" "\n" cut REVERSE)
    math(EXPR cut "${cut} + 1")
    string(SUBSTRING "${text}" 0 ${cut} head)
    string(SUBSTRING "${text}" ${cut} -1 text)
    string(APPEND literal "R\"tally~(${head})tally~\"\n")
    string(LENGTH "${text}" left)
  endwhile()
  string(APPEND literal "R\"tally~(${text})tally~\"")
  string(APPEND rows "{\"${name}\",\n${literal}},\n")
endforeach()
list(LENGTH names count)
string(SHA256 digest "${digests}")
file(WRITE "${OUTPUT}" "// Written by dsl/jit/embed.cmake from the headers of include/tally.
#include \"jit/embedded.hpp\"
namespace tally::v0::jit {
embedded_header const embedded_headers[] = {
${rows}};
unsigned const embedded_header_count = ${count};
char const* const embedded_headers_hash = \"${digest}\";
} // namespace tally::v0::jit
")

// Brings the spellings of older transform specs up to date, on the text, before it is parsed. A line stays a line, so
// that locations still fit; comments and strings are left alone.
//
//   transform.iree.X, transform.apply_patterns.iree.X   transform.kiln.X, transform.apply_patterns.kiln.X
//   structured.tile_to_forall_op (loop, tiled)          structured.tile_using_forall (tiled, loop)
//   structured.tile %x [8, 4]                           structured.tile_using_for %x tile_sizes [8, 4]
//   structured.vectorize %f : (T) -> T                  structured.vectorize_children_and_apply_patterns
//   structured.masked_vectorize                         structured.vectorize
#ifndef KILN_COMPILER_TRANSFORMOPS_SPECUPDATER_H
#define KILN_COMPILER_TRANSFORMOPS_SPECUPDATER_H

#include <string>
#include <string_view>

namespace kiln {

std::string updateSpec(std::string_view text);

} // namespace kiln

#endif // KILN_COMPILER_TRANSFORMOPS_SPECUPDATER_H

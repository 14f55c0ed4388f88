#include "kiln/compiler/TransformOps/SpecUpdater.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace kiln {
namespace {

size_t lines(const std::string &text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(SpecUpdater, LeavesWhatIsUpToDateAlone) {
  std::string text = "transform.sequence failures(propagate) {\n"
                     "^bb1(%v: !transform.any_op):\n"
                     "  %m = transform.structured.match ops{[\"linalg.matmul\"]} in %v : (!transform.any_op) -> "
                     "!transform.any_op\n"
                     "  %t, %l = transform.structured.tile_using_forall %m tile_sizes [2] : (!transform.any_op) -> "
                     "(!transform.any_op, !transform.any_op)\n"
                     "  transform.structured.vectorize %t vector_sizes [2, 4] : !transform.any_op\n"
                     "}\n";
  EXPECT_EQ(updateSpec(text), text);
  EXPECT_EQ(updateSpec(""), "");
}

TEST(SpecUpdater, RenamesTheDocumentsOps) {
  EXPECT_EQ(updateSpec("transform.iree.bufferize %a"), "transform.kiln.bufferize %a");
  EXPECT_EQ(updateSpec("transform.apply_patterns.iree.fold_fill_into_pad"),
            "transform.apply_patterns.kiln.fold_fill_into_pad");
  EXPECT_EQ(updateSpec("transform.ireex.bufferize"), "transform.ireex.bufferize");
  EXPECT_EQ(updateSpec("mytransform.iree.bufferize"), "mytransform.iree.bufferize");
}

TEST(SpecUpdater, LeavesStringsAndCommentsAlone) {
  std::string text = "// transform.iree.bufferize, transform.structured.tile_to_forall_op\n"
                     "transform.print %a {name = \"transform.iree.bufferize \\\" transform.iree.x\"}\n"
                     "@transform.iree.f !transform.iree.t #transform.iree.a\n";
  EXPECT_EQ(updateSpec(text), text);
  EXPECT_EQ(updateSpec("\"open transform.iree.x\ntransform.iree.x"), "\"open transform.iree.x\ntransform.kiln.x");
}

TEST(SpecUpdater, SwapsTheResultsOfTileToForall) {
  // As the documents have it, over several lines.
  std::string old = "  %forall, %tiled_generic =\n"
                    "    transform.structured.tile_to_forall_op %matmul tile_sizes [2]\n"
                    "      ( mapping = [#gpu.block<x>] ) : (!transform.any_op) -> (!transform.any_op, "
                    "!transform.any_op)\n";
  std::string now = "  %tiled_generic, %forall =\n"
                    "    transform.structured.tile_using_forall %matmul tile_sizes [2]\n"
                    "      ( mapping = [#gpu.block<x>] ) : (!transform.any_op) -> (!transform.any_op, "
                    "!transform.any_op)\n";
  EXPECT_EQ(updateSpec(old), now);
  EXPECT_EQ(lines(updateSpec(old)), lines(old));
}

TEST(SpecUpdater, SwapsResultTypesThatDiffer) {
  EXPECT_EQ(updateSpec("%f, %t = transform.structured.tile_to_forall_op %m num_threads [2] : (!transform.any_op) -> "
                       "(!transform.op<\"scf.forall\">, !transform.any_op)"),
            "%t, %f = transform.structured.tile_using_forall %m num_threads [2] : (!transform.any_op) -> "
            "(!transform.any_op, !transform.op<\"scf.forall\">)");
}

TEST(SpecUpdater, SwapsUsesOfPackedResults) {
  EXPECT_EQ(updateSpec("%r:2 = transform.structured.tile_to_forall_op %m tile_sizes [2] : (!a) -> (!a, !a)\n"
                       "transform.x %r#0 : !a\ntransform.y %r#1, %s#0 : !a\n%r:2 = transform.z\ntransform.x %r#0"),
            "%r:2 = transform.structured.tile_using_forall %m tile_sizes [2] : (!a) -> (!a, !a)\n"
            "transform.x %r#1 : !a\ntransform.y %r#0, %s#0 : !a\n%r:2 = transform.z\ntransform.x %r#0");
}

TEST(SpecUpdater, TellsTheTwoKindsOfVectorizeApart) {
  EXPECT_EQ(updateSpec("%g = transform.structured.vectorize %f : (!transform.any_op) -> !transform.any_op"),
            "%g = transform.structured.vectorize_children_and_apply_patterns %f : (!transform.any_op) -> "
            "!transform.any_op");
  EXPECT_EQ(updateSpec("%g = transform.structured.vectorize %f {vectorize_padding, a = [1 : i64]} : (!t) -> !t"),
            "%g = transform.structured.vectorize_children_and_apply_patterns %f {vectorize_padding, a = [1 : i64]} : "
            "(!t) -> !t");
  EXPECT_EQ(updateSpec("transform.structured.masked_vectorize %f vector_sizes [4] : !t"),
            "transform.structured.vectorize %f vector_sizes [4] : !t");
}

TEST(SpecUpdater, NamesTheSizesOfTile) {
  EXPECT_EQ(updateSpec("%t, %l:3 = transform.structured.tile %m [16, 2, 1] : (!t) -> (!t, !t, !t, !t)"),
            "%t, %l:3 = transform.structured.tile_using_for %m tile_sizes [16, 2, 1] : (!t) -> (!t, !t, !t, !t)");
}

TEST(SpecUpdater, SurvivesDamagedText) {
  for (const char *text : {"transform.structured.tile_to_forall_op", "= transform.structured.tile_to_forall_op",
                           "%a = transform.structured.tile_to_forall_op", "transform.structured.vectorize :",
                           ", %a = transform.structured.tile_to_forall_op %m : (", "transform.structured.tile ]["})
    EXPECT_EQ(lines(updateSpec(text)), 0u);
}

} // namespace
} // namespace kiln

// How far what one runtime computes is from what another does.
#ifndef KILN_TOOLS_BENCH_MODEL_OUTPUT_DIFFERENCE_H
#define KILN_TOOLS_BENCH_MODEL_OUTPUT_DIFFERENCE_H

#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/io/input.h"

namespace kiln {

// The largest difference of elements, as a share of the largest of the first ones. An element of more than a thousand
// times what most have, as what a mask fills in, hides no others: it counts by itself alone. Integers of more than 8
// bits are the same or infinitely different. NaN where the two cannot be compared, or nothing in them is finite.
double differenceOf(std::span<const io::HostTensor> wanted, std::span<const io::HostTensor> found);

// Of files.
Result<double> differenceOfFiles(const std::vector<std::string> &wanted, const std::vector<std::string> &found);

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_OUTPUT_DIFFERENCE_H

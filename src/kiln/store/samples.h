// A round's samples as one blob; docs/store.md says it for readers in other languages.
//
//   byte 1 (the format), then for each of call, device, launch: the count as a varint, then that many differences, each
//   to the value before it (the first to 0), zigzag and as varints. A varint is little-endian base 128; zigzag maps 0,
//   -1, 1, -2, ... to 0, 1, 2, 3, ...
#ifndef KILN_STORE_SAMPLES_H
#define KILN_STORE_SAMPLES_H

#include <cstdint>
#include <span>
#include <string>

#include "kiln/base/status.h"
#include "kiln/store/facts.h"

namespace kiln::store {

std::string encodeSamples(const Samples &samples);
// DataLoss where the bytes are no such blob: truncated, with something after its end, or of an unknown format.
Result<Samples> decodeSamples(std::span<const uint8_t> blob);

} // namespace kiln::store

#endif // KILN_STORE_SAMPLES_H

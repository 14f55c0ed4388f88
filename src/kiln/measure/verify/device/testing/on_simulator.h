// For the tests of this folder: contractions that a simulated GPU checks beside the host.
#ifndef KILN_MEASURE_VERIFY_DEVICE_TESTING_ON_SIMULATOR_H
#define KILN_MEASURE_VERIFY_DEVICE_TESTING_ON_SIMULATOR_H

#include <memory>
#include <utility>
#include <vector>

#include "kiln/measure/verify/device/device_check.h"
#include "kiln/measure/verify/test_util.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/targets/drivers.h"
#include "gtest/gtest.h"

namespace kiln::measure::verify {

// Which of the things that a test plants the device checks too: all while their work is no more than `most`, and then
// one of `stride`.
class PlantedShare {
public:
  PlantedShare(uint64_t most, uint64_t stride) : most(most), stride(stride) {}
  bool takes(uint64_t work) {
    const ::testing::TestInfo *test = ::testing::UnitTest::GetInstance()->current_test_info();
    if (std::exchange(current, test) != test)
      looked = offered = 0;
    if (offered++ % stride != 0 && looked + work > most)
      return false;
    looked += work;
    return true;
  }

private:
  const uint64_t most, stride;
  const ::testing::TestInfo *current = nullptr;
  uint64_t looked = 0, offered = 0; // of the test that runs
};

inline Ref<hal::Device> openDevice(const std::string &uri) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  Result<Ref<hal::Device>> device = registry.createDevice(uri);
  EXPECT_TRUE(device.ok()) << device.status().toString();
  return device.ok() ? *device : nullptr;
}

inline Ref<hal::Buffer> bufferOf(hal::Device &device, std::span<const uint8_t> bytes) {
  Result<Ref<hal::Buffer>> buffer = device.allocator().allocate(hal::BufferUsage::Transient, bytes.size());
  EXPECT_TRUE(buffer.ok() && (*buffer)->write(0, std::as_bytes(bytes)).ok());
  return *buffer;
}

inline std::vector<uint8_t> bytesOf(hal::Buffer &buffer) {
  std::vector<uint8_t> bytes(buffer.byteLength());
  EXPECT_TRUE(buffer.read(0, std::as_writable_bytes(std::span(bytes))).ok());
  return bytes;
}

inline std::vector<WrongLines> wrongRowsOnHost(const Data &data, const ColumnMap &columns = {}) {
  const Contraction &c = data.contraction;
  TensorOperand lhs(c.lhs, c.lhsLayout, data.lhs), rhs(c.rhs, c.rhsLayout, data.rhs),
      out(c.result, c.outLayout, data.out);
  ContractionCase subject = {c.batch,       c.m,  c.n,  c.k,      c.lhs,       c.rhs, c.result,
                             c.accumulator, &lhs, &rhs, data.out, c.outLayout, {},    {}};
  subject.columns = columns;
  Result<std::vector<WrongLines>> rows = findWrongRows(subject, out, data.seed, 1);
  EXPECT_TRUE(rows.ok()) << rows.status().toString();
  return *rows;
}

inline Result<std::vector<WrongLines>> wrongRowsOnDevice(hal::Device &device, DeviceCheck &check, const Data &data,
                                                         const ColumnMap &columns = {}) {
  const DeviceCase subject{data.contraction, data.pass, data.seed, !columns.bias.empty(), columns};
  Ref<hal::Buffer> lhs = bufferOf(device, data.lhs), rhs = bufferOf(device, data.rhs), out = bufferOf(device, data.out);
  KILN_ASSIGN_OR_RETURN(RowSums expected, check.expect(subject, *lhs, *rhs));
  return check.findWrongRows(subject, expected, *out);
}

// Of what a pass's inputs and output are, without a run.
inline Result<bool> isRightOnDevice(hal::Device &device, DeviceCheck &check, const DeviceCase &subject,
                                    std::span<const std::span<const uint8_t>> inputs,
                                    std::span<const uint8_t> outBytes) {
  Ref<hal::Buffer> lhs = bufferOf(device, inputs.front()), rhs = bufferOf(device, inputs[inputs.size() > 1 ? 1 : 0]),
                   out = bufferOf(device, outBytes);
  switch (subject.check) {
  case DeviceCase::Check::Exact: {
    KILN_ASSIGN_OR_RETURN(const RowSums rows, check.expect(subject, *lhs, *rhs));
    KILN_ASSIGN_OR_RETURN(const std::vector<WrongLines> wrong, check.findWrongRows(subject, rows, *out));
    return wrong.empty();
  }
  case DeviceCase::Check::Real: {
    KILN_ASSIGN_OR_RETURN(const std::vector<SampledSum> sums, check.expectSums(subject, *lhs, *rhs));
    KILN_ASSIGN_OR_RETURN(const Verdict verdict, check.judgeSums(subject, sums, *out));
    return verdict.ok();
  }
  case DeviceCase::Check::Activation: {
    KILN_ASSIGN_OR_RETURN(const std::vector<WrongLines> wrong, check.findWrongActivations(subject, *out));
    return wrong.empty();
  }
  case DeviceCase::Check::Elements:
  case DeviceCase::Check::Attention:
  case DeviceCase::Check::Rows: {
    Ref<hal::Buffer> third = bufferOf(device, inputs.back());
    hal::Buffer *const all[] = {lhs.get(), rhs.get(), third.get()};
    const auto ofCase = std::span(all).first(inputs.size());
    KILN_ASSIGN_OR_RETURN(const uint64_t wrong, check.countWrongElements(subject, ofCase, *out));
    return wrong == 0;
  }
  }
  return internalError("there is no such check");
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_TESTING_ON_SIMULATOR_H

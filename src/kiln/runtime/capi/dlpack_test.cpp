// Tensors that go to other libraries and come from them.
#include <cmath>
#include <numeric>

#include "kiln/runtime/capi/capi_fixture.h"
#include "kiln/runtime/capi/dlpack_abi.h"

namespace {

using namespace kiln::capi::testing;
using kiln::capi::dlpack::Tensor;

class CApiDlpack : public CApiFixture {
protected:
  // A tensor of f32 whose deleter counts. Memory, shape and strides belong to the test.
  DLManagedTensorVersioned tensorOf(void *data, std::vector<int64_t> &extents, std::vector<int64_t> *strides) {
    DLManagedTensorVersioned managed = {};
    managed.majorVersion = 1;
    managed.minorVersion = 9; // minor versions add
    managed.context = &deleted;
    managed.deleter = [](DLManagedTensorVersioned *self) { ++*static_cast<int *>(self->context); };
    managed.tensor = {data, 1, 0, static_cast<int32_t>(extents.size()), {2, 32, 1}, extents.data(), nullptr, 0};
    if (strides)
      managed.tensor.strides = strides->data();
    return managed;
  }
  kiln_ref_t import(DLManagedTensorVersioned &managed, kiln_element_type_t type = kiln_element_type_t(0)) {
    kiln_ref_t made = {};
    must(kiln_buffer_view_from_dlpack(device, &managed, type, &made));
    return made;
  }
  static bool isPacked(kiln_element_type_t type) {
    return type == KILN_ELEMENT_TYPE_I2 || type == KILN_ELEMENT_TYPE_I4 || type == KILN_ELEMENT_TYPE_F4E2M1FN;
  }
  std::vector<float> read(kiln_ref_t ref) {
    std::vector<float> values(kiln_buffer_view_byte_size(ref) / sizeof(float));
    must(kiln_buffer_view_read(ref, values.data(), values.size() * sizeof(float)));
    return values;
  }

  int deleted = 0;
  alignas(64) float memory[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
};

TEST_F(CApiDlpack, AViewBecomesATensorWithoutACopy) {
  kiln_ref_t made = {};
  const uint64_t extents[2] = {2, 3};
  must(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, extents, 2, memory, 24, &made));
  DLManagedTensorVersioned *versioned = nullptr;
  DLManagedTensor *older = nullptr;
  must(kiln_buffer_view_to_dlpack(made, &versioned));
  must(kiln_buffer_view_to_dlpack_unversioned(made, &older));
  EXPECT_EQ(versioned->majorVersion, 1u);
  EXPECT_EQ(versioned->flags, 0u);
  for (const Tensor *tensor : {&versioned->tensor, &older->tensor}) {
    EXPECT_EQ(tensor->data, kiln_buffer_view_data(made));
    EXPECT_EQ(tensor->deviceType, 1);
    ASSERT_EQ(tensor->rank, 2);
    EXPECT_EQ(tensor->type.code, 2);
    EXPECT_EQ(tensor->type.bits, 32);
    EXPECT_EQ(tensor->type.lanes, 1);
    EXPECT_EQ(tensor->shape[1], 3);
    EXPECT_EQ(tensor->strides[0], 3);
    EXPECT_EQ(tensor->strides[1], 1);
    EXPECT_EQ(tensor->byteOffset, 0u);
  }
  older->deleter(older);
  kiln_ref_release(made);
  EXPECT_EQ(static_cast<float *>(versioned->tensor.data)[5], 5) << "the tensor keeps the memory";
  versioned->deleter(versioned);
}

TEST_F(CApiDlpack, EveryTypeGoesOutAndComesBack) {
  for (unsigned number = KILN_ELEMENT_TYPE_I1; number <= KILN_ELEMENT_TYPE_F8E8M0FNU; ++number) {
    auto type = static_cast<kiln_element_type_t>(number);
    if (isPacked(type))
      continue;
    size_t bytes = 0;
    for (size_t width : {1, 2, 4, 8}) { // of one element; any other is refused
      kiln_ref_t made = {};
      kiln_status_t *status = kiln_buffer_view_create(device, type, nullptr, 0, memory, width, &made);
      bytes = status ? bytes : width;
      kiln_status_free(status);
      kiln_ref_release(made);
    }
    ASSERT_GT(bytes, 0u) << number;
    kiln_ref_t out = {}, back = {};
    must(kiln_buffer_view_create(device, type, shape, 1, memory, 4 * bytes, &out));
    DLManagedTensorVersioned *tensor = nullptr;
    must(kiln_buffer_view_to_dlpack(out, &tensor));
    EXPECT_EQ(tensor->tensor.type.bits, 8 * bytes);
    const void *data = tensor->tensor.data;
    bool isSigned = type >= KILN_ELEMENT_TYPE_SI8 && type <= KILN_ELEMENT_TYPE_SI64;
    must(kiln_buffer_view_from_dlpack(device, tensor, isSigned ? type : kiln_element_type_t(0), &back));
    EXPECT_EQ(kiln_buffer_view_element_type(back), type);
    EXPECT_EQ(kiln_buffer_view_data(back), data) << "zero copies";
    kiln_ref_release(out);
    kiln_ref_release(back);
  }
}

TEST_F(CApiDlpack, ADenseTensorIsUsedInPlace) {
  std::vector<int64_t> extents = {2, 1, 3}, strides = {3, 77, 1}; // the stride of one element says nothing
  for (bool given : {false, true}) {
    DLManagedTensorVersioned managed = tensorOf(memory, extents, given ? &strides : nullptr);
    managed.tensor.byteOffset = given ? 64 : 0;
    kiln_ref_t made = import(managed);
    EXPECT_EQ(kiln_buffer_view_data(made), memory + (given ? 16 : 0));
    EXPECT_EQ(kiln_buffer_view_mutable_data(made), kiln_buffer_view_data(made));
    EXPECT_EQ(kiln_buffer_view_rank(made), 3u);
    EXPECT_EQ(deleted, given ? 1 : 0);
    kiln_ref_release(made);
    EXPECT_EQ(deleted, given ? 2 : 1);
  }
}

TEST_F(CApiDlpack, OtherTensorsAreCopied) {
  struct Case {
    const char *name;
    size_t start; // in elements
    std::vector<int64_t> extents, strides;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {"not aligned", 1, {3}, {1}, {1, 2, 3}},
      {"transposed", 0, {3, 2}, {1, 3}, {0, 3, 1, 4, 2, 5}},
      {"rows of a larger one", 0, {2, 3}, {6, 1}, {0, 1, 2, 6, 7, 8}},
      {"backwards", 5, {3}, {-2}, {5, 3, 1}},
      {"repeated", 2, {2, 2}, {0, 1}, {2, 3, 2, 3}},
      {"three dimensions", 0, {2, 2, 2}, {12, 2, 6}, {0, 6, 2, 8, 12, 18, 14, 20}},
  };
  for (const Case &each : cases) {
    std::vector<int64_t> extents = each.extents, strides = each.strides;
    DLManagedTensorVersioned managed = tensorOf(memory + each.start, extents, &strides);
    deleted = 0;
    kiln_ref_t made = import(managed);
    EXPECT_EQ(deleted, 1) << each.name << ": nobody needs the original";
    EXPECT_EQ(read(made), each.expected) << each.name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(kiln_buffer_view_data(made)) % 64, 0u) << each.name;
    must(kiln_buffer_view_write(made, std::vector<float>(each.expected.size()).data(), 4 * each.expected.size()));
    kiln_ref_release(made);
  }
  EXPECT_EQ(memory[5], 5) << "what is written to a copy does not show";
}

TEST_F(CApiDlpack, EmptyAndScalarTensors) {
  std::vector<int64_t> extents = {3, 0, int64_t(1) << 40, int64_t(1) << 40}, strides = {5, 6, 7, 8}, none;
  DLManagedTensorVersioned managed = tensorOf(nullptr, extents, &strides);
  managed.tensor.byteOffset = 4;
  kiln_ref_t made = import(managed);
  EXPECT_EQ(kiln_buffer_view_byte_size(made), 0u);
  DLManagedTensorVersioned *back = nullptr;
  must(kiln_buffer_view_to_dlpack(made, &back));
  EXPECT_EQ(back->tensor.data, nullptr);
  back->deleter(back);
  kiln_ref_release(made);

  managed = tensorOf(memory + 7, none, nullptr);
  managed.tensor.shape = nullptr;
  made = import(managed);
  EXPECT_EQ(kiln_buffer_view_rank(made), 0u);
  EXPECT_EQ(read(made), std::vector<float>{7});
  kiln_ref_release(made);
  EXPECT_EQ(deleted, 2);
}

TEST_F(CApiDlpack, ReadOnlyStaysReadOnly) {
  std::vector<int64_t> extents = {4}, strides = {2};
  for (bool copied : {false, true}) {
    DLManagedTensorVersioned managed = tensorOf(memory, extents, copied ? &strides : nullptr);
    managed.flags = 1;
    kiln_ref_t made = import(managed);
    EXPECT_NE(kiln_buffer_view_data(made), nullptr);
    EXPECT_EQ(kiln_buffer_view_mutable_data(made), nullptr);
    kiln_status_t *status = kiln_buffer_view_write(made, numbers, sizeof(numbers));
    EXPECT_EQ(kiln_status_code(status), KILN_STATUS_PERMISSION_DENIED);
    EXPECT_EQ(textOf(status), "cannot write a buffer that is read-only");
    DLManagedTensorVersioned *out = nullptr;
    must(kiln_buffer_view_to_dlpack(made, &out));
    EXPECT_EQ(out->flags, 1u);
    out->deleter(out);
    DLManagedTensor *older = nullptr;
    status = kiln_buffer_view_to_dlpack_unversioned(made, &older);
    EXPECT_EQ(kiln_status_code(status), KILN_STATUS_PERMISSION_DENIED);
    EXPECT_NE(textOf(status).find("which an unversioned tensor cannot say"), std::string::npos);
    kiln_ref_release(made);
  }
  EXPECT_EQ(deleted, 2);
}

TEST_F(CApiDlpack, TypesAreUnderstoodAsAsked) {
  std::vector<int64_t> extents = {4};
  DLManagedTensorVersioned managed = tensorOf(memory, extents, nullptr);
  managed.tensor.type = {1, 16, 1}; // as libraries without bf16 carry it
  kiln_ref_t made = import(managed, KILN_ELEMENT_TYPE_BF16);
  EXPECT_EQ(kiln_buffer_view_element_type(made), KILN_ELEMENT_TYPE_BF16);
  kiln_ref_release(made);
  EXPECT_EQ(textOf(kiln_buffer_view_from_dlpack(device, &managed, KILN_ELEMENT_TYPE_F32, &made)),
            "elements of the tensor are ui16, which cannot be understood as f32: their sizes differ");
  EXPECT_EQ(deleted, 2);
}

TEST_F(CApiDlpack, PackedTypesAreRefused) {
  std::vector<int64_t> extents = {8}, strides = {2};
  kiln_ref_t made = {};
  for (auto type : {KILN_ELEMENT_TYPE_I2, KILN_ELEMENT_TYPE_I4, KILN_ELEMENT_TYPE_F4E2M1FN}) {
    for (bool strided : {false, true}) {
      DLManagedTensorVersioned managed = tensorOf(memory, extents, strided ? &strides : nullptr);
      managed.tensor.type = {1, 8, 1};
      kiln_status_t *status = kiln_buffer_view_from_dlpack(device, &managed, type, &made);
      EXPECT_EQ(kiln_status_code(status), KILN_STATUS_UNIMPLEMENTED);
      EXPECT_NE(textOf(status).find(", of which several share a byte: create the view with kiln_buffer_view_create"),
                std::string::npos);
      EXPECT_FALSE(made.object);
    }
    must(kiln_buffer_view_create(device, type, shape, 1, memory, type == KILN_ELEMENT_TYPE_I2 ? 1 : 2, &made));
    DLManagedTensorVersioned *out = nullptr;
    EXPECT_NE(textOf(kiln_buffer_view_to_dlpack(made, &out)).find("DLPack has no type for a 4x"), std::string::npos);
    kiln_ref_release(made);
    made = {};
  }
  EXPECT_EQ(deleted, 6);
}

TEST_F(CApiDlpack, WhatDoesNotFitIsAnErrorAndDeletedOnce) {
  std::vector<int64_t> extents = {4, 2};
  const DLManagedTensorVersioned right = tensorOf(memory, extents, nullptr);
  kiln_ref_t made = {};
  auto fails = [&](auto change, const char *text, kiln_device_t *on) {
    DLManagedTensorVersioned wrong = right;
    change(wrong);
    deleted = 0;
    std::string message = textOf(kiln_buffer_view_from_dlpack(on, &wrong, kiln_element_type_t(0), &made));
    EXPECT_NE(message.find(text), std::string::npos) << message;
    EXPECT_EQ(deleted, 1) << text;
    EXPECT_FALSE(made.object);
  };
  fails([](auto &t) { t.majorVersion = 2; }, "of version 2 of DLPack", device);
  fails([](auto &t) { t.tensor.deviceType = 2; }, "memory of device type 2 of DLPack", device);
  fails([](auto &t) { t.tensor.type = {5, 64, 1}; }, "code 5 of DLPack with 64 bits, is not supported", device);
  fails([](auto &t) { t.tensor.type = {17, 4, 1}; }, "is not supported", device);
  fails([](auto &t) { t.tensor.type.lanes = 4; }, "vectors of 4", device);
  fails([](auto &t) { t.tensor.rank = 33; }, "33 dimensions", device);
  fails([](auto &t) { t.tensor.rank = -1; }, "-1 dimensions", device);
  fails([](auto &t) { t.tensor.shape = nullptr; }, "`shape of the tensor` is NULL", device);
  fails([](auto &t) { t.tensor.data = nullptr; }, "the tensor's `data` is NULL; it has ", device);
  fails([](auto &) {}, "`device` is NULL", nullptr);
  std::vector<int64_t> negative = {4, -2}, large = {int64_t(1) << 62, 4}, unlikely = {int64_t(1) << 50, 2},
                       turned = {1, 9};
  fails([&](auto &t) { t.tensor.shape = negative.data(); }, "a dimension of the tensor is -2", device);
  fails([&](auto &t) { t.tensor.shape = large.data(); }, "", device);
  fails(
      [&](auto &t) {
        t.tensor.shape = unlikely.data();
        t.tensor.strides = turned.data();
      },
      "there is no memory for a copy of the tensor, which takes 9007199254740992 bytes", device);
  DLManagedTensorVersioned again = right;
  deleted = 0;
  textOf(kiln_buffer_view_from_dlpack(device, &again, kiln_element_type_t(0), nullptr));
  EXPECT_EQ(deleted, 1);
  EXPECT_EQ(textOf(kiln_buffer_view_from_dlpack(device, nullptr, kiln_element_type_t(0), &made)), "`tensor` is NULL");
}

TEST_F(CApiDlpack, ViewsAreWrittenInPlace) {
  const float other[4] = {9, 8, 7, 6};
  must(kiln_buffer_view_write(view, other, sizeof(other)));
  EXPECT_EQ(read(view), std::vector<float>({9, 8, 7, 6}));
  static_cast<float *>(kiln_buffer_view_mutable_data(view))[1] = -5;
  kiln_value_t in = argument(), out = {};
  must(kiln_session_call(session, function, &in, 1, &out, 1));
  EXPECT_EQ(read(out.as.ref), std::vector<float>({9, 5, 7, 6}));
  static_cast<float *>(kiln_buffer_view_mutable_data(out.as.ref))[0] = 1;
  EXPECT_EQ(read(out.as.ref)[0], 1);
  kiln_ref_release(out.as.ref);
  EXPECT_EQ(textOf(kiln_buffer_view_write(view, other, 4)), "a 4xf32 has 16 bytes; `source` has 4");
}

} // namespace

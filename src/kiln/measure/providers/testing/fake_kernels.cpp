#include "kiln/measure/providers/testing/fake_kernels.h"

#include "fmt/format.h"

namespace kiln::measure::testing {

using io::ElementType;

std::string ElementText::load(std::string_view into, std::string_view address) const {
  return fmt::format(fmt::runtime(loadFormat), into, address);
}
std::string ElementText::store(std::string_view from, std::string_view address) const {
  return fmt::format(fmt::runtime(storeFormat), from, address);
}

const ElementText &elementText(ElementType type) {
  static const std::map<ElementType, ElementText> kTypes = {
      {ElementType::F16,
       {2, "f32", "ld.global.b16 %h, [{1}]; cvt.f32.f16 {0}, %h;", "cvt.rn.f16.f32 %h, {0}; st.global.b16 [{1}], %h;"}},
      {ElementType::BF16,
       {2, "f32", "ld.global.b16 %h, [{1}]; mov.b16 %zero, 0; mov.b32 {0}, {{%zero, %h}};",
        "cvt.rn.bf16.f32 %h, {0}; st.global.b16 [{1}], %h;"}},
      {ElementType::F32, {4, "f32", "ld.global.f32 {0}, [{1}];", "st.global.f32 [{1}], {0};"}},
      {ElementType::F64, {8, "f64", "ld.global.f64 {0}, [{1}];", "st.global.f64 [{1}], {0};"}},
      {ElementType::I8, {1, "s32", "ld.global.s8 {0}, [{1}];", ""}},
      {ElementType::I32, {4, "s32", "", "st.global.s32 [{1}], {0};"}},
  };
  return kTypes.at(type);
}

std::string narrowToTF32(std::string_view x, std::string_view y) {
  return fmt::format("cvt.rna.tf32.f32 %w, {0}; mov.b32 {0}, %w; cvt.rna.tf32.f32 %w, {1}; mov.b32 {1}, %w;", x, y);
}

std::string kernelHead(std::string_view name, std::span<const char *const> parameters) {
  std::string text = fmt::format(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {}(", name);
  for (const char *parameter : parameters)
    text += fmt::format("{}.param .u64 {}", parameter == parameters[0] ? "" : ", ", parameter);
  text += ") {\n.reg .pred %p;\n.reg .b16 %h, %zero;\n.reg .b32 %w, %t;\n.reg .u64 %i";
  for (const char *parameter : parameters)
    text += fmt::format(", %{}", parameter);
  text += ";\n";
  for (const char *parameter : parameters)
    text += fmt::format("ld.param.u64 %{0}, [{0}];\n", parameter);
  return text + "mov.u32 %t, %ctaid.x; mov.u32 %w, %tid.x; mad.lo.u32 %t, %t, 32, %w; cvt.u64.u32 %i, %t;\n";
}

void FakeKernels::use(const hal::CudaLibrary &cuda) {
  driver = &cuda;
  kernels.clear();
}

bool FakeKernels::launch(const std::string &text, const char *name, std::array<unsigned, 3> grid,
                         std::span<uint64_t> values, hal::CUstream stream) {
  hal::CUfunction &kernel = kernels[text];
  hal::CUmodule module = nullptr;
  if (!kernel && driver->cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr) == hal::cuda::kSuccess) {
    modules.push_back(module);
    (void)driver->cuModuleGetFunction(&kernel, module, name);
  }
  if (!kernel)
    return false;
  std::vector<void *> parameters;
  for (uint64_t &value : values)
    parameters.push_back(&value);
  hal::CudaLaunch launch{{grid[0], grid[1], grid[2]}, {32, 1, 1}};
  launch.stream = stream;
  return driver->cuLaunchKernelEx(&launch, kernel, parameters.data(), nullptr) == hal::cuda::kSuccess;
}

void FakeKernels::unload() {
  for (hal::CUmodule module : modules)
    (void)driver->cuModuleUnload(module);
  modules.clear();
  kernels.clear();
}

} // namespace kiln::measure::testing

// Verification of a provider's results on its device, where its tensors are.
#ifndef KILN_MEASURE_PROVIDERS_DEVICE_VERIFICATION_H
#define KILN_MEASURE_PROVIDERS_DEVICE_VERIFICATION_H

#include <memory>

#include "kiln/measure/family.h"
#include "kiln/measure/providers/provider.h"
#include "kiln/measure/verify/device/device_check.h"

namespace kiln::measure {

class DeviceVerification {
public:
  // Of a problem that the provider has loaded with these tensors; all of them outlive the result. Unimplemented where
  // the device cannot check, or the problem is none that `families` make from its name.
  static Result<std::unique_ptr<DeviceVerification>> create(Provider &provider, const FamilyRegistry &families,
                                                            const ProblemText &text, const TensorMemory &tensors);

  // Unimplemented where the host checks the pass. A check that does not find what was planted is an error.
  Result<Answer::DeviceVerdict> verify(const VerifyRequest &request);

private:
  Result<Answer::DeviceVerdict> verifyElements(const verify::DeviceCase &subject, const VerifyRequest &request);

  DeviceVerification(Provider &provider, std::unique_ptr<Problem> problem, std::unique_ptr<verify::DeviceCheck> check)
      : provider(provider), problem(std::move(problem)), check(std::move(check)) {}

  Provider &provider;
  std::unique_ptr<Problem> problem;
  std::unique_ptr<verify::DeviceCheck> check;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_DEVICE_VERIFICATION_H

#include "kiln/tools/dispatch/tune/tune_flags.h"

#include "kiln/tools/dispatch/duration.h"

namespace kiln {

void TuneFlags::add(FlagParser &parser) {
  parser.group("How to search");
  parser.add(
      {"tuning-db", "FILE",
       "The tuning database to write; what is there of other operations stays. For `kiln-compile --tuning-db=FILE`. "
       "The default is generated/tuning.json in --generated-dir."},
      database);
  parser.add({"budget-minutes", "TIME",
              "Searches each problem for about so long at most: minutes, or a time as in 90s, 2.5min, 1h."},
             budgetMinutes);
  parser.add({"trials", "N", "Measures at most so many configurations of a problem."}, trials);
  parser.add({"patience", "N", "Ends after so many batches in which nothing got better by a percent."}, patience);
  parser.add({"batch", "N", "Configurations that are measured together, against the best so far."}, batch);
  parser.add({"exhaustive", "N", "Measures all configurations where there are at most so many."}, exhaustive);
  parser.add({"finalists", "N", "The best so many are measured once more, with the default, as a sweep does."},
             finalists);
  parser.add({"least-gain", "PERCENT",
              "Faster than the default by less than this is not worth an entry: two processes of the same code differ "
              "about as much."},
             leastGain);
  parser.example("kiln-dispatch tune --operation-kind=matmul --dtypes=f32 "
                 "--problem-m=16 --problem-n=1024 --problem-k=1024");
  parser.example("kiln-compile --kiln-hal-target-backends=llvm-cpu --tuning-db=generated/tuning.json model.mlir "
                 "-o model.vmfb");
}

double TuneFlags::budgetSeconds() const {
  Result<double> seconds = parseDuration("budget-minutes", budgetMinutes);
  return seconds.ok() ? *seconds : 0;
}

Status TuneFlags::check() const {
  KILN_RETURN_IF_ERROR(parseDuration("budget-minutes", budgetMinutes).status());
  if (trials == 0 || patience == 0)
    return invalidArgument("--trials and --patience must be at least 1: they say when a search ends");
  if (batch < 2 || batch > 256)
    return invalidArgument("--batch={}: a batch has 2 to 256 configurations, each in a process of its own", batch);
  if (finalists < 1 || finalists > 32)
    return invalidArgument("--finalists={}: there are 1 to 32 of them", finalists);
  return okStatus();
}

} // namespace kiln

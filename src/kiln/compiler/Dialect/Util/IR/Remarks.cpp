#include "kiln/compiler/Dialect/Util/IR/Remarks.h"

#include "mlir/IR/Builders.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkSerializer.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace kiln::Util {

static constexpr StringLiteral kRemarks = "kiln.remarks";

static FileLineColLoc placeOf(RemarkAttr remark) {
  return Location(remark.getLocation())->findInstanceOf<FileLineColLoc>();
}

StringRef nodeOf(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  auto name = loc->findInstanceOf<NameLoc>();
  return place && place.getLine() == 0 && name ? name.getName().getValue() : StringRef();
}

void addRemark(Operation *holder, Cost cost, Location loc, StringRef function, const Twine &text) {
  MLIRContext *context = holder->getContext();
  auto place = loc->findInstanceOf<FileLineColLoc>();
  auto known = holder->getAttrOfType<ArrayAttr>(kRemarks);
  SmallVector<Attribute> all = known ? llvm::to_vector(known) : SmallVector<Attribute>();
  const StringRef node = nodeOf(loc);
  auto told = StringAttr::get(context, node.empty() ? text : text + " (node '" + node + "')");
  all.push_back(RemarkAttr::get(context, cost, StringAttr::get(context, function), told,
                                place ? LocationAttr(place) : LocationAttr(UnknownLoc::get(context))));
  holder->setAttr(kRemarks, ArrayAttr::get(context, all));
}

void gatherRemarks(Operation *holder) {
  SmallVector<Attribute> all;
  holder->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto known = op->getAttrOfType<ArrayAttr>(kRemarks)) {
      llvm::append_range(all, known);
      op->removeAttr(kRemarks);
    }
  });
  if (!all.empty())
    holder->setAttr(kRemarks, ArrayAttr::get(holder->getContext(), all));
}

void dropRemarks(Operation *root) {
  root->walk([](Operation *op) { op->removeAttr(kRemarks); });
}

SmallVector<RemarkAttr> remarksIn(Operation *root) {
  SmallVector<RemarkAttr> remarks;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto known = op->getAttrOfType<ArrayAttr>(kRemarks))
      for (Attribute attribute : known) // A program may bring some that are not ours.
        if (auto remark = dyn_cast<RemarkAttr>(attribute))
          remarks.push_back(remark);
  });
  auto key = [](RemarkAttr remark) {
    FileLineColLoc place = placeOf(remark);
    return std::tuple(place ? place.getFilename().getValue() : StringRef(), place ? place.getLine() : 0,
                      place ? place.getColumn() : 0, remark.getCost(), remark.getFunction().getValue(),
                      remark.getText().getValue());
  };
  llvm::sort(remarks, [&](RemarkAttr a, RemarkAttr b) { return key(a) < key(b); });
  return remarks;
}

std::string summarizeRemarks(Operation *root) {
  std::map<StringRef, int> counts;
  for (RemarkAttr remark : remarksIn(root))
    ++counts[stringifyCost(remark.getCost())];
  std::string text;
  for (auto [name, count] : counts)
    text += (text.empty() ? "" : ", ") + name.str() + " " + std::to_string(count);
  return text.empty() ? "none" : text;
}

std::string remarksAsYaml(ArrayRef<RemarkAttr> remarks) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto serializer = llvm::cantFail(llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, stream));
  for (RemarkAttr remark : remarks) {
    llvm::remarks::Remark entry;
    entry.RemarkType = llvm::remarks::Type::Missed;
    entry.PassName = "kiln";
    entry.RemarkName = stringifyCost(remark.getCost());
    entry.FunctionName = remark.getFunction().getValue();
    if (FileLineColLoc place = placeOf(remark))
      entry.Loc = llvm::remarks::RemarkLocation{place.getFilename().getValue(), place.getLine(), place.getColumn()};
    entry.Args.emplace_back("String", remark.getText().getValue());
    serializer->emit(entry);
  }
  return text;
}

} // namespace kiln::Util

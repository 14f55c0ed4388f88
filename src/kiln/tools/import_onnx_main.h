// The main of kiln-import-onnx, for a program that is more than kiln-import-onnx.
#ifndef KILN_TOOLS_IMPORT_ONNX_MAIN_H
#define KILN_TOOLS_IMPORT_ONNX_MAIN_H

namespace kiln {

// The exit code.
int importOnnxMain(int argc, char **argv);

} // namespace kiln

#endif // KILN_TOOLS_IMPORT_ONNX_MAIN_H

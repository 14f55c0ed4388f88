func.func @matmul_tensors(
    %A: tensor<128x128xf32>, %B: tensor<128x128xf32>,
    %D: tensor<128x128xf32>)
        -> tensor<128x128xf32> {
    %ret = linalg.matmul ins(%A, %B: tensor<128x128xf32>, tensor<128x128xf32>)
                        outs(%D: tensor<128x128xf32>)
        -> tensor<128x128xf32>
    func.return %ret : tensor<128x128xf32>
}

/// RUN: mlir-opt -llvm-request-c-wrappers --test-transform-dialect-interpreter --test-transform-dialect-erase-schedule matmul.mlir \
/// RUN: | mlir-opt -one-shot-bufferize="bufferize-function-boundaries=1" -convert-vector-to-scf -lower-affine -convert-scf-to-cf -convert-vector-to-llvm -finalize-memref-to-llvm -convert-func-to-llvm -reconcile-unrealized-casts \
/// RUN: | mlir-translate -mlir-to-llvmir \
/// RUN: | llc -filetype=obj -o llvm.o

// module {
//     func.func @matmul_tensors(
//         %A: tensor<128x128xf32>, %B: tensor<128x128xf32>,
//         %D: tensor<128x128xf32>)
//             -> tensor<128x128xf32> {
//         %ret = linalg.matmul ins(%A, %B: tensor<128x128xf32>, tensor<128x128xf32>)
//                             outs(%D: tensor<128x128xf32>)
//             -> tensor<128x128xf32>
//         func.return %ret : tensor<128x128xf32>
//     }

//     transform.sequence failures(propagate) {
//     ^bb1(%module: !pdl.operation):
//         %matmul = transform.structured.match ops{["linalg.matmul"]}
//             in %module : (!pdl.operation) -> !pdl.operation
//         %func = transform.structured.match ops{["func.func"]}
//             in %module : (!pdl.operation) -> !pdl.operation
//         transform.structured.tile %matmul [16, 2, 1]
//          : (!pdl.operation) -> (!pdl.operation, !pdl.operation, !pdl.operation, !pdl.operation)
//         transform.structured.vectorize %func : (!pdl.operation) -> !pdl.operation
//     }
// }

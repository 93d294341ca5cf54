// One array in a .npy file, the format of NumPy: numpy.save writes it, numpy.load reads it.
//
// A file is: "\x93NUMPY"; two bytes of version; the length of the header, little-endian; the
// header, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } padded with blanks; the
// numbers. ('<f4': little-endian, floating, 4 bytes. Fortran order: the first axis runs fastest.)
#pragma once

#include <filesystem>

#include "tapestry/tensor.hpp"

namespace tapestry {

// Write format 1.0, row-major: tensors as <f4 (<f8 in a build where `real` is double), indices as
// <i4. Missing folders are made. The file is written atomically. Throw Error for an undefined
// tensor, and for a failed system call.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
void write_npy(const std::filesystem::path& path, const Indices& indices);

// Read formats 1.0 to 3.0 in either order of axes and of bytes: floats (f2, f4, f8), booleans (b1)
// and whole numbers (i1 to i8, u1 to u8) as `real`; whole numbers alone as indices, if each fits
// into 32 bits. Only f8 is rounded, where `real` is float: a whole number that is not exact as
// `real`, such as 2^24 + 1, is refused. The file is not trusted: its length must fit shape and type
// before memory is allocated. Throw Error with the file and the reason.
[[nodiscard]] Tensor read_npy(const std::filesystem::path& path);
[[nodiscard]] Indices read_npy_indices(const std::filesystem::path& path);

}  // namespace tapestry

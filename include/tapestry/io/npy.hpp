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
// <i4. Missing folders are made. The file is replaced whole or not at all. Throw Error for an
// undefined tensor, and for what the system refuses.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
void write_npy(const std::filesystem::path& path, const Indices& indices);

// Read formats 1.0 to 3.0 in either order of axes and of bytes: floats (f2, f4, f8), booleans (b1)
// and whole numbers (i1 to i8, u1 to u8) as `real`; whole numbers alone as indices, if each fits
// into 32 bits. Only f8 is rounded, where `real` is float: a whole number that is not exact as
// `real`, such as 2^24 + 1, is refused. Nothing in the file is trusted: its length must be what
// shape and type ask for before memory is asked for. Throw Error naming the file and what is wrong
// with it.
Tensor read_npy(const std::filesystem::path& path);
Indices read_npy_indices(const std::filesystem::path& path);

}  // namespace tapestry

// The coefficients of the polynomials behind the SIMD functions, lowest power first.
//
// Each comment says what the polynomial stands for, and its largest error in exact arithmetic;
// rounding while it is evaluated comes on top. tests/kernels/coefficients_test.cpp measures these
// errors, and fits each polynomial anew (Remez 1934): none of its degree would be better by 2.1e-8,
// a third of what rounding to float does. To print its fits beside these: run the tests with
// "[coefficients]".
#pragma once

namespace tapestry::kernels::coefficients {

// (exp(r) - 1 - r) / r^2 on |r| <= log(2) / 2; relative error of exp 3.14e-9
constexpr float exp[] = {0.49999994f, 0.166665226f, 0.0416682921f, 0.00836853217f, 0.00138182961f};

// (2^r - 1) / r on |r| <= 1/2; relative error of 2^r 2.13e-8
constexpr float exp2[] = {0.693147242f,  0.240226522f,   0.0555031031f,
                          0.0096176928f, 0.00134066434f, 0.000155946778f};

// The same on [0, 1): 9.38e-8
constexpr float exp2_above[] = {0.693151295f, 0.240164444f, 0.0557999127f, 0.00901703071f,
                                0.00186713005f};

// (2 atanh(s) - 2 s) / s^3 of z = s^2, 0 <= z <= 1/9; relative error of 2 atanh(s) 2.63e-11
constexpr float atanh_tail[] = {0.666666687f, 0.399997681f, 0.285799563f,
                                0.220958903f, 0.188128129f, 0.167660356f};

// (tanh(a) - a) / a^3 of z = a^2, a <= 0.7; relative error of tanh 7.47e-10
constexpr float tanh[] = {-0.333333254f, 0.133330032f,    -0.0539227128f,
                          0.0215780102f, -0.00789591391f, 0.00190422707f};

// erf(a) / a - 1 of z = a^2, a <= 1; relative error of erf 1.51e-9
constexpr float erf[] = {0.128379166f,   -0.376126289f,    0.112836182f,   -0.026855126f,
                         0.00519073382f, -0.000803076138f, 7.92036808e-05f};

// log(erfc(a)) on [1, 4]; relative error of erf 2.44e-11
constexpr float log_erfc[] = {0.000188469276f, -1.12958026f,   -0.633216619f,  -0.108421728f,
                              0.0252100192f,   -0.0042051333f, 0.00044143555f, -2.16939479e-05f};

// log2(Phi(-a)) on [0, 6], Phi the normal distribution; absolute error of a Phi(-a) 2.55e-8
constexpr float log2_normal_tail[] = {-0.999996364f,   -1.15115869f,    -0.458952785f,
                                      -0.0530590117f,  0.00772042619f,  -0.00056608452f,
                                      -2.9671477e-05f, 9.77971922e-06f, -5.86055251e-07f};

// (Phi(-a) - a phi(a)) exp(a^2 / 2) on [0, 6], phi the normal density; error of the slope 6.65e-8
constexpr float gelu_slope[] = {0.49999994f,     -0.797878981f,    0.249918237f,   -0.132518739f,
                                0.0611639097f,   -0.0243235901f,   0.00794572104f, -0.00197718805f,
                                0.000340359722f, -3.52903771e-05f, 1.63630057e-06f};

// (sin(x) - x) / x^3 of z = x^2, |x| <= pi / 4; relative error of sin 1.75e-10
constexpr float sin[] = {-0.166666672f, 0.00833338033f, -0.000198535112f, 2.83751456e-06f};

// (cos(x) - 1 + x^2 / 2) / x^4 of z = x^2, |x| <= pi / 4; relative error of cos 8.79e-12
constexpr float cos[] = {0.0416666679f, -0.00138889824f, 2.48229844e-05f, -2.89773112e-07f};

}  // namespace tapestry::kernels::coefficients

// Pictures.
#include "tapestry/plot/png.hpp"

#include "fuzz.hpp"
#include "tapestry/pictures.hpp"

using namespace tapestry;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::File input(fuzz::text_of(data, size));
  plot::Image image;
  if (!fuzz::done([&] { image = plot::read_png(input.path()); })) return 0;
  fuzz::require(image.channels >= 1 && image.channels <= 4, "one to four channels");
  fuzz::require(image_tensor(image).numel() > 0, "as many values as there are pixels");
  return 0;
}

// Whether other programs used the machine while we measured.
#pragma once

namespace tapestry::bench {

class Company {
 public:
  Company();
  // How many processors others kept busy since the start of this object, on average; negative
  // where the system does not tell.
  double processors() const;

 private:
  double start_, busy_, own_;
};

}  // namespace tapestry::bench

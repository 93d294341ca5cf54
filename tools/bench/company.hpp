// The load by other programs during a measurement.
#pragma once

namespace tapestry::bench {

class Company {
 public:
  Company();
  // How many processors others used since the construction, on average; negative if unknown.
  // Programs that this one started count as others until they have ended.
  double processors() const;

 private:
  double start_, busy_, own_;
};

}  // namespace tapestry::bench

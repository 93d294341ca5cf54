#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "peers.hpp"
#include "report.hpp"
#include "tapestry/file.hpp"
#include "tapestry/kernels.hpp"

namespace tapestry::bench {
namespace {

using Json = nlohmann::ordered_json;

#ifdef __clang__
constexpr char compiler[] = __VERSION__;
#else
constexpr char compiler[] = "g++ " __VERSION__;
#endif

Json limits_json(const Report& report) {
  Json all = Json::array();
  for (const auto& [threads, limits] : report.limits) {
    Json reading = Json::array();
    for (const auto& [bytes, speed] : limits.measured()) {
      reading.push_back({{"bytes", bytes}, {"gb_per_second", speed}});
    }
    all.push_back({{"threads", threads}, {"gflops", limits.best_gflops()}, {"reading", reading}});
  }
  return all;
}

Json machine_json(const Report& report) {
  return {
      {"processor", processor()},
      {"cores", std::thread::hardware_concurrency()},
      {"kernels", kernel_set()},
      {"compiler", compiler},
      {"openblas", {{"version", openblas_version()}, {"kernels", openblas_core()}}},
      {"onednn", {{"version", onednn_version()}}},
      {"torch", report.torch},
      {"limits", limits_json(report)},
      {"answer_ns", {report.answer_time.shortest, report.answer_time.longest}},
  };
}

Json peers_json(const Result& result) {
  Json peers = Json::array();
  for (std::size_t i = 1; i < result.names.size(); ++i) {
    peers.push_back({{"name", result.names[i]},
                     {"ms", 1e3 * result.timings[i].seconds},
                     {"spread", result.timings[i].spread},
                     {"judged", i < result.judged},
                     {"ratio", result.timings[i].seconds / result.ours()}});
  }
  return peers;
}

Json result_json(const Result& result) {
  Json json = {
      {"group", result.row.group},
      {"name", result.row.name},
      {"threads", result.threads},
      {"ms", 1e3 * result.ours()},
      {"spread", result.timings.front().spread},
      {"flops", result.row.flops},
      {"bytes", result.row.bytes},
      {"gflops", result.gflops()},
      {"gb_per_second", result.gb_per_second()},
      {"limit", result.limited_by_memory ? "memory" : "multiply-add"},
      {"limit_ms", 1e3 * result.limit_seconds},
      {"share_of_limit", result.share()},
      {"tensors_mib", result.tensors_mib},
      {"peers", peers_json(result)},
  };
  if (result.threads > 1) {
    json["one_thread_ms"] = 1e3 * result.alone_seconds;  // in the same race
    json["times_one_thread"] = result.times_one_thread();
  }
  if (result.has_peer()) json["best_peer"] = result.names[result.best_peer()];
  if (result.has_peer()) json["ratio"] = result.ratio();
  if (result.has_peer()) {
    json["verdict"] = result.is_even() ? "even" : result.ratio() > 1 ? "ahead" : "behind";
  }
  return json;
}

Json memory_json(const AttentionMemory& memory) {
  return {
      {"length", memory.length},
      {"depth", memory.depth},
      {"threads", memory.threads},
      {"tensors_mib", memory.tensors_mib},
      {"process_mib", memory.process_mib < 0 ? Json() : Json(memory.process_mib)},
      {"target_mib", AttentionMemory::target_mib},
  };
}

Json cost_json(const Cost& cost) {
  return {{"seconds", cost.wall}, {"processor_seconds", cost.processor}};
}

Json busy_json(const std::vector<Busy>& results) {
  Json all = Json::array();
  for (const Busy& busy : results) {
    all.push_back({{"busy_processes", busy.others},
                   {"threads", busy.threads},
                   {"one_thread", cost_json(busy.one)},
                   {"all_threads", cost_json(busy.all)}});
  }
  return all;
}

}  // namespace

void write_json(const Report& report, const std::filesystem::path& file) {
  Json json = {{"selection", report.selection},
               {"machine", machine_json(report)},
               {"processors_used_by_others", report.company < 0 ? Json() : Json(report.company)}};
  json["rows"] = Json::array();
  for (const Result& result : report.results) json["rows"].push_back(result_json(result));
  for (const AttentionMemory& memory : report.attention_memory) {
    json["attention_memory"] = memory_json(memory);
  }
  if (!report.busy.empty()) json["busy"] = busy_json(report.busy);
  const std::string text = json.dump(2) + "\n";
  write_file_atomically("bench", file, std::as_bytes(std::span(text)));
}

}  // namespace tapestry::bench

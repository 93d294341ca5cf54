#include "findings.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "screen.hpp"
#include "tapestry/error.hpp"
#include "tapestry/file.hpp"
#include "tapestry/format.hpp"
#include "tapestry/io/npy.hpp"
#include "tapestry/pictures.hpp"
#include "tapestry/plot/heatmap.hpp"
#include "tapestry/plot/svg.hpp"
#include "tapestry/unicode.hpp"

namespace tapestry::command {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index widest_table = 9;  // columns of 7 beside a label of 14

Json rows_of(const Tensor& values) {
  Json rows = Json::array();
  for (Index i = 0; i < values.size(0); ++i) {
    Json row = Json::array();
    for (Index j = 0; j < values.size(1); ++j) {
      const double value = double{values.at({i, j})};
      row.push_back(std::isfinite(value) ? Json(value) : Json(formatted("%g", value)));
    }
    rows.push_back(row);
  }
  return rows;
}

Json json_of(const Table& table) {
  Json json = {{"name", table.name}, {"row", table.row},         {"column", table.column},
               {"rows", table.rows}, {"columns", table.columns}, {"values", rows_of(table.values)}};
  if (table.interval.defined()) json["interval"] = rows_of(table.interval);
  return json;
}

void print_grid(const Table& table, const Tensor& values, const char* before) {
  print("%s", left(before + table.row, 14).c_str());
  for (const std::string& column : table.columns) print("%s", right(column, 7).c_str());
  print("\n");
  for (Index i = 0; i < values.size(0); ++i) {
    print("%s", left(before + table.rows[static_cast<std::size_t>(i)], 14).c_str());
    for (Index j = 0; j < values.size(1); ++j) {
      print("%s", right(two_digits(double{values.at({i, j})}), 7).c_str());
    }
    print("\n");
  }
}

void print_grids(const Table& table) {
  print_grid(table, table.values, "");
  if (table.interval.defined()) print_grid(table, table.interval, "± ");
}

void print_largest(const Table& table) {
  constexpr std::size_t most = 10;
  struct Cell {
    Index row, column;
    double value;
  };
  std::vector<Cell> cells;
  for (Index i = 0; i < table.values.size(0); ++i) {
    for (Index j = 0; j < table.values.size(1); ++j) {
      cells.push_back({i, j, double{table.values.at({i, j})}});
    }
  }
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  print("%s%s%s\n", left(table.row, 28).c_str(), left(table.column, 28).c_str(), "  value");
  for (std::size_t i = 0; i < std::min(most, cells.size()); ++i) {
    const auto& [row, column, value] = cells[i];
    const std::string interval =
        table.interval.defined() ? " ±" + two_digits(double{table.interval.at({row, column})}) : "";
    print("%s%s%s%s\n", left(table.rows[static_cast<std::size_t>(row)], 28).c_str(),
          left(table.columns[static_cast<std::size_t>(column)], 28).c_str(),
          right(two_digits(value), 7).c_str(), interval.c_str());
  }
  print(
      "%s\n",
      folded(formatted("The largest in size of %zu; --json writes all.", cells.size()), 0).c_str());
}

}  // namespace

std::string two_digits(double value) {
  const std::string text = formatted("%.2f", value);
  return text == "-0.00" ? "0.00" : text;
}

Words numbered(Index count) {
  Words labels;
  for (Index i = 0; i < count; ++i) labels.push_back(std::to_string(i));
  return labels;
}

void print_table(const Table& table) {
  const bool fits = table.values.size(1) <= widest_table;
  print("%s\n", folded(table.name, 2).c_str());
  fits ? print_grids(table) : print_largest(table);
  print("\n");
}

void write_heatmap(const Table& table, const std::string& title, const std::string& subtitle,
                   const Path& path) {
  plot::Heatmap map;
  map.rows = table.values.size(0);
  map.columns = table.values.size(1);
  map.values = doubles(table.values.contiguous());
  map.row_labels = table.rows;
  map.column_labels = table.columns;
  map.row_axis = table.row + " (rows)";
  map.column_axis = table.column + " (columns)";
  map.title = title;
  map.subtitle = subtitle;
  const bool has_negative =
      std::any_of(map.values.begin(), map.values.end(), [](double value) { return value < 0; });
  if (has_negative) map.colours = plot::ColourMap::blue_orange;
  map.colour_bar_name = table.unit.empty() ? table.name : table.unit;
  plot::write_picture(plot::render(map), path);
  print("wrote %s\n", path.c_str());
}

void check_file(const char* option, const Path& path, const ModelOptions& read) {
  std::error_code ignored;
  const auto same = [&](const Path& a, const Path& b) {
    return std::filesystem::equivalent(a, b, ignored);
  };
  if (same(path, read.checkpoint) || same(path, read.adapters) ||
      (std::filesystem::exists(path, ignored) && same(path.parent_path(), read.model))) {
    throw Error(std::string(option) + " " + in_quotes(path.string()) +
                " is a file of the model that is read: name another.");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(std::string(option) + " " + in_quotes(path.string()) +
                " is a folder: name a file.");
  }
  const Path folder = path.parent_path();
  if (!folder.empty() && std::filesystem::exists(folder, ignored) &&
      !std::filesystem::is_directory(folder, ignored)) {
    throw Error(std::string(option) + " " + in_quotes(path.string()) + ": " +
                in_quotes(folder.string()) + " is no folder.");
  }
}

void check_files(const FileOptions& options, const ModelOptions& read) {
  check_file("--json", options.json, read);
  check_file("--npy", options.npy, read);
}

void write_files(const Findings& findings, const FileOptions& options) {
  if (!options.json.empty()) {
    Json json = {{"command", findings.command}};
    for (const auto& [name, value] : findings.about) json[name] = value;
    for (const auto& [name, value] : findings.numbers) json[name] = value;
    for (const Table& table : findings.tables) json["tables"].push_back(json_of(table));
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file_atomically("--json", options.json, std::as_bytes(std::span<const char>(text)));
    print("wrote %s\n", options.json.c_str());
  }
  if (!options.npy.empty()) {
    write_npy(options.npy, findings.tables.front().values.contiguous());
    print("wrote %s\n", options.npy.c_str());
  }
}

}  // namespace tapestry::command

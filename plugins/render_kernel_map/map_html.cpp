#include "../shared/table_text.hpp"
#include "differences.hpp"
#include "map_assets.hpp"
#include "map_text.hpp"

#include <adpipe/render/text.hpp>

#include <fmt/format.h>

namespace adpipe::kernel_map {

namespace {

using render::xml_text;
using tables::one_decimal_us;

const char* row_class(Verdict verdict) {
    switch (verdict) {
        case Verdict::same: return "same";
        case Verdict::launch: return "launch";
        case Verdict::parameters: return "parameters";
        case Verdict::other_kernel: return "other-kernel";
        case Verdict::only_left:
        case Verdict::only_right: return "alone";
    }
    return "";
}

double percent_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// A share as a number and as a bar; a bar is an attribute of SVG, since the page's policy lets no style in.
std::string share_html(double percent) {
    return fmt::format(
        "<td class=\"n\">{0:.1f} %<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
        "aria-hidden=\"true\">"
        "<rect width=\"{0:.1f}\" height=\"8\"/></svg></td>",
        percent);
}

void add_fact(std::string& out, std::string_view what, std::string_view value) {
    out.append("<dt>").append(xml_text(what)).append("</dt><dd>").append(xml_text(value)).append("</dd>");
}

std::string kernel_html(const Side& side, std::size_t index) {
    if (index == no_cell) return "<td class=\"none\">–</td><td></td><td></td>";
    const Cell& cell = side.cells[index];
    std::string out = "<td class=\"side\"><details><summary>";
    out.append(xml_text(kernel_title(side, cell))).append("</summary><dl>");
    add_fact(out, "kernel", cell.full_name);
    add_fact(out, "position", std::to_string(cell.position));
    add_fact(out, "library", cell.name.library.empty() ? "not known" : cell.name.library);
    if (!cell.op.empty()) add_fact(out, "operator", cell.op);
    for (const KernelParameter& parameter : cell.name.parameters) add_fact(out, parameter.name, parameter.value);
    add_fact(out, "grid", grid_text(cell));
    add_fact(out, "threads", block_text(cell));
    add_fact(out, "ran",
             fmt::format("{} times, {} to {} µs", cell.time.count, one_decimal_us(static_cast<double>(cell.time.minimum)),
                         one_decimal_us(static_cast<double>(cell.time.maximum))));
    out += "</dl></details>";
    return out + fmt::format("</td><td class=\"n\">{}</td>", one_decimal_us(cell.time.mean())) +
           share_html(percent_of(static_cast<double>(cell.time.total), static_cast<double>(side.total)));
}

std::string row_html(const KernelMap& map, const Row& row) {
    const Cell& any = row.left != no_cell ? map.left.cells[row.left] : map.right.cells[row.right];
    std::string out = fmt::format("<tr class=\"{}\"><td class=\"part\">{}</td>", row_class(row.verdict), xml_text(any.part));
    out += kernel_html(map.left, row.left) + kernel_html(map.right, row.right);
    out += fmt::format("<td class=\"what\"><span class=\"verdict\">{}{}</span>", verdict_text(row.verdict), row.certain ? "" : " ?");
    if (!row.differences.empty()) {
        out += "<ul>";
        for (const std::string& difference : row.differences) out.append("<li>").append(xml_text(difference)).append("</li>");
        out += "</ul>";
    }
    return out + "</td></tr>\n";
}

std::string sum_html(const KernelMap& map) {
    const auto cells = [](const Side& side) {
        return fmt::format("<td>one layer</td><td class=\"n\">{}</td><td class=\"n\">100.0 %</td>", one_decimal_us(side.layer_sum.mean()));
    };
    return "<tr class=\"sum\"><td></td>" + cells(map.left) + cells(map.right) + "<td></td></tr>\n";
}

std::string categories_html(const KernelMap& map) {
    std::string out =
        "<h3>By category</h3>\n<table class=\"small\"><thead><tr><th>category</th><th class=\"n\">left, µs a "
        "layer</th><th "
        "class=\"n\">share</th>"
        "<th class=\"n\">right, µs a layer</th><th class=\"n\">share</th></tr></thead><tbody>\n";
    for (const CategoryLine& line : by_category(map)) {
        out += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td>{}<td class=\"n\">{}</td>{}</tr>\n", line.category,
                           one_decimal_us(line.left), share_html(percent_of(line.left, layer_mean(map.left))), one_decimal_us(line.right),
                           share_html(percent_of(line.right, layer_mean(map.right))));
    }
    return out + "</tbody></table>\n";
}

std::string section_html(const KernelMap& map, std::size_t number) {
    const std::string left = xml_text(side_title(map.left));
    const std::string right = xml_text(side_title(map.right));
    std::string out = fmt::format("<section><h2>{} | {}</h2>\n<p>{}.</p>\n", left, right, xml_text(counts_line(map)));
    out += fmt::format("<input type=\"checkbox\" id=\"hide{0}\"> <label for=\"hide{0}\">only what differs</label>\n", number);
    out += fmt::format(
        "<table><thead><tr><th>part</th><th>{}</th><th class=\"n\">µs</th><th class=\"n\">share</th><th>{}</th><th "
        "class=\"n\">µs</th>"
        "<th class=\"n\">share</th><th>difference</th></tr></thead><tbody>\n",
        left, right);
    for (const Row& row : map.rows) out += row_html(map, row);
    out += sum_html(map) + "</tbody></table>\n";
    if (any_uncertain(map)) out += fmt::format("<p>{}.</p>\n", uncertain_note);
    return out + categories_html(map) + "</section>\n";
}

}  // namespace

std::string map_html(const std::vector<KernelMap>& maps) {
    const std::string title = xml_text("Kernel map of " + traces_line(maps.front()));
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out +=
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
        "'none'; style-src ";
    out += shared::policy_hash(assets::map_style.sha256) +
           "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out.append("<title>").append(title).append("</title>\n<style>").append(assets::map_style.text).append("</style>\n</head>\n<body>\n");
    out.append("<h1>").append(title).append("</h1>\n");
    out +=
        "<p>Times are means in microseconds over layers and steps; shares are of the time of one layer. A kernel's "
        "name opens what is known of it.</p>\n";
    for (std::size_t i = 0; i < maps.size(); ++i) out += section_html(maps[i], i);
    return out + "</body>\n</html>\n";
}

}  // namespace adpipe::kernel_map

#include "page.hpp"

#include "web_assets.hpp"

#include <adpipe/render/labels.hpp>
#include <adpipe/render/text.hpp>

namespace adpipe::render_html {

namespace {

/// JSON inside of a script element: no text in it may look like the element's end.
std::string json_in_html(const nlohmann::ordered_json& json) {
    const std::string text = json.dump();
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '<') out += "\\u003c";
        else if (c == '>') out += "\\u003e";
        else if (c == '&') out += "\\u0026";
        else out += c;
    }
    return out;
}

void append_script(std::string& out, const assets::Asset& script) { out.append("<script>").append(script.text).append("</script>\n"); }

}  // namespace

std::string page(const PageInput& input) {
    std::string out;
    out.reserve(assets::d3.text.size() + assets::dagre.text.size() + 300000);
    out += "<!DOCTYPE html>\n<html lang=\"en\" data-theme=\"light\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; script-src " +
           shared::policy_hash(assets::d3.sha256) + " " + shared::policy_hash(assets::dagre.sha256) + " " +
           shared::policy_hash(assets::page_script.sha256) + "; style-src " + shared::policy_hash(assets::page_style.sha256) + "\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
    out += render::xml_text(render::layer_title(input.layers.front(), input.pipeline)) + "</title>\n<style>";
    out.append(assets::page_style.text).append("</style>\n</head>\n<body>\n").append(assets::page_body.text);
    out += "<script type=\"application/json\" id=\"page-data\">" + json_in_html(page_data(input)) + "</script>\n";
    append_script(out, assets::d3);
    append_script(out, assets::dagre);
    append_script(out, assets::page_script);
    return out + "</body>\n</html>\n";
}

}  // namespace adpipe::render_html

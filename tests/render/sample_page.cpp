// Writes the pages that html_test.py opens: sample_page DIRECTORY.

#include "sample.hpp"

#include <fstream>
#include <iostream>

using namespace adpipe;
using namespace adpipe::testing;

namespace {

void write(const std::filesystem::path& file, const RecordingContext& context) {
    std::ofstream(file, std::ios::binary) << context.files.begin()->second;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: sample_page DIRECTORY\n";
        return 2;
    }
    const std::filesystem::path directory = argv[1];
    const Sample sample = make_sample();
    auto both = sample.context();
    both->selection.layers = {0, 1};
    renderer("render.html")->run(*both);
    write(directory / "layers.html", *both);
    write(directory / "no_trace.html", *rendered("render.html", sample, {}, false));
    const std::string hostile = "</script><script>window.broken=1</script><img src=x onerror=window.broken=2>\"'&\xff漢";
    write(directory / "hostile.html", *rendered("render.html", make_sample(hostile, hostile)));
}

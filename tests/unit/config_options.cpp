// What a config may say for an option.
#include "config/option_decode.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace adpipe;

namespace {

struct Options {
    bool flag = false;
    std::int64_t count = 3;
    double ratio = 0.5;
    std::string text;
    std::string choice = "shape";
    std::filesystem::path path;
    std::vector<std::string> formats = {"dot"};
    std::vector<std::filesystem::path> paths;
};

constexpr OptionDecl flag = option<&Options::flag>("flag", "");
constexpr OptionDecl count = option<&Options::count>("count", "", {.minimum = 1, .maximum = 8});
constexpr OptionDecl ratio = option<&Options::ratio>("ratio", "", {.minimum = 0});
constexpr OptionDecl text_setting = option<&Options::text>("text", "");
constexpr OptionDecl choice = option<&Options::choice>("choice", "", {.choices = "none|shape"});
constexpr OptionDecl path = option<&Options::path>("path", "");
constexpr OptionDecl formats = option<&Options::formats>("formats", "", {.choices = "dot|png|svg"});
constexpr OptionDecl paths = option<&Options::paths>("paths", "");

Setting setting(std::vector<std::string> values, bool quoted = false, Setting::Shape shape = Setting::Shape::single) {
    Setting made;
    made.shape = shape;
    made.base = "/base";
    for (std::string& value : values) made.values.push_back({std::move(value), quoted, {}});
    return made;
}

/// The value, or the message where there is none.
std::variant<std::monostate, OptionValue, std::string> decoded(const OptionDecl& option, const Setting& given) {
    std::vector<Diagnostic> diagnostics;
    auto value = decode_option(option, given, diagnostics);
    CHECK(value.has_value() == diagnostics.empty());
    if (value) return std::move(*value);
    REQUIRE(diagnostics.size() == 1);
    return diagnostics[0].code + ": " + diagnostics[0].message;
}

bool gives(const OptionDecl& option, const Setting& given, const OptionValue& expected) {
    const auto result = decoded(option, given);
    return std::holds_alternative<OptionValue>(result) && std::get<OptionValue>(result) == expected;
}

std::string refusal(const OptionDecl& option, const Setting& given) {
    const auto result = decoded(option, given);
    return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : std::string{"accepted"};
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("values of each type") {
    CHECK(gives(flag, setting({"true"}), true));
    CHECK(gives(count, setting({"8"}), std::int64_t{8}));
    CHECK(gives(ratio, setting({"2"}), 2.0));
    CHECK(gives(text_setting, setting({"2"}), std::string{"2"}));
    CHECK(gives(text_setting, setting({""}, true), std::string{}));
    CHECK(gives(choice, setting({"none"}), std::string{"none"}));
    CHECK(gives(path, setting({"a/../b"}), std::string{"/base/b"}));
    CHECK(gives(path, setting({"/abs"}), std::string{"/abs"}));
    CHECK(gives(formats, setting({"png"}), Texts{"png"}));
    CHECK(gives(formats, setting({"png", "svg"}, false, Setting::Shape::list), Texts{"png", "svg"}));
    CHECK(gives(formats, setting({}, false, Setting::Shape::list), Texts{}));
    CHECK(gives(paths, setting({"a", "/b"}, false, Setting::Shape::list), Texts{"/base/a", "/b"}));
}

TEST_CASE("values that do not fit say what was expected and what was found") {
    CHECK(refusal(flag, setting({"yes"})) == "ADP-CFG-013: option 'flag' takes true or false; found 'yes'");
    CHECK(refusal(flag, setting({"true"}, true)) == "ADP-CFG-013: option 'flag' takes true or false; found the text 'true'");
    CHECK(refusal(count, setting({"010"})) == "ADP-CFG-013: option 'count' takes an integer; found '010'");
    CHECK(refusal(count, setting({"3.0"})) == "ADP-CFG-013: option 'count' takes an integer; found '3.0'");
    CHECK(refusal(count, setting({"9"})) == "ADP-CFG-014: option 'count' must be from 1 to 8; found 9");
    CHECK(refusal(count, setting({"3"}, true)) == "ADP-CFG-013: option 'count' takes an integer; found the text '3'");
    CHECK(refusal(ratio, setting({"-0.5"})) == "ADP-CFG-014: option 'ratio' must be at least 0; found -0.5");
    CHECK(refusal(ratio, setting({"nan"})) == "ADP-CFG-013: option 'ratio' takes a number; found 'nan'");
    CHECK(refusal(choice, setting({"shapes"})) == "ADP-CFG-015: option 'choice' is one of none, shape; found 'shapes'");
    CHECK(refusal(formats, setting({"dot", "gif"}, false, Setting::Shape::list)) ==
          "ADP-CFG-015: option 'formats' is one of dot, png, svg; found 'gif'");
    CHECK(refusal(path, setting({""}, true)) == "ADP-CFG-013: option 'path' takes a path; found an empty text");
    CHECK(refusal(path, setting({"~/dumps"})).find("ADP-CFG-013") == 0);
    CHECK(refusal(count, setting({"1"}, false, Setting::Shape::list)) == "ADP-CFG-013: option 'count' takes an integer; found a list");
    CHECK(refusal(text_setting, setting({}, false, Setting::Shape::map)) == "ADP-CFG-013: option 'text' takes a text; found a map");
    CHECK(refusal(text_setting, setting({}, false, Setting::Shape::missing)) ==
          "ADP-CFG-013: option 'text' takes a text; a value is missing");
}

TEST_CASE("the command line writes lists with commas") {
    Setting given = setting({"[dot, svg]"});
    given.may_be_split = true;
    CHECK(gives(formats, given, Texts{"dot", "svg"}));
    given.values[0].text = "png,dot";
    CHECK(gives(formats, given, Texts{"png", "dot"}));
    CHECK(gives(text_setting, given, std::string{"png,dot"}));
    given.values[0].text = "[]";
    CHECK(gives(formats, given, Texts{}));
}

TEST_CASE("unknown and missing options of a stage") {
    static constexpr OptionDecl table[] = {option<&Options::count>("count", "How many.", {.required = true}),
                                           option<&Options::text>("text", "")};
    static constexpr StageDecl stage{sizeof(StageDecl), "render.test", "", "", {}, {}, table, nullptr};
    StageConfig config;
    config.stage.text = "render.test";
    config.settings.push_back(setting({"x"}));
    config.settings[0].name.text = "texd";
    std::vector<Diagnostic> diagnostics;
    CHECK(decode_options(stage, config, diagnostics).empty());
    REQUIRE(diagnostics.size() == 2);
    CHECK(diagnostics[0].code == "ADP-CFG-012");
    CHECK(diagnostics[0].notes == Texts{"did you mean 'text'?"});
    CHECK(diagnostics[1].message == "stage 'render.test' needs the option 'count': How many.");
}

TEST_CASE("decoded values reach the options struct") {
    Options options;
    const GivenOption given[] = {{&count, std::int64_t{7}}, {&path, std::string{"/x"}}, {&formats, Texts{"svg"}}};
    for (const GivenOption& one : given) one.decl->assign(&options, one.value);
    CHECK(options.count == 7);
    CHECK(options.path == "/x");
    CHECK(options.formats == Texts{"svg"});
    CHECK(std::get<std::int64_t>(count.default_value()) == 3);
}

TEST_CASE("options describe themselves") {
    CHECK(option_range_text(count) == "from 1 to 8");
    CHECK(option_range_text(text_setting).empty());
    CHECK(option_choices(formats) == Texts{"dot", "png", "svg"});
    CHECK(option_type_text(OptionType::path_list) == "list of paths");
}

#include "window_annotation.hpp"

namespace adpipe::window {

void AnnotationWindow::run(Context& context) {
    choose_and_publish(context, find_range_steps(context.in_shared<Trace>("trace"), options_.range), options_);
}

}  // namespace adpipe::window

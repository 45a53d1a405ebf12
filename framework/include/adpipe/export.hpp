#pragma once

/// Marks what libadpipe shows to plugins; everything else is built with hidden visibility.
#define ADPIPE_EXPORT [[gnu::visibility("default")]]

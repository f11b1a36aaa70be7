//! The scripts, each on the keys of one part.

use std::sync::LazyLock;

use plumbing::Script;

macro_rules! script {
    ($name:ident, $called:literal, $file:literal) => {
        pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new($called, include_str!(concat!("lua/", $file))));
    };
}

script!(REPORT, "steps.report", "report.lua");
script!(FREEZE, "steps.freeze", "freeze.lua");
script!(ERASED, "steps.erased", "erased.lua");
script!(OUTBOX, "steps.outbox", "outbox.lua");
script!(POSTED, "steps.posted", "posted.lua");
script!(POSITION, "steps.position", "position.lua");

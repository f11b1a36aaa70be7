use domain::{Day, Uid};

/// The name of a user-day's entry, `User:Steps:20260607:1001`: how operators ask for it and are shown it, whatever
/// the layout of the engine below.
pub fn key(uid: Uid, day: Day) -> String {
    format!("User:Steps:{day}:{uid}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_model_of_the_spec() {
        assert_eq!(key(Uid(1001), "2026-06-07".parse().unwrap()), "User:Steps:20260607:1001");
    }
}

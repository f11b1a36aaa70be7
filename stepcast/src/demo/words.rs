//! Numbers and texts as a person reads them.

use indicatif::HumanCount;

/// A number with a comma between its thousands.
pub(super) fn number(count: u64) -> String {
    HumanCount(count).to_string()
}

/// So many of a thing whose plural has an `s`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    format!("{} {thing}{}", number(count), if count == 1 { "" } else { "s" })
}

/// A text in lines of at most `width` characters, cut between words; a longer word has a line of its own.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_words() {
        assert_eq!(
            [counted(0, "user"), counted(1, "user"), counted(4_039, "user")],
            ["0 users", "1 user", "4,039 users"]
        );
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(wrapped("you walked 7,012 steps", 10), ["you walked", "7,012", "steps"]);
        assert_eq!(wrapped("你今天走了 7012 步。", 80), ["你今天走了 7012 步。"]);
        assert_eq!(wrapped("abcdefgh ij", 4), ["abcdefgh", "ij"]);
        assert!(wrapped("  ", 4).is_empty());
    }
}

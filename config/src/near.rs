/// The one of `known` that was probably meant by `given`: the nearest, if at most a third of it is mistyped.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    if given.len() > LONGEST {
        return None;
    }
    let allowed = (given.len() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&given, &name.chars().collect::<Vec<_>>()), name))
        .filter(|&(distance, name)| distance <= allowed && distance < name.len())
        .min()
        .map(|(_, name)| name)
}

/// Settings have short names; a longer text is no slip of the pen.
const LONGEST: usize = 40;

/// Levenshtein's distance, with a swap of neighbours as one step (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognized_and_other_words_are_not() {
        let known = ["chunk", "attempts", "ladder", "lease"];
        assert_eq!(nearest("chunks", known), Some("chunk"));
        assert_eq!(nearest("attemtps", known), Some("attempts"));
        assert_eq!(nearest("Lease", known), Some("lease"));
        for other in ["", "c", "colour", &"chunk".repeat(50)] {
            assert_eq!(nearest(other, known), None, "{other}");
        }
    }

    #[test]
    fn distances() {
        let d = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!([d("kitten", "sitting"), d("ab", "ba"), d("", "abc"), d("abc", "abc")], [3, 1, 3, 0]);
    }
}

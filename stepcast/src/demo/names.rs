use super::random::Random;

const EN: [&str; 24] = [
    "Ada", "Ben", "Clara", "Dev", "Ella", "Finn", "Grace", "Hana", "Isaac", "Jonas", "Kavya", "Liam", "Maya",
    "Noah", "Olive", "Priya", "Quinn", "Rosa", "Sam", "Tara", "Uma", "Victor", "Wren", "Zoe",
];
const EN_FAMILY: [&str; 16] = [
    "Adams", "Bauer", "Clarke", "Gurung", "Harris", "Iyer", "Kelly", "Lopez", "Mehta", "Novak", "Patel",
    "Reid", "Schmidt", "Tan", "Walker", "Young",
];
const HANS: [&str; 16] = [
    "伟", "芳", "娜", "敏", "静", "强", "磊", "洋", "婷", "浩", "欣怡", "子轩", "雨桐", "梓涵", "佳怡",
    "俊杰",
];
const HANS_FAMILY: [&str; 12] = ["王", "李", "张", "刘", "陈", "杨", "赵", "黄", "周", "吴", "徐", "孙"];
const HANT: [&str; 16] = [
    "志明", "淑芬", "家豪", "美玲", "俊傑", "雅婷", "怡君", "建宏", "詠琪", "嘉欣", "子軒", "佩珊", "偉倫",
    "曉雯", "宗翰", "筱涵",
];
const HANT_FAMILY: [&str; 12] = ["陳", "林", "黃", "張", "李", "王", "吳", "劉", "蔡", "楊", "許", "鄭"];

/// A made-up name as it is written in `language`.
pub(super) fn draw(random: &mut Random, language: &str) -> String {
    match language {
        "zh-Hans" => format!("{}{}", random.one_of(&HANS_FAMILY), random.one_of(&HANS)),
        "zh-Hant" => format!("{}{}", random.one_of(&HANT_FAMILY), random.one_of(&HANT)),
        _ => format!("{} {}", random.one_of(&EN), random.one_of(&EN_FAMILY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_the_language_is() {
        for uid in 0..500 {
            let mut random = Random::of_user(uid);
            assert!(draw(&mut random, "en").split(' ').all(|part| part.len() > 1 && part.is_ascii()));
            for language in ["zh-Hans", "zh-Hant"] {
                let name = draw(&mut random, language);
                assert!((2..=3).contains(&name.chars().count()) && !name.is_ascii(), "{name}");
            }
        }
    }
}

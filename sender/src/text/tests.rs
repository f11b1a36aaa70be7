use super::*;

fn texts(of: &[(&str, &str, &str)], fallback: &str) -> Result<Texts, TextError> {
    let by_language = of.iter().map(|(l, t, b)| (l.parse().unwrap(), ((*t).into(), (*b).into()))).collect();
    Texts::new(&by_language, &fallback.parse().unwrap())
}

fn values(name: &str, steps: u32) -> Values<'_> {
    Values { name, steps, day: "20260607".parse().unwrap() }
}

fn render(texts: &Texts, language: &str, steps: u32) -> (String, String) {
    texts.render(&language.parse().unwrap(), values("Ada", steps)).unwrap()
}

/// The error's text; the body is at fault in each.
fn fault(body: &str) -> String {
    let error = texts(&[("en", "Today", body)], "en").unwrap_err().to_string();
    assert!(error.starts_with("text en, body: "), "{error}");
    error
}

#[test]
fn every_variable_can_be_used() {
    let texts = texts(
        &[(
            "en",
            "{{ steps_grouped }} steps",
            "{% if name %}{{ name }}, {% endif %}{{ steps }} on {{ day }}",
        )],
        "en",
    )
    .unwrap();
    assert_eq!(render(&texts, "en", 12_345), ("12,345 steps".into(), "Ada, 12345 on 20260607".into()));
    let nameless = texts.render(&Language::default(), values("", 65_536)).unwrap();
    assert_eq!(nameless, ("65,536 steps".into(), "65536 on 20260607".into()));
}

#[test]
fn a_name_is_data_and_nothing_is_escaped() {
    let texts = texts(&[("en", "Today", "{{ name }}")], "en").unwrap();
    let odd = "<b>A&B</b> {{ steps }} \"'";
    let (_, body) = texts.render(&Language::default(), values(odd, 1)).unwrap();
    assert_eq!(body, odd);
}

#[test]
fn a_language_falls_back_by_its_shorter_forms_in_any_case() {
    let texts =
        texts(&[("en", "t", "english"), ("zh", "t", "zh"), ("zh-Hant", "t", "zh-Hant")], "en").unwrap();
    for (asked, got) in [
        ("zh-Hant-TW", "zh-Hant"),
        ("ZH-HANT", "zh-Hant"),
        ("zh-Hans-CN", "zh"),
        ("zh", "zh"),
        ("EN-gb", "english"),
        ("fr-CA", "english"),
    ] {
        assert_eq!(render(&texts, asked, 1).1, got, "{asked}");
    }
}

#[test]
fn the_language_to_fall_back_to_must_be_there() {
    let missing = texts(&[("en", "t", "b")], "de").unwrap_err();
    assert_eq!(missing.to_string(), "text de: it is the language to fall back to, and has none");
    assert!(texts(&[], "en").is_err());
    assert!(texts(&[("en-US", "t", "b")], "EN-us").is_ok());
}

#[test]
fn one_language_has_one_text() {
    let twice = texts(&[("pt-BR", "t", "b"), ("pt-br", "t", "b")], "pt-BR").unwrap_err();
    assert!(matches!(twice, TextError::Twice(_)), "{twice}");
}

#[test]
fn templates_at_fault_are_refused_at_the_start() {
    assert!(fault("{{ steps ").contains("syntax error"));
    assert!(fault("{{ rank }}").contains("unknown variable \"rank\""));
    // in a branch that no sample takes
    assert!(fault("{% if steps == 4711 %}{{ stesp }}{% endif %}").contains("unknown variable \"stesp\""));
    assert!(fault("{{ steps | nosuch }}").contains("unknown filter"));
    assert!(fault("{{ name.first.letter }}").contains("undefined value"));
    let title = texts(&[("en", "ok", "ok"), ("de", "{{ x }}", "ok")], "en").unwrap_err().to_string();
    assert!(title.starts_with("text de, title: "), "{title}");
}

#[test]
fn work_is_bounded() {
    let bomb = "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}";
    assert!(fault(bomb).contains("fuel"), "{}", fault(bomb));
    fault("{{ 'x' * 1000000000 }}");
    assert!(fault(&"x".repeat(20_001)).contains("20000 bytes"));
}

#[test]
fn a_text_that_comes_out_too_long_is_an_error() {
    let long = |title: usize, body: usize| texts(&[("en", &"é".repeat(title), &"é".repeat(body))], "en");
    assert!(long(200, 2_000).is_ok());
    assert_eq!(
        long(201, 1).unwrap_err().to_string(),
        "text en, title: 201 characters come out, 200 are the most"
    );
    assert_eq!(
        long(1, 2_001).unwrap_err().to_string(),
        "text en, body: 2001 characters come out, 2000 are the most"
    );

    let named = texts(&[("en", "{{ name }}", "b")], "en").unwrap();
    let too_long = named.render(&Language::default(), values(&"n".repeat(201), 1)).unwrap_err();
    assert!(matches!(too_long, TextError::TooLong { part: Part::Title, length: 201, .. }), "{too_long}");
}

#[test]
fn an_error_at_render_does_not_repeat_the_name() {
    let texts = texts(&[("en", "t", "{% if name == 'Zoe' %}{{ name | int }}{% endif %}ok")], "en").unwrap();
    let error = texts.render(&Language::default(), values("Zoe", 1)).unwrap_err().to_string();
    assert!(!error.contains("Zoe") && error.contains("line 1"), "{error}");
}

#[test]
fn debug_shows_no_name() {
    let values = values("Zoe", 4_711);
    let said = Said::of(values);
    for shown in [format!("{values:?}"), format!("{:#?}", said.downcast_object_ref::<Said>().unwrap())] {
        assert!(shown.contains("4711") && !shown.contains("Zoe"), "{shown}");
    }
    assert!(!format!("{said:?}").contains("Zoe"), "{said:?}");
}

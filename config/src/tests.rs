//! The configuration as a whole, from its three layers to the checked settings.

use std::{ffi::OsString, fs, net::SocketAddr, path::Path};

use domain::NoSteps;
use plumbing::Span;
use secrecy::ExposeSecret;
use sender::channel::Kind;

use super::*;

mod rubbish;

/// The example of the Standard Webhooks specification.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn load(text: &str, variables: &[(&str, &str)]) -> Result<Config, Faults> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stepcast.toml");
    fs::write(&file, text).unwrap();
    Config::load(Some(&file), pairs(variables))
}

fn pairs(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    variables.iter().map(|&(name, value)| (name.into(), value.into())).collect()
}

/// The settings that are at fault, in the order of the messages.
fn faulty(text: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let faults = load(text, variables).unwrap_err();
    assert_eq!(faults.to_string().lines().count(), faults.0.len(), "one line each");
    faults.0.into_iter().map(|fault| fault.setting).collect()
}

fn webhook(config: &Config, name: &str) -> sender::channel::WebhookSettings {
    match &config.channels[&name.parse().unwrap()].kind {
        Kind::Webhook(webhook) => webhook.clone(),
        Kind::Stub(_) => panic!("a stub"),
    }
}

#[test]
fn the_defaults_hold() {
    let config = Config::load(None, []).unwrap();
    assert_eq!((config.data.as_path(), config.rehearsal), (Path::new("stepcast-data"), false));
    assert_eq!(config.log, Log { format: LogFormat::Text, level: "info,lapin=error".into() });
    let listen: SocketAddr = "127.0.0.1:7022".parse().unwrap();
    assert_eq!(config.ops, Ops { listen, key_file: None });
    assert_eq!((config.scheduler.shards.get(), config.scheduler.publish_at_once), (4, 2_000));
    assert_eq!(config.scheduler.prepare_ahead, Span::seconds(600));
    assert_eq!((config.sender.chunk, config.sender.batches_at_once, config.sender.attempts), (100, 4, 5));
    assert_eq!(config.sender.ladder, [1, 5, 30, 120, 600, 1_800].map(Span::seconds));
    let [nightly] = config.campaigns.as_slice() else { panic!("one campaign") };
    assert_eq!(nightly.campaign.name.as_str(), "nightly");
    assert_eq!(nightly.campaign.line, "0 22 * * *".parse().unwrap());
    assert_eq!((nightly.campaign.window, nightly.campaign.no_steps), (60, NoSteps::Skip));
    assert_eq!(nightly.campaign.channels, ["stub".parse().unwrap()]);
    assert_eq!(nightly.texts.keys().map(|l| l.as_str()).collect::<Vec<_>>(), ["en", "zh-Hans", "zh-Hant"]);
    assert_eq!(nightly.fallback.as_str(), "en");
    let stub = &config.channels[&"stub".parse().unwrap()];
    assert!(matches!(&stub.kind, Kind::Stub(s) if s.latency == Span::millis(20) && s.error_rate == 0.0));
    assert!(stub.quota.per_second.is_none() && config.warnings.is_empty());
}

#[test]
fn an_empty_file_and_other_variables_change_nothing() {
    let defaults: Vec<_> = Config::load(None, []).unwrap().show().collect();
    let same: Vec<_> = load("", &[("PATH", "/bin"), ("STEPCASTLE", "1")]).unwrap().show().collect();
    assert_eq!(defaults, same);
}

#[test]
fn three_faults_give_three_messages() {
    let text = "[sender]\nchunk = 0\natempts = 3\n[campaigns.nightly]\ncron = '61 22 * * *'\n";
    let faults = load(text, &[]).unwrap_err();
    let lines: Vec<_> = faults.to_string().lines().map(str::to_owned).collect();
    let [cron, unknown, chunk] = lines.as_slice() else { panic!("{lines:#?}") };
    assert!(
        cron.starts_with("campaigns.nightly.cron = \"61 22 * * *\": ") && cron.ends_with("toml, line 5)"),
        "{cron}"
    );
    assert!(
        unknown.starts_with("sender.atempts: there is no such setting; is sender.attempts meant? (file ")
    );
    assert!(chunk.starts_with("sender.chunk = 0: a whole number, 1 to 1,000, is wanted (file "), "{chunk}");
    assert!(chunk.ends_with("stepcast.toml, line 2)"), "{chunk}");
}

#[test]
fn faults_of_syntax_do_not_hide_the_others() {
    let text = "data = \nrehearsal = maybe\n[sender]\nchunk = 0\n";
    let faults = load(text, &[]).unwrap_err();
    let lines: Vec<_> = faults.0.iter().map(|f| (f.setting.as_str(), f.origin.to_string())).collect();
    let ends: Vec<_> = lines.iter().map(|(s, o)| (*s, o.rsplit_once(' ').unwrap().1)).collect();
    assert_eq!(ends, [("", "1"), ("", "2"), ("sender.chunk", "4")], "{faults}");
}

#[test]
fn a_file_of_faults_alone_is_told_in_full() {
    let text: String = (0..20_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(load(&text, &[]).unwrap_err().0.len(), 20_000);
}

#[test]
fn the_environment_goes_before_the_file_and_the_file_before_the_defaults() {
    let text = "[sender]\nchunk = 50\nattempts = 6\n";
    let config = load(text, &[("STEPCAST_SENDER__CHUNK", "60"), ("STEPCAST_LOG__LEVEL", "debug")]).unwrap();
    assert_eq!((config.sender.chunk, config.sender.attempts, config.sender.batches_at_once), (60, 6, 4));
    let shown: Vec<_> = config.show().collect();
    let is = |start: &str, end: &str| shown.iter().any(|line| line.starts_with(start) && line.ends_with(end));
    assert!(is("sender.chunk = 60   # environment STEPCAST_SENDER__CHUNK", ""));
    assert!(is("sender.attempts = 6   # file ", "stepcast.toml, line 3"));
    assert!(is("sender.batches_at_once = 4   # default", ""));
    assert!(is("log.level = \"debug\"   # environment STEPCAST_LOG__LEVEL", ""));
    assert!(is("ops.key_file = \"stepcast-data/ops.key\"   # default", ""));
    assert!(shown.is_sorted());
}

#[test]
fn the_file_may_be_named_by_a_variable_and_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    fs::write(&one, "data = 'one'").unwrap();
    fs::write(&two, "data = 'two'").unwrap();
    let named = |path: &Path| [(OsString::from("STEPCAST_CONFIG"), path.into())];
    assert_eq!(Config::load(None, named(&one)).unwrap().data, Path::new("one"));
    assert_eq!(Config::load(Some(&two), named(&one)).unwrap().data, Path::new("two"));
    let faults = Config::load(None, named(&folder.path().join("three"))).unwrap_err();
    assert!(faults.to_string().contains("three") && faults.0.len() == 1, "{faults}");
    assert_eq!(Config::load(Some(folder.path()), []).unwrap_err().0.len(), 1);
    fs::write(&one, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(Config::load(Some(&one), []).unwrap_err().to_string().contains("longer"));
}

#[test]
fn unknown_variables_and_keys_at_any_depth() {
    let text = "
        dat = 1
        [logg]
        [channels.stub]
        latancy = '1s'
        url = 'https://example.com'
        [channels.stub.quota]
        per_hour = 5
        [campaigns.nightly.text.en]
        titel = 'a'
    ";
    let variables = [("STEPCAST_SENDER__COLOUR", "red"), ("STEPCAST_X__Y", "1")];
    assert_eq!(
        faulty(text, &variables),
        [
            "campaigns.nightly.text.en.titel",
            "channels.stub.latancy",
            "channels.stub.quota.per_hour",
            "channels.stub.url",
            "dat",
            "logg",
            "sender.colour",
            "x"
        ]
    );
}

#[test]
fn each_kind_of_fault_is_found_with_all_the_others() {
    for (text, settings) in [
        (
            "[sender]\nattempts = 16\nladder = ['5s', '1s', 7]",
            &["sender.attempts", "sender.ladder[1]", "sender.ladder[2]"][..],
        ),
        ("[sender]\nlease = '1s'\nquota_wait = '0s'\n[channels.stub]\nlatency = '1s'", &["sender.lease"]),
        ("[sender]\nquota_wait = '1m'\nbackoff = '1h'", &["sender.longest_backoff", "sender.quota_wait"]),
        ("sender = 5\nlog = []\ndata = {}", &["data", "log", "sender"]),
        (
            "[ops]\nlisten = '0.0.0.0:7022'\n[log]\nformat = 'xml'\nlevel = 'loud'",
            &["log.format", "log.level", "ops.listen"],
        ),
        (
            "[channels.x]\n[channels.y]\nkind = 'stb'\n[channels.Z]\nkind = 'stub'",
            &["channels.Z", "channels.x.kind", "channels.y.kind"],
        ),
        (
            "[campaigns.nightly]\nwindow = 3601\nchannels = ['stub', 'fax']",
            &["campaigns.nightly.channels[1]", "campaigns.nightly.window"],
        ),
        (
            "[campaigns.nightly]\nfallback = 'fr'\n[campaigns.nightly.text.en_US]\ntitle = ''",
            &[
                "campaigns.nightly.text.en_US",
                "campaigns.nightly.text.en_US.body",
                "campaigns.nightly.text.en_US.title",
                "campaigns.nightly.text.fr",
            ],
        ),
        (
            "[campaigns.new]\nwindow = 5",
            &["campaigns.new.channels", "campaigns.new.cron", "campaigns.new.text.en"],
        ),
        (
            "[campaigns.'a b']\ncron = '0 8 * * *'\nchannels = []\ntext.en = {title = 'a', body = 'b'}",
            &["campaigns.\"a b\"", "campaigns.\"a b\".channels"],
        ),
        (
            "[channels.hook]\nkind = 'webhook'\ntimeout = '1ms'",
            &["channels.hook.secret", "channels.hook.timeout", "channels.hook.url"],
        ),
    ] {
        assert_eq!(faulty(text, &[]), settings, "{text}");
    }
}

#[test]
fn templates_and_addresses_are_tried() {
    let text = "
        [campaigns.nightly]
        text.en = { title = '{{ stepz }}', body = '{% if %}' }
        text.EN = { title = 'a', body = 'b' }
        text.fr = { title = '{{ name }}', body = '{% for i in range(10000) %}pas{% endfor %}' }
        [channels.far]
        kind = 'webhook'
        url = 'http://me:abc@example.com'
        [channels.near]
        kind = 'webhook'
        url = 'http://10.0.0.1/'
    ";
    let secrets = [("STEPCAST_CHANNELS__FAR__SECRET", SECRET), ("STEPCAST_CHANNELS__NEAR__SECRET", SECRET)];
    let faults = load(text, &secrets).unwrap_err();
    assert!(!faults.to_string().contains("abc"), "{faults}");
    let settings = [
        "campaigns.nightly.text.en",
        "campaigns.nightly.text.en.body",
        "campaigns.nightly.text.en.title",
        "campaigns.nightly.text.fr.body",
        "channels.far.url",
        "channels.near.url",
    ];
    assert_eq!(faulty(text, &secrets), settings);
}

#[test]
fn what_is_allowed_but_hardly_meant_is_warned_of() {
    let text = format!(
        "rehearsal = true\n[campaigns.nightly]\nwindow = 0\n[channels.hook]\nkind = 'webhook'\nurl = 'http://example.com/'\nsecret = '{SECRET}'"
    );
    let warnings = load(&text, &[]).unwrap().warnings;
    let settings: Vec<_> = warnings.iter().filter_map(|w| w.split([':', ' ']).next()).collect();
    assert_eq!(settings, ["channels.hook.url", "campaigns.nightly.window", "rehearsal"]);
}

#[test]
fn a_webhook_and_a_campaign_of_ones_own() {
    let text = "
        [channels.hook]
        kind = 'webhook'
        url = 'https://push.example.com/steps'
        timeout = '10s'
        quota = { per_second = 500, in_flight = 100 }
        [campaigns.morning]
        cron = '30 7 * * 1-5'
        window = 0
        channels = ['hook', 'stub']
        fallback = 'zh-Hans'
        text.zh-Hans = { title = '早', body = '{{ steps }}' }
    ";
    let config = load(text, &[("STEPCAST_CHANNELS__HOOK__SECRET", SECRET)]).unwrap();
    let hook = webhook(&config, "hook");
    assert_eq!((hook.timeout, hook.allow_private), (Span::seconds(10), false));
    assert_eq!(hook.secret.unwrap().expose_secret(), SECRET);
    let quota = &config.channels[&"hook".parse().unwrap()].quota;
    assert_eq!(
        (quota.per_second.unwrap().get(), quota.per_minute, quota.in_flight.unwrap().get()),
        (500, None, 100)
    );
    let names: Vec<_> = config.campaigns.iter().map(|c| c.campaign.name.as_str()).collect();
    assert_eq!(names, ["morning", "nightly"]);
    assert_eq!((config.campaigns[0].campaign.window, config.campaigns[0].fallback.as_str()), (0, "zh-Hans"));
    assert!(
        config.warnings[0].starts_with("campaigns.morning.window = 0: on the dot"),
        "{:?}",
        config.warnings
    );
    let shown: Vec<_> = config.show().collect();
    assert!(
        shown.contains(
            &"channels.hook.secret = (secret)   # environment STEPCAST_CHANNELS__HOOK__SECRET".into()
        )
    );
    assert!(shown.contains(&"channels.hook.allow_private = false   # default".into()), "{shown:#?}");
    assert!(shown.contains(&"campaigns.morning.no_steps = \"skip\"   # default".into()));
}

#[test]
fn a_channel_of_another_kind_forgets_the_defaults() {
    let text = format!(
        "[channels.stub]\nkind = 'webhook'\nurl = 'http://127.0.0.1:1/'\nallow_private = true\nsecret = '{SECRET}'"
    );
    let config = load(&text, &[]).unwrap();
    assert_eq!(webhook(&config, "stub").timeout, Span::seconds(15));
    assert!(config.show().all(|line| !line.contains("latency")));
    assert_eq!(faulty(&(text + "\nlatency = '1s'"), &[]), ["channels.stub.latency"]);
}

#[test]
fn a_channel_with_the_dead_letters_name_is_refused() {
    assert_eq!(
        faulty("[channels.dead]\nkind = 'stub'\nlatency = '1s'\nerror_rate = 0.0", &[]),
        ["channels.dead"]
    );
}

#[test]
fn a_secret_is_never_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook");
    fs::write(&file, format!("{SECRET}\n")).unwrap();
    let hook = "[channels.hook]\nkind = 'webhook'\nurl = 'https://a/'\n";
    let from_file = load(&format!("{hook}secret_file = {file:?}"), &[]).unwrap();
    assert_eq!(webhook(&from_file, "hook").secret.unwrap().expose_secret(), SECRET);
    let inline = load(&format!("{hook}secret = '{SECRET}'"), &[]).unwrap();
    for config in [&from_file, &inline] {
        let told = format!("{config:?} {}", config.show().collect::<String>());
        assert!(!told.contains(&SECRET[6..]));
    }
    let part = &SECRET[6..20];
    for (rest, settings) in [
        (format!("secret = '{SECRET}'\nsecret_file = {file:?}"), &["channels.hook.secret_file"][..]),
        (format!("secret = '{SECRET}=='"), &["channels.hook.secret"]),
        (format!("secret = ['{SECRET}']"), &["channels.hook.secret"]),
        (format!("secret_file = '{SECRET}'"), &["channels.hook.secret_file"]),
        (format!("secrt = '{SECRET}'"), &["channels.hook.secret", "channels.hook.secrt"]),
        (format!("secret = '{SECRET}"), &[""]),
        (format!("url = '{SECRET}'"), &["", "channels.hook.secret"]),
        (
            format!("secret = '{SECRET}'\n[ops]\nlisten = '{SECRET}'\nkey_file = ['{SECRET}']"),
            &["ops.key_file", "ops.listen"],
        ),
    ] {
        let faults = load(&format!("{hook}{rest}"), &[]).unwrap_err();
        assert_eq!(faults.0.iter().map(|f| f.setting.as_str()).collect::<Vec<_>>(), settings, "{faults}");
        assert!(!format!("{faults} {faults:?}").contains(part), "{faults}");
    }
    let variables = [
        ("STEPCAST_CHANNELS__HOOK__SECRT", SECRET),
        ("STEPCAST_SENDER__CHUNK", SECRET),
        ("STEPCAST_SENDER", SECRET),
    ];
    let faults = load("", &variables).unwrap_err().to_string();
    assert!(!faults.contains(part), "{faults}");
}

/// What stands behind `#` in the default page are settings too, and good ones.
#[test]
fn the_commented_out_settings_of_the_default_page_hold() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook");
    fs::write(&file, SECRET).unwrap();
    let lines = DEFAULTS.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if !setting.is_empty() && !setting.starts_with(' ') => setting,
        _ => line,
    });
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    // the kinds whose settings those are, and files that are there
    let text = text.replacen("kind = \"embedded\"", "kind = \"redis\"", 1);
    let text = text.replacen("kind = \"embedded\"", "kind = \"rabbitmq\"", 1);
    let text = text.replace("durability = \"wal\"", "durability = \"replicated\"");
    let ca = folder.path().join("ca.pem");
    fs::write(&ca, include_str!("engines/ca.pem")).unwrap();
    let text = text.replace("/etc/ssl/certs/redis-ca.pem", &ca.to_string_lossy());
    let text = text.replace("/etc/ssl/certs/rabbitmq-ca.pem", &ca.to_string_lossy());
    let tokens = folder.path().join("tokens");
    fs::write(&tokens, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").unwrap();
    let text = text.replace("/run/secrets/user-tokens", &tokens.to_string_lossy());
    let text = ["hook", "redis", "rabbitmq"]
        .iter()
        .fold(text, |text, secret| text.replace(&format!("/run/secrets/{secret}"), &file.to_string_lossy()));
    let config = load(&text, &[]).unwrap();
    assert!(config.shares_stores() && !config.access.token_keys().is_empty());
    assert_eq!(webhook(&config, "hook").url, "https://push.example.com/steps");
    assert_eq!(config.channels[&"stub".parse().unwrap()].quota.in_flight.unwrap().get(), 1_000);
}

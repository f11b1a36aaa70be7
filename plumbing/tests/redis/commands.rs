use plumbing::{Command, Redis, Script, StoreError};

use crate::place::{CLUSTER, SERVER, redis, word};

/// A script that no server knows yet.
fn new_script(code: &str) -> Script {
    Script::new("fresh", Box::leak(format!("-- {}\n{code}", word()).into_boxed_str()))
}

async fn many_over_all_slots_are_answered_in_order(redis: &Redis) {
    let keys: Vec<_> = (0..5_000).map(|n| redis.key(n, "x")).collect();
    let sets = keys.iter().step_by(2).enumerate().map(|(n, key)| Command::new("SET").key(key).arg(n));
    redis.write_all::<()>(sets.collect()).await.unwrap();
    let gets = keys.iter().map(|key| Command::new("GET").key(key)).collect();
    let got = redis.read_all::<Option<usize>>(gets).await.unwrap();
    let wanted: Vec<_> = (0..5_000).map(|n| (n % 2 == 0).then_some(n / 2)).collect();
    assert_eq!(got, wanted);
    assert_eq!(redis.erase().await.unwrap(), 2_500);
    assert!(redis.read_all::<i64>(Vec::new()).await.unwrap().is_empty());
}

async fn values_of_all_slots_are_read_in_order(redis: &Redis) {
    let of = |numbers: &[u64]| {
        let mut keys = redis.entry_keys("v", "n:", numbers.len());
        numbers.iter().for_each(|n| keys.push(n % 64, *n));
        keys
    };
    let all = of(&(0..1_700).collect::<Vec<_>>());
    let keys: Vec<_> = all.iter().collect();
    let value = |n: usize| [&[0xff, 0], n.to_string().as_bytes()].concat();
    let sets = keys.iter().enumerate().step_by(3).map(|(n, key)| Command::new("SET").key(key).arg(value(n)));
    redis.write_all::<()>(sets.collect()).await.unwrap();
    // one that is no string is none
    redis.write::<()>(Command::new("RPUSH").key(keys[1]).arg("x")).await.unwrap();
    let wanted: Vec<_> = (0..1_700).map(|n| (n % 3 == 0).then(|| value(n))).collect();
    assert_eq!(redis.read_values(&all).await.unwrap(), wanted);
    // the same key twice
    let twice = redis.read_values(&of(&[3, 2, 3])).await.unwrap();
    assert_eq!(twice, [Some(value(3)), None, Some(value(3))]);
    assert!(redis.read_values(&of(&[])).await.unwrap().is_empty());
    redis.erase().await.unwrap();
}

async fn a_script_that_is_not_known_is_told_once_and_run_once(redis: &Redis) {
    let script = new_script("return redis.call('INCRBY', KEYS[1], ARGV[1])");
    let other = new_script("return redis.call('APPEND', KEYS[1], ARGV[1])");
    let keys: Vec<_> = (0..300).map(|n| redis.key(n % 100, n)).collect();
    // both kinds, known nowhere, among commands that do without
    let calls = keys.iter().enumerate().map(|(n, key)| match n % 3 {
        0 => script.call(&[key]).arg(n),
        1 => other.call(&[key]).arg("abc"),
        _ => Command::new("INCRBY").key(key).arg(n),
    });
    let wanted: Vec<_> = (0..300).map(|n| if n % 3 == 1 { 3 } else { n }).collect();
    assert_eq!(redis.write_all::<usize>(calls.collect()).await.unwrap(), wanted);
    // each ran once
    let gets = keys.iter().step_by(3).map(|key| Command::new("GET").key(key)).collect();
    let wanted: Vec<_> = (0..300).step_by(3).collect();
    assert_eq!(redis.read_all::<usize>(gets).await.unwrap(), wanted);
    redis.erase().await.unwrap();
}

async fn faults_are_told_without_keys_and_values(redis: &Redis) {
    let key = redis.key("t", "secret-key");
    redis.write::<()>(Command::new("SET").key(&key).arg("secret-value")).await.unwrap();
    let error = redis.write::<i64>(Command::new("INCR").key(&key)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("127.0.0.1:") && text.contains("INCR") && !text.contains("secret"), "{text}");
    // an answer that is not of the type asked for
    let error = redis.read::<i64>(Command::new("GET").key(&key)).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    // one command of many
    let calls = vec![Command::new("GET").key(&key), Command::new("NOSUCH").key(&key)];
    let error = redis.read_all::<Option<String>>(calls).await.unwrap_err().to_string();
    assert!(error.contains("NOSUCH"), "{error}");
    // keys of two slots: on one server too
    let two = Command::new("MGET").key(redis.key(1, "x")).key(redis.key(2, "x"));
    let error = redis.read::<Vec<Option<String>>>(two).await.unwrap_err().to_string();
    assert!(error.contains("more than one slot"), "{error}");
    redis.erase().await.unwrap();
}

async fn it_is_as_the_durability_wants(redis: &Redis) {
    assert_eq!(redis.check().await.unwrap().warnings, Vec::<String>::new());
}

macro_rules! both {
    ($($name:ident),* $(,)?) => {
        mod server {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs the servers that tests/run starts"]
                async fn $name() { super::$name(&super::redis(super::SERVER)).await; }
            )*
        }
        mod cluster {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                #[ignore = "needs the servers that tests/run starts"]
                async fn $name() { super::$name(&super::redis(super::CLUSTER)).await; }
            )*
        }
    };
}

both! {
    many_over_all_slots_are_answered_in_order,
    values_of_all_slots_are_read_in_order,
    a_script_that_is_not_known_is_told_once_and_run_once,
    faults_are_told_without_keys_and_values,
    it_is_as_the_durability_wants,
}

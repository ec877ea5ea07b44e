use super::*;
use crate::auth::Scope;

/// So many, and no more today.
fn only(burst: u32) -> Option<Rate> {
    Some(Rate { burst: NonZeroU32::new(burst)?, refill: Duration::from_hours(24) })
}

fn caller(token: &str, machine: Option<&str>) -> Caller {
    Caller {
        token: token.to_owned(),
        scope: Scope::Agent,
        machine: machine.map(str::to_owned),
        name: String::new(),
        csrf: None,
    }
}

#[test]
fn every_token_has_its_bucket_and_a_shared_one_a_bucket_for_each_machine() {
    let limits = Limits::new(Rates { uploads: only(2), reads: only(1), failures: None });
    let (own, other) = (caller("a", Some("m")), caller("b", Some("n")));
    for _ in 0..2 {
        limits.upload(&own).expect("there is room");
    }
    let Err(Error::TooOften(wait_s)) = limits.upload(&own) else { panic!("the bucket is empty") };
    assert!((86_000..=86_401).contains(&wait_s), "{wait_s}");
    limits.upload(&other).expect("another bucket");
    limits.read(&own).expect("another kind");
    limits.upload_for(&own, "m").expect("it was counted before");

    let shared = caller("s", None);
    for machine in ["m", "n"] {
        for _ in 0..2 {
            limits.upload(&shared).expect("it is not known for whom");
            limits.upload_for(&shared, machine).expect("there is room");
        }
        assert!(limits.upload_for(&shared, machine).is_err());
    }
}

#[test]
fn whoever_tries_tokens_is_shut_out_and_his_neighbours_are_not() {
    let limits = Limits::new(Rates { failures: only(2), ..Rates::default() });
    let peer = |text: &str| Some(text.parse().expect("an address"));
    let (here, there) = (peer("192.0.2.1"), peer("192.0.2.2"));
    limits.was_right("good");
    for guess in ["1", "2", "3"] {
        limits.may_try(here, guess).expect("not yet");
        limits.was_wrong(here, guess);
    }
    assert!(matches!(limits.may_try(here, "4"), Err(Error::TooOften(_))));
    limits.may_try(here, "good").expect("it is known");
    limits.may_try(there, "4").expect("another address");
    limits.was_wrong(here, "good");
    assert!(limits.may_try(here, "good").is_err(), "it was revoked meanwhile");

    // One customer of an IPv6 provider.
    for guess in ["1", "2", "3"] {
        limits.was_wrong(peer(&format!("2001:db8::{guess}")), guess);
    }
    assert!(limits.may_try(peer("2001:db8::ffff:1"), "4").is_err());
    limits.may_try(peer("2001:db8:0:1::1"), "4").expect("another customer");
    limits.may_try(None, "4").expect("nobody is there");
}

#[test]
fn a_crowd_shares_one_bucket_and_memory_is_bounded() {
    let limits = Limits::new(Rates { uploads: only(1), failures: only(1), ..Rates::default() });
    let shared = caller("s", None);
    for machine in 0..2 * KEYS {
        // Those of the crowd that come too late are refused.
        let _ = limits.upload_for(&shared, &machine.to_string());
    }
    assert!(limits.uploads.as_ref().is_some_and(|buckets| buckets.limiter.len() <= KEYS + 1));
    for number in 0..2 * KEYS as u32 {
        let peer = Some(IpAddr::V4(number.into()));
        for _ in 0..2 {
            limits.was_wrong(peer, "guess");
        }
        limits.was_right(&number.to_string());
    }
    assert!(lock(&limits.shut_out).len() <= KEYS && lock(&limits.good).len() <= KEYS);
}

#[test]
fn rates_are_as_they_are_typed_and_0_is_no_limit() {
    assert_eq!(Rate::per_second(0), None);
    assert_eq!(Rate::per_minute(0), None);
    let rate = Rate::per_second(100).expect("a rate");
    assert_eq!((rate.burst.get(), rate.refill), (3_000, Duration::from_millis(10)));
    let rate = Rate::per_minute(120).expect("a rate");
    assert_eq!((rate.burst.get(), rate.refill), (120, Duration::from_millis(500)));
    for most in [Rate::per_second(u32::MAX), Rate::per_minute(u32::MAX)] {
        Buckets::new(most.expect("a rate")).take("x").expect("there is room");
    }
}

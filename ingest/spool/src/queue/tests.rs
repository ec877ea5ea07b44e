//! Torn states.
use super::*;
#[test]
fn smoke() {
    let folder = tempfile::tempdir().expect("temp");
    let open = || Queue::open(Options { segment_bytes: 100, ..Options::new(folder.path(), 10_000) }).expect("opens");
    let (mut queue, found) = open();
    assert!(found.is_clean(), "{found}");
    for n in 1..=10u64 {
        assert_eq!(queue.push(format!("entry {n}").as_bytes()).expect("fits"), n);
    }
    queue.sync().expect("sync");
    assert_eq!(queue.peek(1000, 3).expect("peek").len(), 3);
    queue.acknowledge(2).expect("ack");
    drop(queue);
    let (mut queue, found) = open();
    assert!(found.is_clean(), "{found}");
    assert_eq!(queue.len(), 8);
    assert_eq!(Queue::read_only(folder.path()).expect("ro").count(), 8);
    assert_eq!(queue.peek(10000, 30).expect("peek")[0], (3, b"entry 3".to_vec()));
    queue.acknowledge(10).expect("ack");
    assert_eq!(queue.bytes(), 0);
    assert_eq!(queue.push(b"x").expect("fits"), 11);
}

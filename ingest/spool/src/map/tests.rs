//! Torn states.
use super::*;
#[test]
fn smoke() {
    let folder = tempfile::tempdir().expect("temp");
    let open = || Map::<u64>::open(folder.path(), "m", "m/1").expect("opens");
    let (mut map, found) = open();
    assert!(found.is_clean(), "{found}");
    map.set("a", 1);
    map.set("b", 2);
    map.commit().expect("commit");
    map.remove("a");
    map.set("b", 3);
    map.commit().expect("commit");
    drop(map);
    let (mut map, found) = open();
    assert!(found.is_clean(), "{found}");
    assert_eq!(map.iter().collect::<Vec<_>>(), [("b", &3)]);
    map.compact().expect("compact");
    map.set("c", 1);
    map.commit().expect("c");
    drop(map);
    let (map, found) = open();
    assert!(found.is_clean(), "{found}");
    assert_eq!(map.iter().collect::<Vec<_>>(), [("b", &3), ("c", &1)]);
}

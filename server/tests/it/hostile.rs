//! Whatever is sent, the answer is a clear refusal or a safe result, and what is good around it is taken.
//!
//! Reports first, then batches. The limits are small here, so that little is enough to be above them.

use std::future::Future;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use flate2::{Compress, Compression, FlushCompress};
use serde_json::Value;
use server::ReportLimits;
use server::app::State;
use server::audit::Actor;
use server::auth::Scope;
use server::store::{Place, Store};

use crate::enrolment::{enroll, token};
use crate::reports::{bring, form, good, log, report, zip};
use crate::sample::{Sample, batch, machine};
use crate::world::{World, on_each_database, on_each_place};

const LIMITS: ReportLimits =
    ReportLimits { body_bytes: 1 << 20, files: 8, logs: 40, member_bytes: 1 << 20, unpacked_bytes: 3 << 20 };

/// A server with small limits, on each database.
fn on_each_strict_one<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    on_each_place(|place: Place| {
        let test = &test;
        async move {
            let store = Store::open(&place).await.expect("the database opens");
            store.migrate().await.expect("the schema fits");
            let world = World::of(State { report_limits: LIMITS, ..State::new(store) }, place).await;
            let app = world.app.clone();
            test(world).await;
            app.store.close().await;
        }
    });
}

/// Brings these files beside a good log. Only that one is taken; why the others are not.
async fn refused(world: &World, files: &[(&str, &[u8])]) -> Vec<String> {
    let good_one = log("RTX");
    let mut all = vec![("good.log", good_one.as_slice())];
    all.extend(files);
    let said = good(world, &all).await;
    assert_eq!(names(&said), ["good.log"], "{said}");
    said["refused"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|own| format!("{}: {}", own["file"], own["reason"]))
        .collect()
}

fn names(said: &Value) -> Vec<&str> {
    said["logs"].as_array().expect("a list").iter().map(|log| log["file"].as_str().unwrap_or_default()).collect()
}

/// An archive with one member that unpacks to so many MiB of nothing and is said to have this size.
fn bomb(mib: usize, said_bytes: u32) -> Vec<u8> {
    let mut deflate = Compress::new(Compression::best(), false);
    let (zeros, mut piece) = (vec![0; 1 << 20], Vec::with_capacity(64 << 10));
    // Full flushes end on whole bytes and refer to nothing before, so the piece can be repeated.
    deflate.compress_vec(&zeros, &mut piece, FlushCompress::Full).expect("memory takes it");
    let mut packed = piece.repeat(mib);
    packed.extend([3, 0]);
    let name = b"zeros.log";
    let mut archive = Vec::new();
    for (signature, central) in [(0x0403_4b50_u32, false), (0x0201_4b50, true)] {
        let start = archive.len() as u32;
        archive.extend(signature.to_le_bytes());
        archive.extend([20_u16.to_le_bytes()].concat());
        archive.extend(
            if central { [20_u16, 0, 8, 0, 0].as_slice() } else { &[0_u16, 8, 0, 0] }
                .iter()
                .flat_map(|own| own.to_le_bytes()),
        );
        for number in [0_u32, packed.len() as u32, said_bytes] {
            archive.extend(number.to_le_bytes());
        }
        archive.extend((name.len() as u16).to_le_bytes());
        if central {
            archive.extend([0; 16]);
            // The local header is the first thing in the archive.
            archive.extend(name);
            let length = archive.len() as u32 - start;
            archive.extend(0x0605_4b50_u32.to_le_bytes());
            archive.extend([0_u16, 0, 1, 1].iter().flat_map(|own| own.to_le_bytes()));
            archive.extend([length, start].iter().flat_map(|own| own.to_le_bytes()));
            archive.extend([0; 2]);
        } else {
            archive.extend([0; 2]);
            archive.extend(name);
            archive.extend(&packed);
        }
    }
    archive
}

#[test]
fn bundles_that_unpack_to_too_much_are_stopped() {
    on_each_strict_one(async |world| {
        let why = refused(&world, &[("bomb.zip", &bomb(40, 40 << 20))]).await;
        assert!(why[0].contains("bomb.zip!/zeros.log") && why[0].contains("1048576 bytes"), "{why:?}");
        // Alone it is a refusal of everything.
        let answer = report(&world, &[("bomb.zip", &bomb(40, 40 << 20))]).await;
        answer.assert_problem(422);
        assert!(answer.text().contains("bomb.zip"), "{}", answer.text());
        // Members that are small enough, and too much together.
        let part = vec![b' '; 900 << 10];
        let members: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|name| (*name, part.as_slice())).collect();
        let said = good(&world, &[("many.zip", &zip(&members))]).await;
        assert!(names(&said).len() <= 3, "{:?}", names(&said));
        assert!(said["refused"].to_string().contains("3145728 bytes"), "{}", said["refused"]);
        // In a bundle or packed in another way it stays closed.
        let nested = zip(&[("inner.zip", &bomb(40, 40 << 20))]);
        let why = refused(&world, &[("outer.zip", &nested)]).await;
        assert!(why[0].contains("a bundle inside a bundle"), "{why:?}");
        let packed = zstd::encode_all(vec![b' '; 40 << 20].as_slice(), 1).expect("memory takes it");
        let said = good(&world, &[("bomb.zst", &packed)]).await;
        assert_eq!(said["logs"][0]["counts"]["bytes"], packed.len(), "it is read as it stands");
        let mut whole = bring(Some(&token(&world, Scope::Triager).await), packed);
        whole.headers_mut().insert("content-encoding", "zstd".parse().expect("a header"));
        world.send(whole).await.assert_problem(400);
    });
}

#[test]
fn names_in_bundles_are_names_and_no_paths() {
    on_each_strict_one(async |world| {
        let own = log("RTX");
        let members =
            ["../../etc/passwd", "/etc/passwd", r"C:\Windows\x.log", "a.log", "a/./../b.log", "\u{1b}[2J\n.log"];
        let archive = zip(&members.map(|name| (name, own.as_slice())));
        let answer = report(&world, &[("../..\u{202e}/p.zip", &archive)]).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
        assert!(!answer.text().contains(['\u{1b}', '\u{202e}', '\n']), "nothing acts on a terminal");
        let said = answer.json();
        let mut found = names(&said);
        found.sort_unstable();
        let mut expected = members.map(|name| format!("../..\u{202e}/p.zip!/{name}"));
        expected.sort_unstable();
        assert_eq!(found, expected);
        // Two members and two files of one name are two logs each.
        let twins = twin_archive(&own);
        let said = good(&world, &[("x.log", &own), ("x.log", &own), ("t.zip", &twins)]).await;
        assert_eq!(
            names(&said),
            ["t.zip!/a.log", "t.zip!/b.log", "x.log", "x.log"].map(|name| name.replace("b.log", "a.log"))
        );
    });
}

/// Two members of one name, which an honest writer refuses to make.
fn twin_archive(own: &[u8]) -> Vec<u8> {
    let archive = zip(&[("a.log", own), ("b.log", own)]);
    let at: Vec<_> = (0..archive.len() - 5).filter(|at| archive[*at..].starts_with(b"b.log")).collect();
    at.into_iter().fold(archive, |mut archive, at| {
        archive[at] = b'a';
        archive
    })
}

#[test]
fn damaged_archives_are_refused_and_what_is_good_in_them_is_taken() {
    on_each_strict_one(async |world| {
        let own = log("RTX");
        let whole = zip(&[("a.log", &own), ("b.log", &own)]);
        let why = refused(&world, &[("cut.zip", &whole[..whole.len() - 30])]).await;
        assert!(why[0].contains("cut.zip") && why[0].contains("pack it again"), "{why:?}");
        let why = refused(&world, &[("no.zip", b"no zip at all"), ("head.zip", b"PK\x03\x04")]).await;
        assert_eq!(why.len(), 2, "{why:?}");
        // An encrypted member, by its flag.
        let mut locked = whole.clone();
        for (signature, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
            let at = (0..locked.len() - 4).find(|at| locked[*at..].starts_with(signature)).expect("it is there");
            locked[at + flags] |= 1;
        }
        let said = good(&world, &[("locked.zip", &locked)]).await;
        assert_eq!(names(&said), ["locked.zip!/b.log"]);
        assert!(said["refused"][0]["file"] == "locked.zip!/a.log", "{said}");
        // A wrong checksum: what was read is told, and that it broke off.
        let mut wrong = whole.clone();
        for (signature, checksum) in [(b"PK\x03\x04", 14), (b"PK\x01\x02", 16)] {
            let at = (0..wrong.len() - 4).find(|at| wrong[*at..].starts_with(signature)).expect("it is there");
            wrong[at + checksum] ^= 1;
        }
        let said = good(&world, &[("wrong.zip", &wrong)]).await;
        assert_eq!(names(&said).len(), 2);
        assert!(said["refused"][0]["reason"].as_str().is_some_and(|why| why.contains("failed to read on")), "{said}");
        // A size that is not true, 100 bytes for more.
        let said = report(&world, &[("lie.zip", &bomb(1, 100))]).await;
        assert!(said.status == StatusCode::CREATED || said.status.as_u16() == 422, "{}", said.text());
        // Thousands of members.
        let names_of: Vec<String> = (0..3_000).map(|number| format!("{number}.log")).collect();
        let members: Vec<(&str, &[u8])> = names_of.iter().map(|name| (name.as_str(), b"x\n".as_slice())).collect();
        let said = good(&world, &[("many.zip", &zip(&members))]).await;
        assert_eq!(names(&said).len(), LIMITS.logs);
        assert!(said["refused"].to_string().contains("it has 3000 members"), "{}", said["refused"]);
        assert!(said["refused"].as_array().is_some_and(|list| list.len() < 5), "few words for many members");
    });
}

#[test]
fn odd_contents_are_logs_of_which_little_is_told() {
    on_each_database(async |world| {
        let long = [vec![b'x'; 10 << 20], log("RTX")].concat();
        let binary: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let deep = "[".repeat(200_000);
        let json = format!("{{\"schema\":\"weavewatch.machine/1\",\"adapters\":{}", "[".repeat(100_000));
        let latin = [b"\xff\xfe\xfd".as_slice(), &log("RTX \u{fc}")].concat();
        let files: [(&str, &[u8]); 6] = [
            ("long.log", &long),
            ("binary.log", &binary),
            ("deep.json", deep.as_bytes()),
            ("machine.json", json.as_bytes()),
            ("latin.log", &latin),
            ("nul.log", &[0; 1_000]),
        ];
        let said = good(&world, &files).await;
        assert_eq!(names(&said).len(), 6);
        let id = said["id"].as_str().expect("an id");
        for number in 0..6 {
            for format in ["json", "markdown"] {
                let answer = world.get(&format!("/api/v1/reports/{id}?log={number}&format={format}")).await;
                assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
                assert!(answer.body.len() < 1 << 20, "{}", answer.body.len());
            }
        }
    });
}

#[test]
fn script_in_names_is_text_everywhere() {
    on_each_database(async |world| {
        let name = "<script>alert(1)</script>\u{1b}[31m|`@team`";
        let said = report(&world, &[("<img src=x>.log", &log(name))]).await;
        assert_eq!(said.status, StatusCode::CREATED, "{}", said.text());
        assert!(!said.text().contains('\u{1b}'), "{}", said.text());
        let said = said.json();
        assert_eq!(said["logs"][0]["verdict"]["render"]["name"], name);
        let id = said["id"].as_str().expect("an id");
        let markdown = world.get(&format!("/api/v1/reports/{id}?format=markdown")).await.text();
        let fenced = markdown.split("```").enumerate().filter(|(part, _)| part % 2 == 0).map(|(_, text)| text);
        for text in fenced {
            assert!(!text.contains("<script") && !text.contains("<img") && !text.contains("@team"), "{text}");
        }
        assert!(!markdown.contains('\u{1b}'), "{markdown}");
        let page = world.get(&format!("/reports/{id}")).await.text();
        assert!(!page.contains("<script>") && !page.contains("<img src=x") && page.contains("alert(1)"), "{page}");
    });
}

/// A body that comes in pieces of so many bytes.
fn in_pieces(body: &[u8], bytes: usize) -> Body {
    let pieces: Vec<_> =
        body.chunks(bytes).map(|piece| Ok::<_, std::io::Error>(Bytes::copy_from_slice(piece))).collect();
    Body::from_stream(futures::stream::iter(pieces))
}

#[test]
fn a_form_is_read_however_it_is_cut() {
    on_each_database(async |world| {
        let triager = token(&world, Scope::Triager).await;
        let (own, bundle) = (log("RTX"), zip(&[("b.log", &log("RTX B"))]));
        let long = [own.clone(), b"[2026-09-14 12:00:02.000] [WARN ] [f] noise\r\n".repeat(5_000)].concat();
        let whole = form(&[("a.log", &own), ("b.zip", &bundle), ("long.log", &long), ("empty.log", b"")]);
        let mut said = Vec::new();
        for bytes in [1, 13, 5_000, 40_000, usize::MAX] {
            let answer = world.send(bring(Some(&triager), in_pieces(&whole, bytes.min(whole.len())))).await;
            assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
            let answer = answer.json();
            said.push((answer["logs"].clone(), answer["refused"].clone()));
            let kept = world.json(&format!("/api/v1/reports/{}", answer["id"].as_str().expect("an id"))).await;
            let sizes: Vec<_> =
                kept["files"].as_array().expect("a list").iter().map(|own| own["bytes"].clone()).collect();
            assert_eq!(sizes, [own.len(), bundle.len(), long.len()]);
        }
        assert_eq!(said[0].0.as_array().map(Vec::len), Some(3));
        said.dedup();
        assert_eq!(said.len(), 1, "{said:?}");
        // What stands behind the end is no part of it, and is waited for.
        let more = [whole.as_slice(), &b" ".repeat(100_000)].concat();
        assert_eq!(world.send(bring(Some(&triager), in_pieces(&more, 10))).await.status, StatusCode::CREATED);
        // A heading without end, in small pieces: it is given up long before the size of an upload is reached.
        let heading = [&whole[..60], &b"x".repeat(200_000)].concat();
        let answer = world.send(bring(Some(&triager), in_pieces(&heading, 7))).await;
        answer.assert_problem(413);
    });
}

#[test]
fn forms_that_are_none_are_problems() {
    on_each_strict_one(async |world| {
        let triager = token(&world, Scope::Triager).await;
        let send = async |body: Vec<u8>| world.send(bring(Some(&triager), body)).await;
        let own = log("RTX");
        let whole = form(&[("a.log", &own)]);
        // Without an end: cut, and one that goes on until the limit.
        send(whole[..whole.len() - 30].to_vec()).await.assert_problem(400);
        send([whole[..60].to_vec(), vec![b'x'; 2 << 20]].concat()).await.assert_problem(413);
        let endless = Body::from_stream(futures::stream::repeat_with(|| {
            Ok::<_, std::io::Error>(Bytes::from(vec![b'-'; 64 << 10]))
        }));
        world.send(bring(Some(&triager), endless)).await.assert_problem(413);
        send(Vec::new()).await.assert_problem(400);
        send(b"--a-boundary-of-ours--\r\n".to_vec()).await.assert_problem(400);
        // A name of a part that is no name.
        let huge = String::from_utf8(whole.clone())
            .expect("text")
            .replace("name=\"file\"", &format!("name=\"{}\"", "n".repeat(900 << 10)));
        let answer = send(huge.into_bytes()).await;
        assert!([400, 422].contains(&answer.status.as_u16()), "{}", answer.text());
        assert!(answer.body.len() < 1_000);
        let other = String::from_utf8(whole.clone()).expect("text").replace("name=\"file\"", "name=\"log\"");
        let answer = send(other.into_bytes()).await;
        answer.assert_problem(422);
        assert!(answer.text().contains("a.log: the part of the form is not named file"), "{}", answer.text());
        let long = "x".repeat(5_000);
        let why = refused(&world, &[(&long, &own), ("empty.log", b"")]).await;
        assert!(why[0].contains("longer than 4096 bytes") && why[1].contains("empty"), "{why:?}");
        let many: Vec<(&str, &[u8])> = (0..9).map(|_| ("a.log", own.as_slice())).collect();
        report(&world, &many).await.assert_problem(413);
        // No form at all, and nobody's form.
        let mut plain = bring(Some(&triager), whole.clone());
        plain.headers_mut().insert("content-type", "text/plain".parse().expect("a header"));
        world.send(plain).await.assert_problem(400);
        for scope in [Scope::Reader, Scope::Agent] {
            let token = token(&world, scope).await;
            world.send(bring(Some(&token), whole.clone())).await.assert_problem(403);
        }
        world.send(bring(None, whole)).await.assert_problem(401);
        assert_eq!(world.json("/api/v1/reports").await["items"].as_array().map(Vec::len), Some(1), "the good one only");
        for id in ["..%2f..%2fetc", "0", "AAAAAAAAAAAAAAAAAAAAAA", "%00"] {
            world.get(&format!("/api/v1/reports/{id}")).await.assert_problem(404);
        }
    });
}

#[test]
fn batches_of_bad_intent_are_refused_and_store_nothing() {
    on_each_database(async |world| {
        let deep = format!(
            "{{\"schema\":\"weavewatch.batch/1\",\"machine\":\"{}\",\"agent\":\"x\",\"segments\":[{}{}]}}",
            machine(1),
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        for body in ["[".repeat(1_000_000), deep] {
            let answer = world.post(None, body).await;
            assert!(answer.status.as_u16() < 500, "{}", answer.text());
            assert!(answer.body.len() < 2_000, "{}", answer.text());
        }
        let bombs = [vec![b' '; 65 << 20], [b"{\"schema\":\"".to_vec(), vec![b'x'; 65 << 20]].concat()];
        for plain in bombs {
            let packed = zstd::encode_all(plain.as_slice(), 1).expect("memory takes it");
            world.post(Some("zstd"), packed.clone()).await.assert_problem(413);
            // Packed twice it is a body that is no batch.
            let twice = zstd::encode_all(packed.as_slice(), 1).expect("memory takes it");
            world.post(Some("zstd"), twice).await.assert_problem(400);
        }
        let log = || vec![Sample::default().segment()];
        let own = enroll(&world, 1).await;
        world.upload_as(&own, &batch(2, log())).await.assert_problem(403);
        let revoked = world.app.store.create_token(Scope::Agent, "leaver").await.expect("a token");
        assert!(world.app.store.revoke_token(&revoked.id, &Actor::command_line()).await.expect("the database answers"));
        world.upload_as(&revoked.secret, &batch(1, log())).await.assert_problem(401);
        assert_eq!(world.json("/api/v1/logs").await["items"].as_array().map(Vec::len), Some(0));
        assert_eq!(world.upload_as(&own, &batch(1, log())).await.status, StatusCode::OK, "the server lives on");
    });
}

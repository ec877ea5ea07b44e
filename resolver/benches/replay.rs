//! How long one replay takes, a path at a time. `cargo bench -p resolver`.
//!
//! Ten million sessions are to be replayed in a minute on one core: six microseconds each.

use divan::{Bencher, black_box};
use resolver::replay::{GATES, replay};
use wire::{Luid, Machine, MachineAdapter, Monitor, Path, Policy, Rect};

fn main() {
    divan::main();
}

/// The document's hybrid laptop.
fn hybrid() -> Machine {
    let adapter = |name: &str, luid, vendor, vram, kind: &str| MachineAdapter {
        name: name.to_owned(),
        luid: Some(Luid(luid)),
        vendor_id: Some(vendor),
        device_id: Some(1),
        dedicated_vram_mib: Some(vram),
        software: Some(false),
        remote: Some(false),
        feature_level: Some("12_1".to_owned()),
        vulkan_type: Some(kind.to_owned()),
    };
    let rect = Rect { left: 0, top: 0, width: 3840, height: 2160 };
    let mut machine = Machine::new(vec![
        adapter("NVIDIA GeForce RTX 3080 Laptop GPU", 0x24f0b, 0x10de, 8018, "discrete"),
        adapter("Intel(R) UHD Graphics", 0x24bbf, 0x8086, 128, "integrated"),
    ]);
    machine.panel = Some(rect);
    machine.monitors = vec![Monitor {
        gdi_name: r"\\.\DISPLAY1".to_owned(),
        rect,
        path_luid: Some(Luid(0x24bbf)),
        enumerated_by: vec![Luid(0x24bbf)],
    }];
    machine.session.gl_luid = Some(Luid(0x24f0b));
    machine
}

#[divan::bench(args = GATES.map(Path::as_str))]
fn one_replay(bencher: Bencher, word: &str) {
    let machine = hybrid();
    let path = GATES.into_iter().find(|path| path.as_str() == word).expect("the word is one of theirs");
    bencher.bench(|| replay(black_box(&machine), path, Policy::Adr039));
}

#[divan::bench]
fn one_forced_replay(bencher: Bencher) {
    let mut machine = hybrid();
    machine.settings.user.insert("DXR_D3D_FORCE_GPU".to_owned(), "scanout".to_owned());
    bencher.bench(|| replay(black_box(&machine), Path::D3d11, Policy::Document));
}

//! What a session tells of its PC, one for each number.

use wire::{Luid, Machine, MachineAdapter, Path, Policy, Rect, Situation, ToldScanout};

/// A laptop with two GPUs or a PC with one; the number makes each another one.
pub fn situation(number: usize) -> Situation {
    let adapter = |name: &str, luid, vram, kind: &str| MachineAdapter {
        name: name.to_owned(),
        luid: Some(Luid(luid)),
        vendor_id: None,
        device_id: None,
        dedicated_vram_mib: Some(vram),
        software: Some(false),
        remote: Some(false),
        feature_level: Some("11_0".to_owned()),
        vulkan_type: Some(kind.to_owned()),
    };
    let mut machine = Machine::new(vec![
        adapter(&format!("NVIDIA GeForce RTX {}", 2060 + number % 40 * 10), 1, 4_000 + number as u64, "unknown"),
        adapter("Intel(R) Iris(R) Xe Graphics", 2, 128, "unknown"),
    ]);
    let hybrid = !number.is_multiple_of(4);
    let (name, luid) =
        if hybrid { (machine.adapters[1].name.clone(), 2) } else { (machine.adapters[0].name.clone(), 1) };
    machine.told_scanout = Some(ToldScanout { name, luid: Some(Luid(luid)), via: None });
    machine.panel = Some(Rect { left: 0, top: 0, width: 3840, height: 2160 });
    machine.session.device_luid = Some(Luid(1));
    if number.is_multiple_of(7) {
        machine.settings.machine.insert("DXR_WEAVE_ON_SCANOUT".to_owned(), "0".to_owned());
    }
    let path = [Path::D3d11, Path::D3d12, Path::Vulkan, Path::Service][number / 4 % 4];
    let missing = vec!["session.unsupported_layers".into()];
    Situation { policy: Policy::Document, path, machine, missing, unasked: false }
}

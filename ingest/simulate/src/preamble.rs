//! What a process writes before it opens a session, and when it dies: plug-in, display, adapters, version, instance.

use wire::{Generation, Level};

use crate::description::{Fault, FoundBy, Variable};
use crate::log::{Log, Writes};
use crate::writer::record;

impl Log<'_> {
    /// Up to the instance.
    pub(crate) fn preamble(&mut self, writes: Writes) {
        if self.happens(Fault::PluginFallback) {
            let line = self.put(record("t.plugin_pref").text("id", "old-lf"));
            self.note("plugin_fallback", "", line);
        }
        let newest = self.build.generation == Generation::G2;
        let (version, api) = if newest { ("2.1.0", 4) } else { ("1.4.2", 3) };
        self.put(
            record("t.plugin")
                .text("id", "lumen-lf")
                .text("name", "Lumen LF Panel")
                .text("vendor", "Lumen")
                .text("version", version)
                .uint("plugin_api", api)
                .uint("probe_order", 20)
                .wide("library", r"C:\Program Files\Lumen\LumenDP.dll"),
        );
        self.w.pass(4);
        self.put(record("t.head").text("name", "Lumen LF 27"));
        let panel = self.pc.panel();
        let (width, height) = (u64::from(panel.width), u64::from(panel.height));
        self.put(
            record(if newest { "t.display" } else { "t.display_ext" })
                .text("iface", "lumen-lf")
                .decimal("width_m", "0.5970")
                .decimal("height_m", "0.3360")
                .decimal("nominal.x", "0.0000")
                .decimal("nominal.y", "0.1000")
                .decimal("nominal.z", "0.6000")
                .decimal("scale.x", "0.5000")
                .decimal("scale.y", "1.0000")
                .uint("pixels.width", width)
                .uint("pixels.height", height)
                .uint("atlas.width", width)
                .uint("atlas.height", height),
        );
        if newest {
            self.candidates();
            self.resolve();
            if writes != Writes::Service {
                let render = self.luid(self.render);
                let provenance = self.provenance.clone();
                self.put(record("ti.render").luid("adapter.luid", render).text("provenance", provenance));
            }
        } else {
            "adapter[0] fallback".clone_into(&mut self.provenance);
        }
        if writes != Writes::Service {
            self.version();
            self.instance();
        }
    }

    /// The GPUs that the resolver looks at, in DXGI order.
    fn candidates(&mut self) {
        const DISCRETE_FROM_MIB: u64 = 512;
        for (index, adapter) in self.adapters.clone().iter().enumerate() {
            self.w.pass(2);
            if adapter.software == Some(true) {
                self.put(record("ra.skip_sw").wide("adapter.name", &adapter.name));
                continue;
            }
            let vram = adapter.dedicated_vram_mib.unwrap_or_default();
            self.put(
                record("ra.candidate")
                    .uint("index", index as u64)
                    .wide("adapter.name", &adapter.name)
                    .uint("vram_mib", vram)
                    .int("adapter_kind", if vram >= DISCRETE_FROM_MIB { 2 } else { 1 }),
            );
        }
    }

    /// What the resolver chooses, or what a setting makes it choose (vocabulary section 9.1).
    fn resolve(&mut self) {
        let hardware = |log: &Self| -> Vec<usize> {
            let is_hardware = |at: &usize| log.adapters[*at].software != Some(true);
            (0..log.adapters.len()).filter(is_hardware).collect()
        };
        if hardware(self).len() == 1 {
            "only candidate".clone_into(&mut self.provenance);
        }
        if let Some(setting) = self.levers.force {
            let source = match setting.source {
                wire::Source::Env => "env",
                wire::Source::User => "user",
                wire::Source::Machine => "machine",
            };
            let vram = |at: &usize| self.adapters[*at].dedicated_vram_mib.unwrap_or_default();
            let extreme = match setting.value.as_str() {
                "igpu" | "integrated" => hardware(self).into_iter().min_by_key(vram),
                "dgpu" | "discrete" => hardware(self).into_iter().max_by_key(vram),
                _ => None,
            };
            let forced = format!("{source}-forced: {}", setting.value);
            let panel = self.pc.panel();
            let (width, height) = (u64::from(panel.width), u64::from(panel.height));
            let place = (i64::from(panel.left), i64::from(panel.top));
            if let Some(at) = extreme {
                let name = self.adapters[at].name.clone();
                let vram = vram(&at);
                self.put(
                    record("ra.forced_vram")
                        .text("provenance", forced.clone())
                        .wide("adapter.name", &name)
                        .uint("vram_mib", vram),
                );
                (self.render, self.provenance) = (at, forced);
                return;
            }
            let line = match (setting.value.as_str(), self.scanout) {
                ("scanout", Some(at)) => {
                    self.found_scanout();
                    let name = self.adapters[at].name.clone();
                    self.put(
                        record("ra.forced_scanout")
                            .text("provenance", forced.clone())
                            .wide("adapter.name", &name)
                            .uint("panel.width", width)
                            .uint("panel.height", height)
                            .int("panel.left", place.0)
                            .int("panel.top", place.1),
                    );
                    (self.render, self.provenance) = (at, forced);
                    return;
                }
                ("scanout", None) => {
                    self.found_scanout();
                    self.put(
                        record("ra.ign_scanout")
                            .uint("panel.width", width)
                            .uint("panel.height", height)
                            .int("panel.left", place.0)
                            .int("panel.top", place.1),
                    )
                }
                _ => self.put(record("ra.ign_value").text("value", setting.value.clone())),
            };
            self.note("override_not_honoured", Variable::D3dForceGpu.as_str(), line);
        }
        let name = self.adapters[self.render].name.clone();
        let luid = self.luid(self.render);
        self.put(
            record("ra.choice")
                .wide("adapter.name", &name)
                .luid("adapter.luid", luid)
                .text("provenance", self.provenance.clone())
                .wide("preferred.name", &name)
                .text("agreement", "MATCH"),
        );
    }

    fn version(&mut self) {
        let mut numbers = self.build.version.split('.').map(|number| number.parse().unwrap_or(0));
        let mut number = || numbers.next().unwrap_or_default();
        let record = record("t.runtime").uint("major", number()).uint("minor", number()).uint("patch", number());
        self.versioned = true;
        self.w.pass(3);
        self.put(
            record
                .text("build", self.build.tag.clone())
                .wide("library", r"C:\Program Files\DisplayXR\Runtime\DisplayXRClient.dll")
                .wide("manifest", "<unset>"),
        );
    }

    /// The multi-line records of the instance.
    pub(crate) fn instance(&mut self) {
        self.w.pass(2);
        let app = &self.app.name;
        let engine = &self.app.engine;
        let created = format!(
            "LOG in xrCreateInstance: Instance created\n\tcreateInfo->applicationInfo.applicationName: {app}\n\
             \tcreateInfo->applicationInfo.applicationVersion: 1\n\tcreateInfo->applicationInfo.engineName: {engine}\n\
             \tcreateInfo->applicationInfo.engineVersion: 0\n\tcreateInfo->applicationInfo.apiVersion: 1.1.51\n\
             \tappinfo.detected.engine.name: (null)\n\tquirks.disable_vulkan_format_depth_stencil: false\n\
             \tquirks.parallel_views: false\n"
        );
        self.w.noise(Level::Oxr, "", created.as_bytes());
        let selected = "LOG in xrCreateInstance: Selected devices\n\tHead: 'Lumen LF 27'\n\tEyes: '<none>'\n\
                        \tLeft: 'Qwerty Left Controller'\n\tRight: 'Qwerty Right Controller'\n\tGamepad: '<none>'";
        self.w.noise(Level::Oxr, "", selected.as_bytes());
    }

    /// The scanout resolver, as it tells each time that it is asked.
    pub(crate) fn found_scanout(&mut self) {
        self.w.pass(2);
        let monitor = self.pc.monitor().to_owned();
        let Some(at) = self.scanout else {
            self.put(record("so.nopath").wide("monitor", &monitor));
            self.put(record("so.none"));
            return;
        };
        let (name, luid) = (self.adapters[at].name.clone(), self.luid(at));
        if self.pc.kind.found_by == FoundBy::OutputWalk {
            self.put(record("so.nopath").wide("monitor", &monitor));
            self.put(record("so.walk").wide("monitor", &monitor).wide("adapter.name", &name));
        } else {
            self.put(
                record("so.path").wide("monitor", &monitor).wide("adapter.name", &name).luid("adapter.luid", luid),
            );
        }
    }

    /// A stack, and nothing behind it.
    pub(crate) fn crash(&mut self) {
        let mut body = "thread 'render' died: access violation (0xC0000005)".to_owned();
        for frame in 0..self.dice.between(4, 20) {
            let at = self.dice.between(0x1000, 0xf_ffff);
            let frame = format!("\n    #{frame:02} DisplayXRClient.dll+0x{at:x} (00007FF8{at:08X})");
            body.push_str(&frame);
        }
        self.put(record("t.terminate").text("_", body).by("u_terminate_handler"));
    }

    /// The id of an adapter in this boot.
    pub(crate) fn luid(&self, at: usize) -> wire::Luid {
        self.adapters.get(at).and_then(|adapter| adapter.luid).unwrap_or(wire::Luid(0))
    }
}

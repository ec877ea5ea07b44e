//! Words that a page uses and that only those who know the runtime, or statistics, understand: each in one sentence.

/// A word with what it means.
pub(crate) type Meaning = (&'static str, &'static str);

const WORDS: [Meaning; 15] = [
    ("weave", "The step that makes the picture for the 3D panel out of the views that an app rendered."),
    (
        "split",
        "The weave runs on the GPU that drives the panel, while the app renders on another: only the atlas crosses, once per frame.",
    ),
    (
        "crosses needlessly",
        "Every present goes over the bus from one GPU to the other: nothing split it, a setting killed the split, or it was taken back.",
    ),
    ("outcome", "The one word for a log: what its last session came to in the end."),
    ("GPU pair", "The GPU that the app renders on → the GPU that drives the panel."),
    ("kind of PC", "All PCs with the same adapters in the same parts; elsewhere called a cohort."),
    (
        "kill switch",
        "The setting DXR_WEAVE_ON_SCANOUT=0, which switches the split off; in the environment, the user’s settings file or the registry.",
    ),
    (
        "G1, G2",
        "Generations of the placement line: a G1 build splits only where DXR_WEAVE_ON_SCANOUT=1 asks for it and prints no reason; from G2 on the split is on and the line ends in (split=…). G0 is older than the line.",
    ),
    ("LUID", "The number of an adapter within one boot of one PC; after the next boot it is another."),
    ("document", "The rules of the adapter-selection document: no split on Vulkan, none where one GPU does both."),
    (
        "adr039",
        "The rules of the newest runtime, by its design record 39: Vulkan splits too, and in-process sessions engage on one GPU.",
    ),
    ("replay", "The rules asked again, with what the log tells of the PC: what should have happened."),
    ("95 % interval", "Wilson’s: where the true share lies in 95 of 100 such samples. Few logs make it wide."),
    (
        "interval of a difference",
        "Newcombe’s, made of the two Wilson intervals: if it holds 0, there may be no difference.",
    ),
    (
        "beyond chance",
        "Holm’s correction: among all rows of the table, less than 5 % risk that even one of those so marked is chance.",
    ),
];

/// The meanings of these words, in their order.
///
/// # Panics
/// In a test, when one has none.
pub(crate) fn of(names: impl AsRef<[&'static str]>) -> Vec<Meaning> {
    let names = names.as_ref();
    let known: Vec<_> = names.iter().filter_map(|name| WORDS.into_iter().find(|(word, _)| word == name)).collect();
    debug_assert_eq!(known.len(), names.len(), "{names:?}");
    known
}

//! Which compositor wrote a log, told by the records round the placement line (vocabulary 12.2).

use wire::{Path, PathHint};

/// The best hints of a session or of a log; [`Path`]'s order is the order of preference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hints {
    named: Option<Path>,
    unnamed: Option<Path>,
}

impl Hints {
    /// Takes what one record says.
    pub(crate) fn add(&mut self, hint: PathHint) {
        let best = if hint.named { &mut self.named } else { &mut self.unnamed };
        *best = Some(best.map_or(hint.path, |path| path.min(hint.path)));
    }

    /// A neighbour that the vocabulary names outranks a shape that merely belongs to one component.
    pub(crate) fn best(self) -> Option<Path> {
        self.named.or(self.unnamed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hints: &[(Path, bool)], expected: Option<Path>) {
        let mut all = Hints::default();
        for &(path, named) in hints {
            all.add(PathHint { path, named });
        }
        assert_eq!(all.best(), expected, "{hints:?}");
    }

    #[test]
    fn the_best_named_hint_wins_whatever_the_order() {
        check(&[], None);
        check(&[(Path::Vulkan, true), (Path::D3d12, true)], Some(Path::D3d12));
        check(&[(Path::D3d12, true), (Path::Vulkan, true)], Some(Path::D3d12));
        check(&[(Path::Service, false), (Path::Vulkan, true)], Some(Path::Vulkan));
        check(&[(Path::D3d11, false), (Path::OpenGl, false)], Some(Path::OpenGl));
        check(&[(Path::IpcClient, true), (Path::Vulkan, true)], Some(Path::Vulkan));
    }
}

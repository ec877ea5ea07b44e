//! Laws of the curve that the machines of a topology share.

use proptest::prelude::*;
use resolver::cost::curve::{LEAST_OTHERS, Off, Point, fit, standings};

/// Machines on one line: what a frame takes anyway, and the link's rate, with points of two sizes each.
fn on_a_line(machines: usize, fixed_us: f64, bytes_per_us: f64) -> Vec<Point> {
    let size = |machine: usize, place: usize| 1e6 * (machine % 3 + 1) as f64 + 5e6 * place as f64;
    let points = (0..machines).flat_map(|machine| (0..2).map(move |place| (machine, size(machine, place))));
    points.map(|(machine, bytes)| Point { machine, bytes, us: fixed_us + bytes / bytes_per_us }).collect()
}

fn times(points: &mut [Point], machine: usize, factor: f64) {
    points.iter_mut().filter(|own| own.machine == machine).for_each(|own| own.us *= factor);
}

proptest! {
    #[test]
    fn a_line_is_found_and_nobody_is_off(
        machines in 1_usize..30, fixed_us in 0.0..20_000.0_f64, bytes_per_us in 100.0..20_000.0_f64,
    ) {
        let points = on_a_line(machines, fixed_us, bytes_per_us);
        let curve = fit(&points).expect("there are points");
        prop_assert!((curve.fixed_us - fixed_us).abs() < 1e-3 * (fixed_us + 1.0), "{curve:?}");
        let rate = curve.bytes_per_second().expect("sizes differ");
        prop_assert!((rate / (bytes_per_us * 1e6) - 1.0).abs() < 1e-3, "{curve:?}");
        prop_assert_eq!(curve.machines, machines);
        for own in standings(&curve, &points) {
            prop_assert!((own.ratio - 1.0).abs() < 1e-6 && own.off.is_none(), "{own:?}");
        }
    }

    #[test]
    fn one_half_link_among_enough_others_is_found_and_among_few_is_not(
        machines in 2_usize..30, odd in 0_usize..30, fixed_us in 0.0..500.0_f64, factor in 1.8..2.3_f64,
    ) {
        let odd = odd % machines;
        let mut points = on_a_line(machines, fixed_us, 3_040.0);
        times(&mut points, odd, factor);
        let curve = fit(&points).expect("there are points");
        let found: Vec<_> = standings(&curve, &points).into_iter().filter_map(|own| Some((own.machine, own.off?))).collect();
        if machines > 2 * LEAST_OTHERS {
            prop_assert_eq!(found, vec![(odd, Off::HalfRate)]);
        } else if machines <= LEAST_OTHERS {
            prop_assert_eq!(found, vec![]);
        }
    }

    #[test]
    fn order_units_and_noise_in_front_change_nothing(
        points in prop::collection::vec((0_usize..9, 1e3..1e8_f64, 1.0..1e6_f64), 1..60), seed in any::<u64>(),
    ) {
        let points: Vec<_> = points.into_iter().map(|(machine, bytes, us)| Point { machine, bytes, us }).collect();
        let curve = fit(&points).expect("there are points");
        prop_assert!(curve.fixed_us >= 0.0 && curve.us_per_byte.is_none_or(|own| own > 0.0), "{curve:?}");
        prop_assert!(points.iter().all(|own| curve.ratio(own).is_finite()));
        let mut turned = points.clone();
        turned.rotate_left(seed as usize % points.len());
        turned.extend([f64::NAN, -1.0, 0.0, f64::INFINITY].map(|odd| Point { machine: 99, bytes: odd, us: odd }));
        let again = fit(&turned).expect("there are points");
        prop_assert!((again.fixed_us - curve.fixed_us).abs() <= 1e-6 * curve.fixed_us.max(1.0), "{again:?} {curve:?}");
        prop_assert_eq!(standings(&again, &turned).len(), standings(&curve, &points).len());
    }
}

#[test]
fn frames_of_one_size_tell_no_rate_and_still_show_who_is_slow() {
    let mut points: Vec<_> =
        (0..8).map(|machine| Point { machine, bytes: 33e6, us: 16_600.0 + machine as f64 }).collect();
    times(&mut points, 3, 2.0);
    times(&mut points, 5, 0.5);
    let curve = fit(&points).expect("there are points");
    assert_eq!(curve.bytes_per_second(), None);
    let off: Vec<_> = standings(&curve, &points).into_iter().filter_map(|own| Some((own.machine, own.off?))).collect();
    assert_eq!(off, [(3, Off::HalfRate), (5, Off::Faster)]);
    assert_eq!(fit(&[]), None);
}

#[test]
fn larger_frames_that_take_no_longer_are_not_held_up_by_the_link() {
    // The panel paces them: 60 a second, whatever their size.
    let points: Vec<_> =
        (0..8).map(|machine| Point { machine, bytes: 1e6 * (machine + 1) as f64, us: 16_667.0 }).collect();
    let curve = fit(&points).expect("there are points");
    assert_eq!((curve.us_per_byte, curve.fixed_us), (None, 16_667.0));
}

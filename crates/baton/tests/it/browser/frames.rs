//! How smooth a page is.

use super::driver::Browser;

/// How often a measurement is made before it counts as failed. The best counts: the machine has other things to do, too.
const ROUNDS: u32 = 30;

/// The first time that is short enough, else the shortest.
pub fn best_of(enough: u64, measured: impl Fn() -> u64) -> u64 {
    let mut best = u64::MAX;
    for _ in 0..ROUNDS {
        best = best.min(measured());
        if best < enough {
            break;
        }
    }
    best
}

/// Scrolls through all of what `scroller` holds, step by step; the longest time between two frames, in milliseconds. Ends
/// at the first that is not short `enough`: how much longer others take is nothing a machine should be kept busy with.
pub fn slowest_frame(browser: &Browser, scroller: &str, steps: u32, enough: u64) -> u64 {
    browser.js(&format!(
        "const scroller = {scroller};
         scroller.scrollTop = 0; window.slowest = 0; window.isOver = false;
         let last, step = 0;
         const frame = (now) => {{
           window.slowest = Math.max(window.slowest, now - last); last = now; step += 1;
           scroller.scrollTop = scroller.scrollHeight * step / {steps};
           if (step < {steps} && window.slowest < {enough}) requestAnimationFrame(frame);
           else window.isOver = true;
         }};
         requestAnimationFrame((now) => {{ last = now; requestAnimationFrame(frame); }});"
    ));
    browser.until("window.isOver");
    browser.js("return Math.ceil(window.slowest)").as_u64().unwrap()
}

//! Boxes and arrows as a scrollable SVG, shared by the graph and the recipes.

use maud::{Markup, html};

use crate::pages::widgets::layers::{Cell, LayeredLayout};

/// Drawings up to this width shrink to fit the window; wider ones scroll, because they would become unreadable.
const SHRINKS_PX_MAX: usize = 1_240;
/// Distance of labels from lines and boxes.
const LABEL_PX: usize = 5;

/// The dimensions of a drawing, in pixels.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub width: usize,
    pub height: usize,
    /// From the left of a box to the left of the next.
    pub column: usize,
    pub row: usize,
    pub margin: usize,
    /// Space below the last row for back edges.
    pub below: usize,
}

impl Grid {
    /// The upper left corner of a box.
    pub(crate) const fn corner(&self, (column, row): Cell) -> (usize, usize) {
        (self.margin + column * self.column, self.margin + row * self.row)
    }

    fn middle(&self, cell: Cell) -> usize {
        self.corner(cell).1 + self.height / 2
    }

    /// The path of a forward edge through its cells.
    pub(crate) fn forward(&self, from: Cell, way: &[Cell], to: Cell) -> String {
        let (mut x, mut y) = (self.corner(from).0 + self.width, self.middle(from));
        let mut path = vec![format!("M{x} {y}")];
        for cell in way.iter().chain([&to]) {
            let (next_x, next_y) = (self.corner(*cell).0, self.middle(*cell));
            let half = usize::midpoint(x, next_x);
            path.push(format!("C{half} {y} {half} {next_y} {next_x} {next_y}"));
            (x, y) = (next_x, next_y);
            if *cell != to {
                x += self.width;
                path.push(format!("H{x}"));
            }
        }
        path.join(" ")
    }

    /// The position of a label after the box its line starts from.
    pub(crate) fn behind(&self, from: Cell) -> (usize, usize) {
        (self.corner(from).0 + self.width + LABEL_PX, self.middle(from) - LABEL_PX)
    }

    /// The position of a label before the box its line leads to.
    pub(crate) fn before(&self, to: Cell) -> (usize, usize) {
        (self.corner(to).0 - 2 * LABEL_PX, self.middle(to) - LABEL_PX)
    }

    /// The path of a back edge below the boxes, and the position of its label.
    pub(crate) fn back(&self, from: Cell, to: Cell) -> (String, (usize, usize)) {
        const DEEP_PX: usize = 26;
        let ((x1, y1), (x2, y2)) = (self.corner(from), self.corner(to));
        let (from, to, y, y_to) =
            (x1 + self.width / 2, x2 + self.width / 2, y1 + self.height, y2 + self.height);
        let low = y.max(y_to) + DEEP_PX;
        (format!("M{from} {y} C{from} {low} {to} {low} {to} {y_to}"), (to + (from - to) / 3, low - 3))
    }

    /// The arrow head of a forward edge.
    pub(crate) fn tip(&self, to: Cell) -> Markup {
        let (x, y) = self.corner(to);
        html! { path.head d={ "M" (x) " " (y + self.height / 2) " l-8 -4 v8 z" } {} }
    }

    /// The arrow head of a back edge.
    pub(crate) fn tip_below(&self, to: Cell) -> Markup {
        let (x, y) = self.corner(to);
        html! { path.head d={ "M" (x + self.width / 2) " " (y + self.height) " l-4 8 h8 z" } {} }
    }

    /// The whole drawing; later parts are drawn over earlier ones.
    pub(crate) fn drawing(&self, layout: &LayeredLayout, label: &str, parts: &[Markup]) -> Markup {
        let width = layout.columns() * self.column - (self.column - self.width) + 2 * self.margin;
        let height = layout.rows() * self.row - (self.row - self.height) + 2 * self.margin + self.below;
        html! {
            div.drawing tabindex="0" role="region" aria-label=(label) {
                svg.shrinks[width <= SHRINKS_PX_MAX] width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    @for part in parts { (part) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { width: 100, height: 40, column: 150, row: 60, margin: 10, below: 0 };

    #[test]
    fn lines_avoid_boxes() {
        assert_eq!(GRID.forward((0, 0), &[], (1, 0)), "M110 30 C135 30 135 30 160 30");
        assert_eq!((GRID.behind((0, 0)), GRID.before((1, 0))), ((115, 25), (150, 25)));
        let far = GRID.forward((0, 0), &[(1, 1)], (2, 0));
        assert_eq!(far, "M110 30 C135 30 135 90 160 90 H260 C285 90 285 30 310 30");
    }

    #[test]
    fn only_small_drawings_shrink() {
        let drawn = |columns: usize| {
            let edges: Vec<(usize, usize)> = (1..columns).map(|node| (node - 1, node)).collect();
            GRID.drawing(&LayeredLayout::new(columns, &edges), "a chain", &[]).into_string()
        };
        assert!(drawn(4).contains("<svg class=\"shrinks\" width=\"570\" height=\"60\""), "{}", drawn(4));
        assert!(!drawn(40).contains("shrinks"));
    }
}

//! Layered graph layout: each node is placed in the column after its last predecessor, near its neighbours. An edge that
//! spans several columns reserves a cell in each, so that it does not run behind nodes.

use std::collections::{BTreeMap, VecDeque};

/// Column and row.
pub(crate) type Cell = (usize, usize);

pub(crate) struct LayeredLayout {
    /// The cell of each node.
    pub places: Vec<Cell>,
    /// For each edge, the cells it passes.
    pub ways: Vec<Vec<Cell>>,
}

impl LayeredLayout {
    /// Lays out forward edges; the caller draws back edges.
    pub(crate) fn new(count: usize, edges: &[(usize, usize)]) -> Self {
        let mut columns = columns(count, edges);
        let (mut ties, mut ways) = (Vec::new(), Vec::new());
        for (from, to) in edges {
            let mut last = *from;
            let mut way = Vec::new();
            for column in columns[*from] + 1..columns[*to] {
                columns.push(column);
                way.push(columns.len() - 1);
                ties.push((last, columns.len() - 1));
                last = columns.len() - 1;
            }
            ties.push((last, *to));
            ways.push(way);
        }
        let rows = rows(&columns, &ties);
        let cell = |node: usize| (columns[node], rows[node]);
        Self {
            places: (0..count).map(cell).collect(),
            ways: ways.into_iter().map(|way| way.into_iter().map(cell).collect()).collect(),
        }
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        self.places.iter().chain(self.ways.iter().flatten()).copied()
    }

    pub(crate) fn columns(&self) -> usize {
        self.cells().map(|(column, _)| column + 1).max().unwrap_or(1)
    }

    pub(crate) fn rows(&self) -> usize {
        self.cells().map(|(_, row)| row + 1).max().unwrap_or(1)
    }
}

/// The row of each node.
fn rows(columns: &[usize], edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, column) in columns.iter().enumerate() {
        layers.entry(*column).or_default().push(node);
    }
    let mut rows = vec![0; columns.len()];
    for layer in layers.values() {
        for (row, node) in layer.iter().enumerate() {
            rows[*node] = row;
        }
    }
    // Four sweeps: sort each layer by the mean row of its neighbours.
    for sweep in 0..4 {
        let order: Vec<usize> = if sweep % 2 == 0 {
            layers.keys().copied().collect()
        } else {
            layers.keys().rev().copied().collect()
        };
        for column in order {
            let Some(layer) = layers.get_mut(&column) else { continue };
            layer.sort_by_key(|node| {
                (mean_row(*node, edges, &rows, sweep % 2 == 0).unwrap_or(rows[*node] * 16), *node)
            });
            for (row, node) in layer.iter().enumerate() {
                rows[*node] = row;
            }
        }
    }
    rows
}

/// The mean row of a node's neighbours, in sixteenths.
fn mean_row(node: usize, edges: &[(usize, usize)], rows: &[usize], before: bool) -> Option<usize> {
    let others: Vec<usize> = edges
        .iter()
        .map(|(from, to)| if before { (*to, *from) } else { (*from, *to) })
        .filter_map(|(own, other)| (own == node).then_some(other))
        .collect();
    let sum: usize = others.iter().map(|other| rows[*other] * 16).sum();
    (!others.is_empty()).then(|| sum / others.len())
}

/// The column of each node: its longest path from a start. Cycles are cut at one of their nodes.
fn columns(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut open = vec![0; count];
    for (_, to) in edges {
        open[*to] += 1;
    }
    let mut columns = vec![0; count];
    let mut placed = vec![false; count];
    let mut queue: VecDeque<usize> = (0..count).filter(|node| open[*node] == 0).collect();
    loop {
        while let Some(node) = queue.pop_front() {
            if std::mem::replace(&mut placed[node], true) {
                continue;
            }
            for (_, to) in edges.iter().filter(|(from, to)| *from == node && !placed[*to]) {
                columns[*to] = columns[*to].max(columns[node] + 1);
                open[*to] -= 1;
                if open[*to] == 0 {
                    queue.push_back(*to);
                }
            }
        }
        // Only cycles are left: start from one of their nodes.
        match (0..count)
            .filter(|node| !placed[*node])
            .max_by_key(|node| (columns[*node] > 0, std::cmp::Reverse(*node)))
        {
            Some(node) => queue.push_back(node),
            None => return columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns_of(layout: &LayeredLayout) -> Vec<usize> {
        layout.places.iter().map(|(column, _)| *column).collect()
    }

    #[test]
    fn successors_follow_and_long_edges_reserve_cells() {
        let layout = LayeredLayout::new(5, &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4)]);
        assert_eq!(columns_of(&layout), [0, 1, 1, 2, 3]);
        assert_eq!(layout.ways.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 0]);
        let mut each: Vec<Cell> = layout.cells().collect();
        each.sort_unstable();
        each.dedup();
        assert_eq!(each.len(), 6, "each node and each way has a place of its own");
        assert_eq!((layout.columns(), layout.rows()), (4, 3));
    }

    #[test]
    fn cycles_terminate() {
        assert_eq!(LayeredLayout::new(0, &[]).places, []);
        let round = LayeredLayout::new(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(columns_of(&round), [0, 1, 2]);
        assert_eq!(LayeredLayout::new(2, &[(0, 0), (0, 1), (1, 0)]).places.len(), 2);
    }
}

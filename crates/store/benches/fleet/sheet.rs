//! A table with a column for each measurement, since each has many numbers; printed once the last one is known.

pub(crate) struct Sheet {
    title: String,
    names: Vec<String>,
    rows: Vec<(String, Vec<String>)>,
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), names: Vec::new(), rows: Vec::new() }
    }

    /// The next column; every one has the same rows.
    pub(crate) fn add(&mut self, name: impl Into<String>, values: Vec<(&str, String)>) {
        self.names.push(name.into());
        if self.rows.is_empty() {
            self.rows = values.iter().map(|(what, _)| ((*what).to_owned(), Vec::new())).collect();
        }
        for ((_, row), (_, value)) in self.rows.iter_mut().zip(values) {
            row.push(value);
        }
    }

    pub(crate) fn print(&self) {
        println!("\n{}\n", self.title);
        println!("| | {} |", self.names.join(" | "));
        println!("| --- |{}", " --- |".repeat(self.names.len()));
        for (what, values) in &self.rows {
            println!("| {what} | {} |", values.join(" | "));
        }
    }
}

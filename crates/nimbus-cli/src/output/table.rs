use std::fmt::Write;

use super::text::plain;

/// Columns as wide as what they hold.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        let head = head.iter().map(|name| name.to_uppercase()).collect();
        Self { rows: vec![head] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter();
        let cells = cells.map(|cell| plain(&cell).replace('\n', " "));
        self.rows.push(cells.collect());
    }

    pub(crate) fn render(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                // Writing to a String can't fail.
                let _ = write!(line, "{cell:<width$}  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Names and values, one to a line; those without a value are left out.
pub(crate) fn fields(fields: &[(&str, Option<String>)]) -> String {
    let present: Vec<_> = fields
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_ref()?)))
        .collect();
    let width = present.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or(0) + 1;
    present.into_iter().fold(String::new(), |mut text, field| {
        let (name, value) = (format!("{}:", field.0), plain(field.1));
        let value = value.replace('\n', &format!("\n{:indent$}", "", indent = width + 1));
        let _ = writeln!(text, "{name:<width$} {value}");
        text
    })
}

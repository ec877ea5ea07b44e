//! Pictures: what ECharts is told to draw, with the finding above and the same numbers as a table below.
//!
//! Colours are words with an `@` in front, which `static/js/charts.js` replaces by the colours of the reader's theme; every mark that
//! has an `href` leads there. Names from logs are made visible and short here, because a picture has no room; the table
//! has them whole.

use serde_json::{Value, json};

use crate::grid::Grid;
use crate::{Outcome, visible};

/// Letters of a name that a picture has room for.
const NAME_LETTERS: usize = 36;

/// A picture of one page.
#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    /// What it is called in addresses: `/embed/NAME`, and its place in the page.
    pub name: &'static str,
    /// The finding, as a sentence.
    pub title: String,
    /// How to read it, and its units; may be empty.
    pub note: String,
    /// How tall.
    pub size: Size,
    /// ECharts' option.
    pub option: Value,
    /// The same numbers.
    pub table: Grid,
}

/// How tall a picture is; the style knows the pixels, so that nothing moves when it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Size {
    /// A strip of bars.
    Low,
    /// Most.
    #[default]
    Middle,
    /// Many rows or nodes.
    Tall,
}

/// One part of a stack: an outcome's numbers, one for each place on the axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Layer {
    /// Which outcome.
    pub outcome: Outcome,
    /// Number and address of the rows behind it.
    pub marks: Vec<(u64, String)>,
}

/// One stream of a flow picture.
#[derive(Clone, PartialEq, Debug)]
pub struct Flow {
    /// Name of the node on the left; nodes of different columns may have the same name.
    pub from: (usize, String),
    /// On the right.
    pub to: (usize, String),
    /// How many.
    pub count: u64,
    /// The outcome whose colour it has.
    pub outcome: Outcome,
    /// Where it leads.
    pub href: String,
}

impl Size {
    /// The class of the style.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Middle => "middle",
            Self::Tall => "tall",
        }
    }
}

impl Chart {
    /// The option as a data block of HTML holds it: no letter in it can end the block.
    pub(crate) fn data(&self) -> String {
        let json = self.option.to_string();
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

/// A name from a log as a picture shows it: nothing hidden in it, and not longer than there is room.
pub fn short(name: &str) -> String {
    visible::plain(&cut(name, NAME_LETTERS))
}

/// So many letters of a name, with a mark where there are more.
pub(crate) fn cut(name: &str, most: usize) -> String {
    let mut letters = name.chars();
    let mut cut: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        cut.push('…');
    }
    cut
}

/// A GPU, or a pair of them, as a picture shows it.
pub fn pair(name: &str) -> String {
    short(&gpu(name))
}

/// A GPU without the words that all have: what tells one from another comes first.
pub(crate) fn gpu(name: &str) -> String {
    let mut own = name.replace("(R)", "").replace("(TM)", "");
    for word in ["NVIDIA GeForce ", "NVIDIA ", " Laptop GPU"] {
        own = own.replace(word, if word.starts_with(' ') { " laptop" } else { "" });
    }
    own
}

/// Bars in a row, each a stack of outcomes: over days, builds, or whatever the axis names.
pub fn stacked(axis: &[String], layers: &[Layer], unit: &str) -> Value {
    let series: Vec<_> = layers
        .iter()
        .map(|layer| {
            let data: Vec<_> = layer.marks.iter().map(|(count, href)| json!({"value": count, "href": href})).collect();
            json!({
                "name": layer.outcome.label(), "type": "bar", "stack": "all", "barCategoryGap": "12%",
                "itemStyle": style(layer.outcome), "data": data,
            })
        })
        .collect();
    json!({
        "grid": {"left": 8, "right": 8, "top": 64, "bottom": 8, "containLabel": true},
        "legend": {"type": "scroll", "top": 0, "left": 0, "itemWidth": 12, "itemHeight": 12},
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "xAxis": {"type": "category", "data": axis.iter().map(|name| pair(name)).collect::<Vec<_>>(), "axisTick": {"show": false},
            "axisLabel": {"width": 104, "overflow": "truncate"}},
        "yAxis": {"type": "value", "name": unit, "minInterval": 1},
        "series": series,
    })
}

/// Bars by size with the line of their running sum, in per cent of the whole.
pub fn pareto(bars: &[(String, u64, String)]) -> Value {
    let whole: u64 = bars.iter().map(|(_, count, _)| count).sum();
    let mut sum = 0;
    let running: Vec<_> = bars
        .iter()
        .map(|(_, count, _)| {
            sum += count;
            if whole == 0 { 0.0 } else { (sum as f64 / whole as f64 * 1000.0).round() / 10.0 }
        })
        .collect();
    let data: Vec<_> = bars.iter().map(|(_, count, href)| json!({"value": count, "href": href})).collect();
    let names: Vec<_> = bars.iter().map(|(name, ..)| short(name)).collect();
    let running: Vec<_> = running.iter().enumerate().map(|(place, percent)| json!([percent, place])).collect();
    json!({
        "grid": {"left": 8, "right": 32, "top": 32, "bottom": 24, "containLabel": true},
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "yAxis": {"type": "category", "inverse": true, "data": names, "axisTick": {"show": false},
            "axisLabel": {"interval": 0, "width": 180, "overflow": "truncate"}},
        "xAxis": [
            {"type": "value", "name": "logs", "nameLocation": "middle", "nameGap": 24, "minInterval": 1},
            {"type": "value", "name": "running sum, %", "nameLocation": "middle", "nameGap": 22, "position": "top", "min": 0, "max": 100,
                "splitLine": {"show": false}},
        ],
        "series": [
            {"name": "logs", "type": "bar", "itemStyle": {"color": "@quiet"}, "data": data,
                "label": {"show": true, "position": "right"}},
            {"name": "running sum, %", "type": "line", "xAxisIndex": 1, "lineStyle": {"color": "@ink", "width": 1},
                "itemStyle": {"color": "@ink"}, "symbolSize": 5, "data": running},
        ],
    })
}

/// Streams between columns of nodes, left to right.
pub fn sankey(flows: &[Flow]) -> Value {
    let mut nodes: Vec<&(usize, String)> = Vec::new();
    for node in flows.iter().flat_map(|flow| [&flow.from, &flow.to]) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    // Names are not unique between columns, and hostile ones not even within: the place in the list is.
    let id = |node: &(usize, String)| nodes.iter().position(|own| *own == node).unwrap_or_default().to_string();
    let data: Vec<_> = nodes
        .iter()
        .map(|node| {
            let outcome = Outcome::ALL.into_iter().find(|outcome| node.0 == 1 && outcome.label() == node.1);
            let color = outcome.map_or_else(|| json!({"color": "@quiet"}), style);
            json!({"name": id(node), "depth": node.0, "itemStyle": color, "label": {"formatter": pair(&node.1)}})
        })
        .collect();
    let links: Vec<_> = flows
        .iter()
        .map(|flow| {
            json!({"source": id(&flow.from), "target": id(&flow.to), "value": flow.count, "href": flow.href,
                "what": format!("{} → {}: {}", pair(&flow.from.1), pair(&flow.to.1), flow.count),
                "lineStyle": {"color": format!("@{}", flow.outcome.as_str()), "opacity": 0.45}})
        })
        .collect();
    json!({
        "tooltip": {"trigger": "item"},
        "series": [{"type": "sankey", "left": 8, "right": 168, "top": 8, "bottom": 8, "nodeWidth": 12, "nodeGap": 12,
            "label": {"width": 152, "overflow": "truncate"},
            "draggable": false, "emphasis": {"focus": "adjacency"}, "data": data, "links": links}],
    })
}

/// Rows of names, columns of outcomes; the colour is the share of the row, the number the count.
pub fn heat_map(rows: &[(String, [u64; 6])], href: &dyn Fn(usize, Outcome) -> String) -> Value {
    let mut data = Vec::new();
    for (y, (_, counts)) in rows.iter().enumerate() {
        let whole: u64 = counts.iter().sum();
        for (x, (outcome, count)) in
            Outcome::ALL.into_iter().zip(counts).enumerate().filter(|(_, (_, count))| **count > 0)
        {
            let percent = (*count as f64 / whole as f64 * 1000.0).round() / 10.0;
            let on = if percent > 55.0 { "@paper" } else { "@ink" };
            data.push(json!({"value": [x, y, percent], "count": count, "href": href(y, outcome), "label": {"color": on, "formatter": count.to_string()}}));
        }
    }
    let names: Vec<_> = rows.iter().map(|(name, _)| pair(name)).collect();
    json!({
        "grid": {"left": 8, "right": 8, "top": 8, "bottom": 8, "containLabel": true},
        "tooltip": {"trigger": "item"},
        "xAxis": {"type": "category", "position": "top", "data": Outcome::ALL.map(Outcome::label), "axisTick": {"show": false},
            "axisLabel": {"interval": 0, "width": 76, "overflow": "break", "lineHeight": 14}},
        "yAxis": {"type": "category", "inverse": true, "data": names, "axisTick": {"show": false},
            "axisLabel": {"width": 220, "overflow": "truncate"}},
        "visualMap": {"show": false, "min": 0, "max": 100, "dimension": 2, "inRange": {"color": ["@wash", "@quiet"]}},
        "series": [{"type": "heatmap", "data": data, "label": {"show": true}, "itemStyle": {"borderColor": "@paper", "borderWidth": 2}}],
    })
}

/// One bar for each name, lying, largest first as they come; `color` is the word of a colour.
pub fn bars(rows: &[(String, u64, String)], unit: &str, color: &str) -> Value {
    let data: Vec<_> = rows.iter().map(|(_, count, href)| json!({"value": count, "href": href})).collect();
    json!({
        "grid": {"left": 8, "right": 48, "top": 8, "bottom": 24, "containLabel": true},
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "shadow"}},
        "xAxis": {"type": "value", "name": unit, "nameLocation": "middle", "nameGap": 24, "minInterval": 1},
        "yAxis": {"type": "category", "inverse": true, "data": rows.iter().map(|(name, ..)| short(name)).collect::<Vec<_>>(),
            "axisTick": {"show": false}, "axisLabel": {"width": 180, "overflow": "truncate"}},
        "series": [{"name": unit, "type": "bar", "itemStyle": {"color": format!("@{color}")}, "data": data,
            "label": {"show": true, "position": "right"}}],
    })
}

/// The colour of an outcome; nobody can tell is hatched, as everywhere.
pub fn style(outcome: Outcome) -> Value {
    let color = format!("@{}", outcome.as_str());
    if outcome == Outcome::Unknown {
        return json!({"color": color, "decal": {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 4], "rotation": 0.785, "color": "@paper"}});
    }
    json!({"color": color})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_end_the_data_block_or_hide_in_it() {
        let name = "</script><script>alert(1)</script>\u{202e}".to_owned();
        let option = pareto(&[(name, 1, "/logs?a=1&b=2".to_owned())]);
        let chart = Chart {
            name: "x",
            title: String::new(),
            note: String::new(),
            size: Size::Low,
            option,
            table: Grid::default(),
        };
        let data = chart.data();
        assert!(!data.contains(['<', '>', '&', '\u{202e}']), "{data}");
        assert_eq!(serde_json::from_str::<Value>(&data).expect("JSON"), chart.option);
    }

    #[test]
    fn a_long_name_is_cut_and_a_running_sum_ends_at_the_whole() {
        assert_eq!(short(&"x".repeat(4000)).chars().count(), NAME_LETTERS + 1);
        let bars = [("a".to_owned(), 3, String::new()), ("b".to_owned(), 1, String::new())];
        assert_eq!(pareto(&bars)["series"][1]["data"], json!([[75.0, 0], [100.0, 1]]));
    }

    #[test]
    fn gpus_are_told_apart_by_what_differs() {
        let name = "NVIDIA GeForce RTX 4080 Laptop GPU → Intel(R) Iris(R) Xe Graphics";
        assert_eq!(pair(name), "RTX 4080 laptop → Intel Iris Xe Grap…");
    }

    #[test]
    fn nodes_of_two_columns_with_one_name_stay_two() {
        let flow = |from: &str, column, to: &str| Flow {
            from: (column, from.to_owned()),
            to: (column + 1, to.to_owned()),
            count: 1,
            outcome: Outcome::Local,
            href: String::new(),
        };
        let option = sankey(&[flow("Intel", 0, "Local"), flow("Local", 1, "Intel")]);
        assert_eq!(option["series"][0]["data"].as_array().map(Vec::len), Some(3));
    }
}

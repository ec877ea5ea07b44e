//! A real browser without a window, and what a tester does with it: open, look, click, photograph, listen for complaints.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chromiumoxide::BrowserConfig;
use chromiumoxide::cdp::browser_protocol::dom::SetFileInputFilesParams;
use chromiumoxide::cdp::browser_protocol::emulation::{MediaFeature, SetDeviceMetricsOverrideParams};
use chromiumoxide::cdp::browser_protocol::input::{
    DispatchDragEventParams, DispatchDragEventType, DragData, DragDataItem,
};
use chromiumoxide::cdp::browser_protocol::log::EventEntryAdded;
use chromiumoxide::cdp::browser_protocol::page::Viewport;
use chromiumoxide::cdp::js_protocol::runtime::{EventConsoleApiCalled, EventExceptionThrown};
use chromiumoxide::layout::Point;
use chromiumoxide::page::ScreenshotParams;
use futures::StreamExt as _;
use serde_json::Value;
use tokio::runtime::Runtime;

/// How often a page is asked again, at most: two minutes in all, which only a hang reaches.
const LOOKS: u32 = 2400;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// A browser that does not end by then is killed.
const PARTING: Duration = Duration::from_secs(20);
/// The screens that are photographed are this tall; what lies below is in the picture too.
const HEIGHT_PX: u32 = 900;

/// Of a long page as much is photographed.
const MOST_PX: f64 = 2400.0;
/// Pictures are for looking at the whole, and lie in the repository.
const SCALE: f64 = 0.6;

/// Light or dark, as the reader's system says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// Dark ink on light paper.
    Light,
    /// The other way round.
    Dark,
}

impl Scheme {
    /// The word of the media feature `prefers-color-scheme`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// A browser with a profile of its own; both go with this value.
pub struct Browser {
    program: chromiumoxide::Browser,
    runtime: Runtime,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium: the one in `WEAVEWATCH_CHROMIUM`, else the first on the path.
    ///
    /// # Panics
    /// When there is none. The test is not skipped: a page that nobody opened is not tested.
    pub fn launch() -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut builder = BrowserConfig::builder().user_data_dir(profile.path()).viewport(None);
        if let Some(path) = std::env::var_os("WEAVEWATCH_CHROMIUM") {
            builder = builder.chrome_executable(PathBuf::from(path));
        }
        let config = builder
            // Root, as in a container, may not use the sandbox. The pages come from this machine only.
            .no_sandbox()
            .launch_timeout(Duration::from_mins(2))
            .request_timeout(Duration::from_mins(2))
            .args(["disable-gpu", "disable-quic", "disable-component-update", "no-default-browser-check"])
            .build()
            .expect("chromium is installed, or WEAVEWATCH_CHROMIUM names one");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("an event loop");
        let program = runtime.block_on(async {
            let (program, mut events) = chromiumoxide::Browser::launch(config).await.expect("chromium starts");
            tokio::spawn(async move { while events.next().await.is_some() {} });
            program
        });
        Self { program, runtime, _profile: profile }
    }

    /// Opens `url` in a new tab of this width and scheme.
    ///
    /// # Panics
    /// When it cannot be opened.
    pub fn open(&self, url: &str, width_px: u32, scheme: Scheme) -> Tab<'_> {
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let page = self.runtime.block_on(async {
            let page = self.program.new_page("about:blank").await.expect("a new tab");
            listen(&page, &complaints).await.expect("the tab reports");
            let phone = width_px < 600;
            let screen = SetDeviceMetricsOverrideParams::new(width_px, HEIGHT_PX, 1.0, phone);
            page.execute(screen).await.expect("any size will do");
            page.emulate_media_features(vec![
                MediaFeature::new("prefers-color-scheme", scheme.as_str()),
                MediaFeature::new("prefers-reduced-motion", "reduce"),
            ])
            .await
            .expect("both features are known");
            page
        });
        let tab = Tab { browser: self, page, complaints };
        tab.go(url);
        tab
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let program = &mut self.program;
        self.runtime.block_on(async {
            let close = async {
                program.close().await.ok()?;
                program.wait().await.ok()
            };
            // The profile's folder can only be removed when nobody writes into it any more.
            if tokio::time::timeout(PARTING, close).await.ok().flatten().is_none() {
                let _ = program.kill().await;
            }
        });
    }
}

/// A tab of a [`Browser`].
pub struct Tab<'b> {
    browser: &'b Browser,
    page: chromiumoxide::Page,
    complaints: Arc<Mutex<Vec<String>>>,
}

impl Tab<'_> {
    /// Opens another URL.
    ///
    /// # Panics
    /// When it does not load.
    #[track_caller]
    pub fn go(&self, url: &str) {
        let gone = self.browser.block_on(self.page.goto(url));
        gone.unwrap_or_else(|error| panic!("{url} does not load: {error}"));
        self.wait_for("document.readyState === 'complete'");
    }

    /// The value of a JavaScript expression.
    ///
    /// # Panics
    /// When it throws.
    #[track_caller]
    pub fn ask(&self, expression: &str) -> Value {
        self.browser
            .block_on(self.page.evaluate_expression(expression))
            .unwrap_or_else(|error| panic!("{expression}: {error}"))
            .value()
            .cloned()
            .unwrap_or_default()
    }

    /// A text value.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn ask_text(&self, expression: &str) -> String {
        let value = self.ask(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// A count.
    ///
    /// # Panics
    /// When it is none.
    #[track_caller]
    pub fn ask_number(&self, expression: &str) -> u64 {
        let value = self.ask(expression);
        value.as_u64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Asks until the expression is true.
    ///
    /// # Panics
    /// When it never is.
    #[track_caller]
    pub fn wait_for(&self, expression: &str) {
        let came = self.browser.block_on(async {
            for _ in 0..LOOKS {
                // Between two pages there is nobody to ask.
                if let Ok(answer) = self.page.evaluate_expression(expression).await
                    && answer.value() == Some(&Value::Bool(true))
                {
                    return true;
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            false
        });
        assert!(came, "never true: {expression}");
    }

    /// Clicks the middle of the first element that `selector` finds, with the mouse.
    ///
    /// # Panics
    /// When there is none, or it cannot be hit.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let clicked = self.browser.block_on(async {
            self.page.find_element(selector).await?.click().await?;
            Ok::<_, chromiumoxide::error::CdpError>(())
        });
        clicked.unwrap_or_else(|error| panic!("{selector} cannot be clicked: {error}"));
    }

    /// Clicks with the mouse where the body of a function says, `[x, y]` on the screen.
    ///
    /// # Panics
    /// When it says nothing.
    #[track_caller]
    pub fn click_at(&self, body: &str) {
        let place = self.ask(&format!("(() => {{ {body} }})()"));
        let number = |index: usize| place[index].as_f64().unwrap_or_else(|| panic!("{place} is no place"));
        let clicked = self.browser.block_on(async {
            self.page.click(Point { x: number(0), y: number(1) }).await?;
            Ok::<_, chromiumoxide::error::CdpError>(())
        });
        clicked.unwrap_or_else(|error| panic!("{place} cannot be clicked: {error}"));
    }

    /// Chooses a file in the field that `selector` finds.
    ///
    /// # Panics
    /// When there is no such field.
    #[track_caller]
    pub fn choose(&self, selector: &str, file: &Path) {
        let chosen = self.browser.block_on(async {
            let field = self.page.find_element(selector).await?;
            let files = SetFileInputFilesParams::builder()
                .file(file.to_string_lossy())
                .backend_node_id(field.backend_node_id)
                .build()
                .map_err(chromiumoxide::error::CdpError::msg)?;
            self.page.execute(files).await?;
            Ok::<_, chromiumoxide::error::CdpError>(())
        });
        chosen.unwrap_or_else(|error| panic!("{selector} takes no file: {error}"));
    }

    /// Drags a file over the page and drops it there.
    ///
    /// # Panics
    /// When the browser does not take it.
    #[track_caller]
    pub fn drop_file(&self, file: &Path) {
        let dropped = self.browser.block_on(async {
            for kind in [DispatchDragEventType::DragEnter, DispatchDragEventType::DragOver, DispatchDragEventType::Drop]
            {
                let data = DragData::builder()
                    // The library leaves an empty list out, and the browser wants one.
                    .item(DragDataItem::new("application/x-nothing", ""))
                    .file(file.to_string_lossy())
                    .drag_operations_mask(1);
                let data = data.build().map_err(chromiumoxide::error::CdpError::msg)?;
                self.page.execute(DispatchDragEventParams::new(kind, 300.0, 300.0, data)).await?;
            }
            Ok::<_, chromiumoxide::error::CdpError>(())
        });
        dropped.unwrap_or_else(|error| panic!("{} cannot be dropped: {error}", file.display()));
    }

    /// Closes it, so that a long walk does not keep every page.
    pub fn close(self) {
        // A tab that is gone is closed.
        let _ = self.browser.block_on(self.page.close());
    }

    /// The browser's button.
    pub fn back(&self) {
        self.ask("history.back()");
    }

    /// Takes a picture of the whole page as `NAME.png`, in the folder that `WEAVEWATCH_SCREENS` names, else in
    /// `target/screens`. A relative folder counts from the workspace's root.
    ///
    /// # Panics
    /// When it cannot be taken or written.
    #[track_caller]
    pub fn photograph(&self, name: &str) {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = root.join(std::env::var_os("WEAVEWATCH_SCREENS").unwrap_or_else(|| "target/screens".into()));
        std::fs::create_dir_all(&folder).expect("a writable folder");
        // What sticks to the screen's edge would else lie over the middle of the page.
        self.ask("scrollTo(0, 0)");
        let taken = self.browser.block_on(async {
            let size = self.page.layout_metrics().await?.css_content_size;
            // Small and not endless: what is looked at is the first screens.
            let height = size.height.min(MOST_PX);
            let whole = Viewport { x: 0.0, y: 0.0, width: size.width, height, scale: SCALE };
            // The library's own `full_page` would leave the tab with another screen behind.
            let params = ScreenshotParams::builder().clip(whole).capture_beyond_viewport(true).build();
            self.page.save_screenshot(params, folder.join(format!("{name}.png"))).await
        });
        taken.unwrap_or_else(|error| panic!("no picture of {name}: {error}"));
    }

    /// What is wrong with how the page looks: texts that overlap or are cut (`looks.js`).
    ///
    /// # Panics
    /// When it cannot be asked.
    #[track_caller]
    pub fn flaws(&self) -> Vec<String> {
        // At once, without the animation of a picture or a sticky edge in between.
        self.ask("scrollTo(0, 0)");
        sentences(&self.ask(include_str!("looks.js")))
    }

    /// What axe-core finds that keeps people out, serious or worse. `tests/run` installs it; `WEAVEWATCH_TEST_AXE` names its file.
    ///
    /// # Panics
    /// When it is not there: a page that nobody checked is not accessible.
    #[track_caller]
    pub fn barriers(&self) -> Vec<String> {
        let file =
            std::env::var_os("WEAVEWATCH_TEST_AXE").expect("WEAVEWATCH_TEST_AXE names axe.min.js, as in tests/run");
        let script = std::fs::read_to_string(&file).expect("axe-core can be read");
        // By the debugger's protocol, so that the page's policy stands.
        self.ask(&format!("{script}; true"));
        let run = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations \
                   .filter(one => ['serious', 'critical'].includes(one.impact)) \
                   .map(one => one.id + ': ' + one.help + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')))";
        sentences(&self.ask(run))
    }

    /// What the browser complained about since the tab was opened: errors and warnings of the console, scripts that
    /// threw, refusals by the content security policy, files that did not load.
    ///
    /// Two complaints are provoked first. Everything before them has arrived when they have, and a page without a
    /// policy, or a deaf listener, does not pass for a quiet one.
    ///
    /// # Panics
    /// When the provoked complaints do not come.
    #[track_caller]
    pub fn complaints(&self) -> Vec<String> {
        const CALL: &str = "provoked-by-the-test-call";
        const IMAGE: &str = "https://provoked-by-the-test.invalid/";
        self.ask(&format!("console.error('{CALL}'); new Image().src = '{IMAGE}'; true"));
        for _ in 0..LOOKS {
            let heard = self.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let has = |word| heard.iter().any(|complaint: &String| complaint.contains(word));
            if has(CALL) && has(IMAGE) {
                return heard.into_iter().filter(|text| !text.contains(CALL) && !text.contains(IMAGE)).collect();
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        panic!("the provoked complaints did not come, only {:?}", self.complaints);
    }
}

fn sentences(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list} is no list")).iter();
    list.map(|sentence| sentence.as_str().unwrap_or_default().to_owned()).collect()
}

/// Collects everything that a browser shows as a problem in its console.
async fn listen(
    page: &chromiumoxide::Page,
    complaints: &Arc<Mutex<Vec<String>>>,
) -> Result<(), chromiumoxide::error::CdpError> {
    page.enable_log().await?;
    page.enable_runtime().await?;
    let add = |complaints: &Arc<Mutex<Vec<String>>>, text: String| {
        complaints.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    };

    let mut entries = page.event_listener::<EventEntryAdded>().await?;
    let mut calls = page.event_listener::<EventConsoleApiCalled>().await?;
    let mut throws = page.event_listener::<EventExceptionThrown>().await?;
    let heard = Arc::clone(complaints);
    tokio::spawn(async move {
        loop {
            let text = tokio::select! {
                Some(event) = entries.next() => match event.entry.level.as_ref() {
                    "error" | "warning" => format!("{:?}: {} {:?}", event.entry.source, event.entry.text, event.entry.url),
                    _ => continue,
                },
                Some(event) = calls.next() => match event.r#type.as_ref() {
                    "error" | "warning" | "assert" => format!("console: {:?}", event.args),
                    _ => continue,
                },
                Some(event) = throws.next() => format!("exception: {:?}", event.exception_details),
                else => break,
            };
            add(&heard, text);
        }
    });
    Ok(())
}

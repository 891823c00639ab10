// The pages of `kb serve` in a real browser: `cargo xtask browser` starts the servers and runs this with Node.
//
//   node pages.mjs OPEN_SERVER TOKEN_SERVER TOKEN SCREENSHOTS WRITING_SERVER
//
// OPEN_SERVER serves `docs` (docs/ of this repository), `office` (tests/corpus/documents), `code` (web/src) and `hostile`,
// WRITING_SERVER `written`, which may be changed. TOKEN may write. Each check says in one line what it found wrong; the exit status is the number of wrong
// ones, at most 100.
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.cwd()}/package.json`);
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [open, closed, token, screenshots, writing] = process.argv.slice(2);

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const PAGES = {
  start: "/", search: "/?q=how+does+a+reader+notice+a+new+commit", why: "/?q=stemming&explain=1",
  nothing: "/?q=zebra+pancake+recipe", filtered: "/?q=kb&class=doc&file=docs", markdown: "/d/docs/search.md",
  marked: "/d/docs/search.md?lines=20-24#L20", lines: "/d/docs/search.md?view=lines", folder: "/b/docs/",
  about: "/about/docs", find: "/find?q=limits", sheet: "/d/office/tables.xlsx", slides: "/d/office/notes.pptx",
  paper: "/d/office/numbered-headings.docx", hostile: "/d/hostile/hostile.md", missing: "/d/docs/none.md",
  api: "/api", upload: `${writing}/upload/written?folder=new`, remove: `${writing}/remove/written/tides.md`,
  code: "/d/code/text/lines.rs", codelines: "/d/code/router.rs?lines=40-60#L40", script: "/d/code/assets/site.js", agents: "/agents",
  edited: `${writing}/d/written/tides.md`, listed: `${writing}/b/written/`,
};

let wrong = 0;
const check = (what, holds, seen = "") => {
  if (holds) return;
  wrong += 1;
  console.log(`WRONG: ${what}${seen ? `: ${String(seen).slice(0, 300)}` : ""}`);
};

const browser = await chromium.launch({ executablePath: process.env.KB_CHROMIUM || "/usr/bin/chromium", args: FLAGS });

/** A page that reports what no page may do. */
const visit = async (context, name) => {
  const page = await context.newPage();
  page.on("pageerror", (error) => check(`${name} has no error of the script`, false, error.message));
  page.on("dialog", (dialog) => { check(`${name} opens no dialog`, false, dialog.message()); dialog.dismiss(); });
  page.on("console", (line) => {
    if (line.type() === "error" && !/status of (404|401|415)/.test(line.text())) check(`${name} has a clean console`, false, line.text());
  });
  page.on("request", (request) => {
    const url = request.url();
    check(`${name} asks this server alone`, url.startsWith(open) || url.startsWith(closed) || url.startsWith(writing) || url.startsWith("data:"), url);
  });
  return page;
};

// Looks, width and access of each page in both themes.
mkdirSync(screenshots, { recursive: true });
for (const [width, colorScheme] of [[1280, "light"], [1280, "dark"], [360, "light"], [2560, "dark"]]) {
  // Only for axe, which is put into the page.
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
  for (const [name, path] of Object.entries(PAGES)) {
    const page = await visit(context, name);
    await page.goto(new URL(path, open).href);
    if (name === "edited") await page.click(".edit summary");
    if (name === "api") await page.locator("details summary").first().click();
    await page.screenshot({ path: `${screenshots}/${name}-${width}-${colorScheme}.png` });
    const spills = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
    check(`${name} fits into ${width} pixels`, !spills);
    if (width !== 2560) {
      await page.evaluate(axeSource);
      const found = await page.evaluate((rules) => globalThis.axe.run(document, { runOnly: rules }), RULES);
      for (const { id, nodes } of found.violations) check(`${name}, ${width} ${colorScheme}, obeys ${id}`, false, nodes[0].html);
    }
    await page.close();
  }
  await context.close();
}

// With the policy of the server in force: typing, keys, history.
{
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await visit(context, "typing");
  await page.goto(`${open}/`);
  await page.keyboard.press("/");
  await page.keyboard.type("keyword search", { delay: 20 });
  await page.waitForSelector(".hit");
  await page.waitForURL(/q=keyword\+search/);
  check("the title follows what is typed", (await page.title()) === "keyword search - kb", await page.title());
  const first = await page.locator(".hit h2 a").first().getAttribute("href");
  await page.keyboard.press("ArrowDown");
  check("the arrow chooses the first hit", await page.locator(".hit").first().evaluate((hit) => hit.classList.contains("chosen")));
  await page.keyboard.press("y");
  await page.waitForSelector(".note");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check("y copies path and lines", /^\S+:\d+(-\d+)?$/.test(copied), copied);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => first.startsWith(url.pathname));
  const marked = await page.waitForSelector(".marked", { timeout: 5000 }).catch(() => null);
  check("Enter opens the hit and marks its lines", marked !== null, page.url());
  await page.waitForLoadState("load");
  await page.goBack();
  await page.waitForSelector(".hit");
  check("back shows the results again", (await page.inputValue("#q")) === "keyword search", await page.inputValue("#q"));
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#q").value === "");
  const start = await page.waitForSelector(".welcome", { timeout: 5000 }).catch(() => null);
  check("and then the start", start !== null);
  await page.locator("body").press("t");
  await page.keyboard.type("thrmod");
  await page.waitForSelector("dialog .names a");
  check("the finder finds by letters in order", /threat-model\.md$/.test(await page.locator("dialog .names a").first().textContent()));
  await page.keyboard.press("Enter");
  await page.waitForURL(/threat-model\.md/);
  await context.close();
}

// By the keyboard alone every control is reached, and what has the focus is seen.
{
  const context = await browser.newContext();
  const page = await visit(context, "keyboard");
  await page.goto(`${open}/?q=limits`);
  const seen = new Set();
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press("Tab");
    const here = await page.evaluate(() => {
      const element = document.activeElement;
      // The button of a date field has the focus inside of the field, and a ring of the browser's.
      const isInside = !element.matches(":focus") && element.matches(":focus-within");
      const outline = isInside ? "inside" : getComputedStyle(element).outlineStyle;
      return { is: `${element.tagName} ${element.getAttribute("name") || element.textContent.slice(0, 30)}`, outline };
    });
    check(`the focus on ${here.is} is seen`, here.outline !== "none" || here.is.startsWith("BODY"), here.outline);
    seen.add(here.is.split(" ")[0]);
  }
  for (const tag of ["A", "INPUT", "BUTTON", "SUMMARY"]) check(`Tab reaches ${tag}`, seen.has(tag), [...seen]);
  await context.close();
}

// Without a script.
{
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await visit(context, "no script");
  await page.goto(`${open}/`);
  await page.fill("#q", "page extents");
  await page.click("form.search button");
  check("a search works without a script", (await page.locator(".hit").count()) > 0);
  await page.locator("#filters > summary").click();
  await page.check("input[name=class][value=doc]");
  await page.click("#filters button");
  check("filters work without a script", page.url().includes("class=doc") && (await page.locator(".hit").count()) > 0, page.url());
  await page.locator(".hit h2 a").first().click();
  check("a hit opens and is marked without a script", (await page.locator(".marked").count()) > 0);
  await page.goto(`${open}/b/docs/`);
  await page.click("text=decisions/");
  check("folders work without a script", (await page.locator(".listing a").count()) > 5);
  await context.close();
}

// Signing in and out.
{
  const context = await browser.newContext();
  const page = await visit(context, "sign-in");
  await page.goto(`${closed}/?q=limits`);
  check("a server with tokens asks for one", page.url().includes("/sign-in?next="), page.url());
  await page.fill("#token", "kb_wrong");
  await page.click("main button");
  check("a wrong token is said to be wrong", (await page.locator("[role=alert]").count()) === 1);
  await page.fill("#token", token);
  await page.click("main button");
  check("a right token leads to what was asked for", new URL(page.url()).search === "?q=limits", page.url());
  check("and shows it", (await page.locator(".hit").count()) > 0);
  check("no script reads the cookie", (await page.evaluate(() => document.cookie)) === "");
  await page.click("text=Sign out");
  await page.goto(`${closed}/`);
  check("after signing out the form is back", page.url().includes("/sign-in"), page.url());
  await context.close();
}

// Tokens: made, shown once, used, revoked. A program is coloured.
for (const [colorScheme, javaScriptEnabled] of [["light", true], ["dark", false]]) {
  const context = await browser.newContext({ colorScheme, javaScriptEnabled, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await visit(context, "tokens");
  await page.goto(`${closed}/tokens`);
  await page.fill("#token", token);
  await page.click("main button");
  check("the tokens are shown to a token that may write", (await page.locator("h1").textContent()) === "Access tokens", page.url());
  await page.fill("#name", `phone ${colorScheme}`);
  await page.click("form.token button");
  const made = await page.locator("#token").textContent();
  check("a new token is shown", made.startsWith("kb_"), made);
  await page.screenshot({ path: `${screenshots}/token-${colorScheme}.png` });
  if (javaScriptEnabled) {
    await page.click(".once .copy");
    check("and copied", (await page.evaluate(() => navigator.clipboard.readText())) === made);
  } else {
    check("nothing copies without a script", !(await page.locator(".once .copy").isVisible()));
  }
  await page.goto(`${closed}/tokens`);
  check("once", !(await page.content()).includes(made));
  const asked = await context.request.get(`${closed}/api/v1/status`, { headers: { Authorization: `Bearer ${made}` } });
  check("it lets a program in", asked.status() === 200, asked.status());
  await page.click(`[aria-label="Revoke phone ${colorScheme}"]`);
  check("a token is revoked", page.url() === `${closed}/tokens` && !(await page.content()).includes(`phone ${colorScheme}`));
  await page.goto(`${open}/d/code/text/lines.rs`);
  const colour = (selector) => page.locator(selector).first().evaluate((piece) => getComputedStyle(piece).color);
  const [comment, text, word] = [await colour(".hc"), await colour(".ht"), await colour(".hk")];
  check("pieces of a program have colours of their own", new Set([comment, text, word]).size === 3, [comment, text, word]);
  await context.close();
}

// Uploading, tags, removing: with a script, and without.
for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? "with a script" : "without a script";
  const context = await browser.newContext({ javaScriptEnabled });
  const page = await visit(context, `writing ${how}`);
  const file = `${screenshots}/../eclipse.md`;
  writeFileSync(file, "# Eclipse\n\nThe moon hides the sun.\n");
  await page.goto(`${writing}/b/written/`);
  await page.click("text=Upload");
  await page.fill("#folder", `new ${javaScriptEnabled}`);
  await page.fill("#tags", "sky, moon");
  await page.setInputFiles("#files", file);
  await page.click("#upload button");
  await page.waitForSelector("#uploads a");
  await page.waitForFunction(() => true);
  const said = await page.locator("#uploads li").first().textContent();
  check(`an upload ${how} says how many chunks there are`, /^new (true|false)\/eclipse\.md\s+1\schunk$/.test(said.trim()), said);
  await page.screenshot({ path: `${screenshots}/uploaded-${javaScriptEnabled}.png` });
  await page.click("#uploads a");
  check(`what was uploaded ${how} is shown`, (await page.locator("h1").last().textContent()) === "Eclipse", page.url());
  await page.click(".edit summary");
  check(`its tags are those of the form ${how}`, (await page.inputValue(".edit input[name=tags]")) === "moon, sky", await page.inputValue(".edit input[name=tags]"));
  await page.fill(".edit input[name=tags]", "sky, star");
  await page.click(".edit button");
  const tags = await page.locator(".head .tag").allTextContents();
  check(`tags are changed ${how}`, tags.join() === "sky,star", tags);
  await page.click("text=Remove");
  await page.click("button.danger");
  check(`a document is removed ${how}`, page.url().startsWith(`${writing}/b/written/`), page.url());
  check(`and is gone ${how}`, !(await page.content()).includes("eclipse.md"));
  await context.close();
}

// Files that are dropped on the page.
{
  const context = await browser.newContext();
  const page = await visit(context, "dropping");
  await page.goto(`${writing}/upload/written`);
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["# Dropped"], "dropped <b>.md", { type: "text/markdown" }));
    transfer.items.add(new File([new Uint8Array([0, 1, 2, 255])], "bytes.bin"));
    return transfer;
  });
  await page.dispatchEvent("body", "drop", { dataTransfer: dropped });
  await page.waitForSelector("#uploads .wrong");
  const rows = await page.locator("#uploads li").allTextContents();
  check("dropped files are sent, and each says what became of it", rows.length === 2 && /1 chunk$/.test(rows[0]), rows);
  await page.click("#uploads a");
  check("a name is a name, whatever is in it", (await page.locator(".crumbs h1").textContent()) === "dropped <b>.md");
  await context.close();
}

// What a first page weighs.
{
  const context = await browser.newContext();
  const page = await visit(context, "weight");
  let bytes = 0;
  let requests = 0;
  page.on("response", async (response) => {
    requests += 1;
    bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  await page.goto(`${open}/`, { waitUntil: "networkidle" });
  check("the first page takes few requests", requests <= 4, requests);
  check("the first page takes at most 48 KB", bytes <= 48 << 10, bytes);
  await context.close();
}

await browser.close();
console.log(wrong ? `${wrong} wrong` : `all right; ${Object.keys(PAGES).length} pages in ${screenshots}`);
process.exit(Math.min(wrong, 100));

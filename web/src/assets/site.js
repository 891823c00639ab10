// What a script adds to pages that work without one: results while typing, keys, a finder of documents, copying.
"use strict";
(() => {
  const box = document.getElementById("q");
  const results = document.getElementById("results");
  const DELAY_MS = 120;

  // Results while typing. A newer request ends an older one; the address follows what is shown.
  let timer = 0;
  let running = null;
  const addressOf = (form) => {
    const query = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...query]) if (!value.trim()) query.delete(name, value);
    return `${form.getAttribute("action")}?${query}`;
  };
  const show = async (address, remember) => {
    if (running) running.abort();
    const control = new AbortController();
    running = control;
    try {
      const url = new URL(address, location.href);
      url.searchParams.set("part", "results");
      const response = await fetch(url, { signal: control.signal, headers: { Accept: "text/html" } });
      if (!response.ok || response.redirected) { location.assign(address); return; }
      results.innerHTML = await response.text();
      document.querySelectorAll("#filters input[name=q]").forEach((input) => { input.value = box.value; });
      const isHere = new URL(address, location.href).href === location.href;
      if (remember === "push" && !isHere) history.pushState(null, "", address);
      if (remember === "replace") history.replaceState(null, "", address);
      document.title = box.value ? `${box.value} - kb` : "kb";
      choose(-1);
    } catch (error) {
      if (error.name !== "AbortError") note("The server does not answer.");
    } finally {
      if (running === control) running = null;
    }
  };
  if (box && results && box.dataset.live !== undefined) {
    let typed = false;
    box.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { show(addressOf(box.form), typed ? "replace" : "push"); typed = true; }, DELAY_MS);
    });
    box.form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      typed = false;
      show(addressOf(box.form), "push");
    });
    addEventListener("popstate", () => {
      const url = new URL(location.href);
      box.value = url.searchParams.get("q") || "";
      show(location.href, "");
    });
  }

  // The chosen hit, and keys.
  let chosen = -1;
  const hits = () => [...(document.querySelector("dialog") || document).querySelectorAll(".hit, dialog .names li")];
  const choose = (number) => {
    const all = hits();
    all.forEach((hit) => hit.classList.remove("chosen"));
    chosen = Math.max(-1, Math.min(number, all.length - 1));
    const hit = all[chosen];
    if (!hit) return;
    hit.classList.add("chosen");
    hit.scrollIntoView({ block: "nearest" });
    hit.querySelector("a").focus({ preventScroll: true });
  };
  const note = (text) => {
    const line = document.createElement("p");
    line.className = "note";
    line.setAttribute("role", "status");
    line.textContent = text;
    document.body.append(line);
    setTimeout(() => line.remove(), 2000);
  };
  const copyPlace = async () => {
    const hit = hits()[chosen] || document.querySelector(".head");
    let place = hit && hit.dataset.place;
    if (!place) return;
    const line = /^#L(\d+)-L?(\d+)$/.exec(location.hash) || /^(\d+)-(\d+)$/.exec(new URLSearchParams(location.search).get("lines"))
      || /^#L(\d+)$/.exec(location.hash);
    if (line && !hit.classList.contains("hit")) place += `:${line[1]}${line[2] ? `-${line[2]}` : ""}`;
    try { await navigator.clipboard.writeText(place); note(`Copied ${place}`); } catch { note(place); }
  };

  // Buttons that copy what an element holds; without a script they are not there.
  document.querySelectorAll("[data-copy]").forEach((button) => {
    const source = document.querySelector(button.dataset.copy);
    if (!source) return;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(source.textContent); note("Copied"); } catch { getSelection().selectAllChildren(source); }
    });
  });

  // A finder of documents.
  const finder = () => {
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-label", "Find a document");
    const input = document.createElement("input");
    input.type = "search";
    input.setAttribute("aria-label", "A part of its path or title");
    const list = document.createElement("div");
    dialog.append(input, list);
    document.body.append(dialog);
    const base = document.querySelector(".home").getAttribute("href");
    let last = null;
    input.addEventListener("input", async () => {
      if (last) last.abort();
      last = new AbortController();
      try {
        const query = new URLSearchParams({ q: input.value, part: "list" });
        const response = await fetch(`${base}find?${query}`, { signal: last.signal, headers: { Accept: "text/html" } });
        if (response.redirected) { location.reload(); return; }
        if (response.ok) { list.innerHTML = await response.text(); chosen = -1; }
      } catch (error) { if (error.name !== "AbortError") note("The server does not answer."); }
    });
    input.addEventListener("keydown", (event) => {
      const first = list.querySelector("a");
      if (event.key === "Enter" && first) first.click();
    });
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
    input.focus();
  };

  // Files are sent one by one, with their progress; also those that are dropped on the page.
  const upload = document.getElementById("upload");
  const send = (file) => new Promise((done) => {
    const folder = upload.elements.folder.value.trim().replace(/^\/+|\/+$/g, "");
    const path = (folder ? `${folder}/${file.name}` : file.name).split("/").map(encodeURIComponent).join("/");
    const tags = upload.elements.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const query = new URLSearchParams(tags.map((tag) => ["tag", tag]));
    const row = document.createElement("li");
    const progress = document.createElement("progress");
    progress.setAttribute("aria-label", `Upload of ${file.name}`);
    row.append(`${file.name} `, progress);
    document.getElementById("uploads").append(row);
    const say = (text, wrong) => {
      const line = document.createElement("span");
      line.className = wrong ? "wrong" : "quiet";
      line.textContent = text;
      progress.remove();
      row.append(line);
      done();
    };
    const request = new XMLHttpRequest();
    request.open("PUT", `${upload.dataset.documents}${path}?${query}`);
    if (file.type) request.setRequestHeader("Content-Type", file.type);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable && event.loaded < event.total) { progress.max = event.total; progress.value = event.loaded; } else progress.removeAttribute("value"); });
    request.addEventListener("error", () => say("The server does not answer.", true));
    request.addEventListener("load", () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* what a proxy says is no JSON */ }
      if (request.status !== 201) { say(answer.detail || `Status ${request.status}`, true); return; }
      const link = document.createElement("a");
      link.href = upload.dataset.pages + path;
      link.textContent = folder ? `${folder}/${file.name}` : file.name;
      row.replaceChildren(link, " ", progress);
      const chunks = answer.chunkCount;
      say(chunks === undefined || chunks === null ? "is stored once the file can be written" : `${chunks} ${chunks === 1 ? "chunk" : "chunks"}`);
    });
    request.send(file);
  });
  if (upload) {
    const sendAll = async (files) => { for (const file of files) await send(file); };
    upload.addEventListener("submit", async (event) => {
      event.preventDefault();
      await sendAll([...upload.elements.file.files]);
      upload.elements.file.value = "";
    });
    upload.nextElementSibling.append(" Files can be dropped on this page.");
    addEventListener("dragover", (event) => { event.preventDefault(); upload.classList.add("dropped"); });
    addEventListener("dragleave", (event) => { if (!event.relatedTarget) upload.classList.remove("dropped"); });
    addEventListener("drop", (event) => {
      event.preventDefault();
      upload.classList.remove("dropped");
      sendAll([...event.dataTransfer.files]);
    });
  }

  // Keys of one letter can be turned off: some people speak to their browser.
  const hasKeys = () => localStorage.getItem("kb-keys") !== "off";
  const keys = document.querySelector(".keys");
  if (keys) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    const name = () => { button.textContent = hasKeys() ? "Turn keys off" : "Turn keys on"; };
    button.addEventListener("click", () => { localStorage.setItem("kb-keys", hasKeys() ? "off" : "on"); name(); });
    name();
    keys.append(" ", button);
  }

  const isText = (element) => element && /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) && !/^(checkbox|radio|submit)$/.test(element.type);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inText = isText(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const here = document.activeElement;
      const isOfList = here === document.body || here === box || here.closest("main:focus, .hit h2, dialog");
      if (!hits().length || !isOfList || (inText && event.key === "ArrowUp")) return;
      event.preventDefault();
      if (event.key === "ArrowUp" && chosen <= 0) { choose(-1); (document.querySelector("dialog input") || box).focus(); } else choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
      return;
    }
    if (inText || !hasKeys()) return;
    if (event.key === "/") { event.preventDefault(); box.focus(); box.select(); }
    if (event.key === "t") { event.preventDefault(); finder(); }
    if (event.key === "y") copyPlace();
  });

  // A range of lines: shift and a click on a second number.
  addEventListener("click", (event) => {
    const number = event.target.closest && event.target.closest("a.number");
    const first = /^#L(\d+)/.exec(location.hash);
    if (!number || !event.shiftKey || !first) return;
    event.preventDefault();
    const lines = [Number(first[1]), Number(number.textContent)].sort((one, other) => one - other);
    history.replaceState(null, "", `#L${lines[0]}-L${lines[1]}`);
    markRange();
  });
  const markRange = () => {
    const range = /^#L(\d+)-L?(\d+)$/.exec(location.hash);
    document.querySelectorAll(".line.ranged").forEach((line) => line.classList.remove("ranged", "marked"));
    if (!range) return;
    for (let number = Number(range[1]); number <= Number(range[2]); number += 1) {
      const line = document.getElementById(`L${number}`);
      if (!line) break;
      line.classList.add("ranged", "marked");
    }
    const first = document.getElementById(`L${range[1]}`);
    if (first) first.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", markRange);
  markRange();

  // The contents show where the reader is.
  const contents = document.getElementById("contents");
  if (contents && matchMedia("(min-width: 62rem)").matches) contents.open = true;
  if (contents) {
    const places = [...contents.querySelectorAll("a[href^='#']")]
      .map((link) => [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))])
      .filter(([, place]) => place);
    let waits = false;
    const follow = () => {
      waits = false;
      const above = places.filter(([, place]) => place.getBoundingClientRect().top < 120);
      const [current] = above[above.length - 1] || places[0] || [];
      contents.querySelectorAll("[aria-current]").forEach((link) => link.removeAttribute("aria-current"));
      if (current) current.setAttribute("aria-current", "location");
    };
    addEventListener("scroll", () => { if (!waits) { waits = true; requestAnimationFrame(follow); } }, { passive: true });
    follow();
  }
  const filters = document.getElementById("filters");
  if (filters && matchMedia("(min-width: 62rem)").matches) filters.open = true;
})();

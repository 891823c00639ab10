#!/usr/bin/env node
// Starts the program of this system, which npm installed as an optional dependency. Nothing is downloaded here.
"use strict";

const { spawnSync } = require("node:child_process");

const name = `kbfile-${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";

let program;
try {
  program = require.resolve(`${name}/kb${suffix}`);
} catch {
  console.error(`kb: no program for ${process.platform} on ${process.arch}.`);
  console.error(`hint: install ${name} if optional dependencies were left out, or build kb from source`);
  process.exit(2);
}
const result = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (result.error) {
  console.error(`kb: ${result.error.message}`);
  process.exit(2);
}
// 130: ended by Ctrl-C, as kb says it itself.
process.exit(result.status ?? 130);

// The server through the official TypeScript client (npm: @modelcontextprotocol/client), over pipes
// and over HTTP, with and without the handshake of older revisions. Exit status 0: all as expected.
//
// usage: node official.mjs MODULES (--url URL | -- command arguments...)
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const [modules, how, ...rest] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');

async function check(mode) {
  const transport = how === '--url'
    ? new StreamableHTTPClientTransport(new URL(rest[0]))
    : new StdioClientTransport({ command: rest[0], args: rest.slice(1), stderr: 'ignore' });
  const client = new Client({ name: 'official', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
  await client.connect(transport);
  const call = (name, given) => client.callTool({ name, arguments: given });
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  for (const wanted of ['search', 'search_docs', 'search_code', 'get_document']) {
    assert(tools.includes(wanted), `${wanted} among ${tools}`);
  }

  // The client validates the structured form against the published schema.
  const found = await call('search_docs', { query: 'how is the lamp kept', top_k: 3 });
  const path = found.structuredContent.results[0].path;
  assert(found.content[0].text.includes(path));
  const read = await call('get_document', { doc_handle: path });
  assert.equal(read.structuredContent.document_id, path);
  const wrong = await call('search_docs', { query: 'x', top_k: 99 });
  assert(wrong.isError && wrong.content[0].text.startsWith('INVALID_ARGUMENT: '));
  await assert.rejects(call('no_such_tool', {}), (error) => error.code === -32602);

  const resources = (await client.listResources()).resources;
  const { uri } = resources.find((one) => one.name === path);
  const { contents } = await client.readResource({ uri });
  assert.equal(contents[0].text, read.structuredContent.body);
  const prompt = await client.getPrompt({ name: 'answer_from_docs', arguments: { question: 'what burns?' } });
  assert(prompt.messages[0].content.text.includes('what burns?'));
  await client.close();
  console.log(`ok: TypeScript, ${JSON.stringify(mode)}, ${tools.length} tools`);
}

for (const mode of ['auto', 'legacy', { pin: '2026-07-28' }]) await check(mode);
process.exit(0);

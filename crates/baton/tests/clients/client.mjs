// The official TypeScript client of MCP against Baton: `client.mjs stdio BATON` or `client.mjs http URL`, in a repository.
// Prints one line of JSON for each case. SDK names the folder of @modelcontextprotocol/sdk.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const sdk = (path) => import(`${process.env.SDK}/dist/esm/${path}`);
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { StreamableHTTPClientTransport } = await sdk("client/streamableHttp.js");
const { CallToolResultSchema, ToolListChangedNotificationSchema } = await sdk("types.js");

const PATIENCE = 60_000;
const TASKFILE = ".agent/Taskfile.yml";
const [kind, target] = process.argv.slice(2);

const transport = (session) =>
  kind === "http"
    ? new StreamableHTTPClientTransport(new URL(target), { sessionId: session })
    : new StdioClientTransport({ command: target, args: ["mcp"], env: process.env, cwd: process.cwd() });

const text = (result) => result.content.map((block) => block.text ?? "").join("");
const check = (holds, what) => {
  if (!holds) throw new Error(typeof what === "string" ? what : JSON.stringify(what));
};

async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`not in time: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

function isRunning(marker) {
  return readdirSync("/proc").some((folder) => {
    try {
      return readFileSync(`/proc/${folder}/cmdline`, "utf8").includes(marker);
    } catch {
      return false;
    }
  });
}

const run = (client, task, args, options) =>
  client.callTool({ name: "run_user_task", arguments: { task_name: task, args } }, CallToolResultSchema, {
    timeout: PATIENCE,
    ...options,
  });

async function listed(client) {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check(names.includes("run_user_task") && names.includes("add_task"), names);
}

async function called(client) {
  const result = await run(client, "greet");
  check(!result.isError && text(result).includes("Hello"), result);
}

async function errors(client) {
  const result = await run(client, "no-such-task");
  check(result.isError && text(result).includes("no-such-task"), result);
  const refused = await client.callTool({ name: "no_such_tool", arguments: {} }).then(
    (result) => result.isError,
    (error) => String(error).includes("no_such_tool"),
  );
  check(refused, "a tool that is not there was called");
}

async function list_changed(client) {
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
  renameSync(TASKFILE, `${TASKFILE}.aside`);
  await until("the list changes", () => changes >= 1);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  check(!names.includes("run_user_task"), names);
  renameSync(`${TASKFILE}.aside`, TASKFILE);
  await until("it changes back", () => changes >= 2);
  await listed(client);
}

async function cancelled(client) {
  const marker = resolve("marker");
  const stop = new AbortController();
  const call = run(client, "wait", undefined, { signal: stop.signal }).then(
    () => "answered",
    () => "cancelled",
  );
  await until("it runs", () => isRunning(marker));
  stop.abort("no longer needed");
  check((await call) === "cancelled", "it was answered");
  await until("its process is gone", () => !isRunning(marker));
  await called(client);
}

async function concurrent(client) {
  const numbers = [...Array(12).keys()];
  const results = await Promise.all(numbers.map((number) => run(client, "say", `number-${number}-`)));
  results.forEach((result, number) => check(text(result).includes(`number-${number}-`), result));
}

// The connection is lost while a tool runs; another one gets the answer.
async function resumed() {
  if (kind !== "http") return;
  const first = transport();
  const client = new Client({ name: "official", version: "1" });
  await client.connect(first);
  let token;
  run(client, "release", undefined, { onresumptiontoken: (seen) => (token = seen) }).catch(() => {});
  await until("it runs, and can be resumed", () => existsSync("begun") && token);
  const session = first.sessionId;
  await first.close();
  const second = new Client({ name: "official", version: "1" });
  await second.connect(transport(session));
  const answer = run(second, "release", undefined, { resumptionToken: token });
  writeFileSync("released", "");
  check(text(await answer).includes("it went on"), await answer);
  rmSync("begun");
  rmSync("released");
  await second.close();
}

const client = new Client({ name: "official", version: "1" });
await client.connect(transport());
for (const step of [listed, called, errors, list_changed, cancelled, concurrent, resumed]) {
  const line = await step(client).then(
    () => ({ ok: true }),
    (error) => ({ ok: false, why: String(error) }),
  );
  console.log(JSON.stringify({ case: step.name, ...line }));
}
await client.close();
process.exit(0);

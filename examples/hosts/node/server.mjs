/**
 * An agent host on TanStack AI, served over AG-UI with node:http.
 *
 * Its model is scripted: it answers by cue, the same every time, and needs no network.
 */

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { EventType, chat, chatParamsFromRequestBody, mergeAgentTools, toServerSentEventsStream, toolDefinition } from "@tanstack/ai";
import { BaseTextAdapter } from "@tanstack/ai/adapters";
import { z } from "zod";

const BODY_LIMIT = 4 * 1024 * 1024;
const CUE = /^hostproof: (say|show the form|pay two at once|pay|fail|take your time) (\S+)$/;

/** @type {{tool: string, arguments: {to: string, amount: number}, callId?: string}[]} every payment made since the server started */
const effects = [];

const pay = toolDefinition({
  name: "pay",
  description: "Pay somebody an amount.",
  inputSchema: z.object({ to: z.string(), amount: z.number() }),
  needsApproval: true,
}).server(async (args, context) => {
  await sleep(300);
  effects.push({ tool: "pay", arguments: args, callId: context?.toolCallId });
  return `paid ${args.amount} to ${args.to}`;
});

const takeTime = toolDefinition({
  name: "take_time",
  description: "Do something slow.",
  inputSchema: z.object({}),
}).server(async () => {
  await sleep(200);
  return "took my time";
});

/** What a cue has the model call. @type {Record<string, (nonce: string) => [tool: string, args: object][]>} */
const CALLS = {
  pay: (to) => [["pay", { to, amount: 10 }]],
  "pay two at once": (to) => [10, 20].map((amount) => ["pay", { to, amount }]),
  "take your time": () => [["take_time", {}]],
  "show the form": (title) => [["show_form", { title }]],
};

/** The text of a message's content. @param {import("@tanstack/ai").ModelMessage["content"] | undefined} content */
function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => (part.type === "text" ? part.content : "")).join("");
}

/** The newest user message's cue answered, or what came of the calls it led to. @param {import("@tanstack/ai").TextOptions} options */
function reply({ messages, tools = [] }) {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const [, cue, nonce] = CUE.exec(textOf(messages[asked]?.content).trim()) ?? [];
  if (nonce === undefined) return { text: "I do what a cue asks for, and this is none." };
  if (cue === "fail") throw new Error("the model was told to fail");
  const result = messages.slice(asked).findLast(({ role }) => role === "tool");
  if (result) return { text: `${nonce}: ${textOf(result.content)}` };
  const calls = CALLS[cue]?.(nonce).filter(([name]) => tools.some((tool) => tool.name === name)) ?? [];
  return calls.length > 0 ? { calls } : { text: `${nonce}: noted.` };
}

/** @extends {BaseTextAdapter<string, {}, ["text"], import("@tanstack/ai").DefaultMessageMetadataByModality>} */
class ScriptedAdapter extends BaseTextAdapter {
  name = "scripted";

  /** @param {import("@tanstack/ai").TextOptions} options @returns {AsyncGenerator<import("@tanstack/ai").AdapterYieldChunk>} */
  async *chatStream(options) {
    const run = { threadId: options.threadId ?? randomUUID(), runId: options.runId ?? randomUUID() };
    yield { type: EventType.RUN_STARTED, ...run };
    const { text, calls = [] } = reply(options);
    if (text !== undefined) {
      const messageId = randomUUID();
      yield { type: EventType.TEXT_MESSAGE_START, messageId, role: "assistant" };
      yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: text };
      yield { type: EventType.TEXT_MESSAGE_END, messageId };
    }
    for (const [index, [toolCallName, input]] of calls.entries()) {
      const toolCallId = randomUUID();
      yield { type: EventType.TOOL_CALL_START, toolCallId, toolCallName, toolName: toolCallName, index };
      yield { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: JSON.stringify(input) };
      yield { type: EventType.TOOL_CALL_END, toolCallId, toolCallName, toolName: toolCallName, input };
    }
    yield { type: EventType.RUN_FINISHED, ...run, finishReason: calls.length > 0 ? "tool_calls" : "stop" };
  }

  /** @returns {Promise<never>} */
  async structuredOutput() {
    throw new Error("the scripted model has no structured output");
  }
}

const adapter = new ScriptedAdapter({}, "scripted");

/** A request that is refused before its run. */
class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** @param {import("node:http").IncomingMessage} request */
async function readInput(request) {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) throw new Refusal(415, "the content type must be application/json");
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= BODY_LIMIT) chunks.push(chunk); // the rest passes by, so that the connection serves on
  }
  if (size > BODY_LIMIT) throw new Refusal(413, "the body is larger than 4 MiB");
  let body;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new Refusal(400, "the body must be JSON in UTF-8");
  }
  return chatParamsFromRequestBody(body).catch((error) => {
    throw new Refusal(400, error.message);
  });
}

/** @param {import("node:http").ServerResponse} response @param {number} status @param {unknown} body */
function sendJson(response, status, body) {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  const [path] = (request.url ?? "").split("?", 1);
  try {
    if (path === "/effects") return sendJson(response, 200, effects);
    if (path !== "/") throw new Refusal(404, "there is nothing here");
    if (request.method !== "POST") throw new Refusal(405, "only POST");
    const { messages, threadId, runId, parentRunId, resume, tools } = await readInput(request);
    const stream = chat({ adapter, messages, threadId, runId, parentRunId, resume, tools: mergeAgentTools([pay, takeTime], tools), debug: false });
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
    for await (const chunk of toServerSentEventsStream(stream)) response.write(chunk);
    response.end();
  } catch (error) {
    if (error instanceof Refusal) return sendJson(response, error.status, { error: error.message });
    if (!response.headersSent) return sendJson(response, 500, { error: "the host failed" });
    response.destroy();
  }
});

server.listen(Number(process.argv[2] ?? process.env.PORT ?? 8770), "127.0.0.1");

// Record the stored history of `scenario.json` with the Vercel AI SDK. In an empty folder:
//
//   npm install ai@7.0.173 zod@4
//   cp .../tests/histories/data/formats/make.mjs .
//   node make.mjs .../tests/histories/data/formats

import { readFileSync, writeFileSync } from 'node:fs';
import { dynamicTool, isStepCount, jsonSchema, readUIMessageStream, streamText, tool, toUIMessageStream } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';

const folder = process.argv[2];
const scenario = JSON.parse(readFileSync(`${folder}/scenario.json`, 'utf8'));
const inputSchema = jsonSchema({ type: 'object' });

const tools = {};
for (const call of scenario.steps.flatMap((step) => step.calls)) {
  const execute = async () => {
    if (call.error) throw new Error(call.error);
    return call.content;
  };
  tools[call.tool] = (call.id === 'call_3' ? dynamicTool : tool)({ description: call.tool, inputSchema, execute });
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const responses = [...scenario.steps, { text: scenario.answer, calls: [] }].map(({ text, calls }) => {
  const written = text
    ? [{ type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: text }, { type: 'text-end', id: 't' }]
    : [];
  const called = calls.map((call) => ({
    type: 'tool-call', toolCallId: call.id, toolName: call.tool, input: JSON.stringify(call.arguments),
  }));
  const finishReason = { unified: calls.length ? 'tool-calls' : 'stop', raw: undefined };
  const chunks = [...written, ...called, { type: 'finish', finishReason, usage }];
  return { stream: simulateReadableStream({ chunks }) };
});

const result = streamText({
  model: new MockLanguageModelV4({ doStream: responses }),
  prompt: scenario.prompt,
  tools,
  stopWhen: isStepCount(9),
});
const question = { id: 'msg_1', role: 'user', parts: [{ type: 'text', text: scenario.prompt }] };
const stream = toUIMessageStream({
  stream: result.stream,
  tools,
  originalMessages: [question],
  generateMessageId: () => 'msg_2',
  redactToolErrors: false,
  onError: (error) => error.message,
});
let answer;
for await (const message of readUIMessageStream({ stream })) answer = message;
writeFileSync(`${folder}/vercel_ai.json`, `${JSON.stringify([question, answer])}\n`);

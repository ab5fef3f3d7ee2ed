// Makes the calls that standard input lists with OpenAI's client for Node.js, and
// writes what the client made of each answer to standard output.
import OpenAI from 'openai';
import { readFileSync } from 'node:fs';

const { base, calls } = JSON.parse(readFileSync(0));
const client = new OpenAI({ baseURL: base, apiKey: 'none', maxRetries: 0 });
const results = [];
for (const call of calls) {
  const result = { text: [], tools: [], finish: [], input: 0, output: 0, id: '', vectors: [], error: '' };
  try {
    await make(call, { headers: call.headers }, result);
  } catch (error) {
    result.error = error instanceof OpenAI.APIError ? `${error.status ?? ''} ${error.type ?? ''}`.trim() : String(error);
  }
  results.push(result);
}
process.stdout.write(JSON.stringify(results));

async function make(call, options, result) {
  if (call.kind === 'embeddings') {
    const { data, usage } = await client.embeddings.create(call.request, options);
    result.vectors = data.map((item) => item.embedding.length);
    result.input = usage.prompt_tokens;
    return;
  }
  const api = call.kind === 'chat' ? client.chat.completions : client.completions;
  const answer = await api.create(call.request, options);
  if (!call.request.stream) {
    add(answer, 'message', result);
    return;
  }
  for await (const chunk of answer) {
    add(chunk, 'delta', result);
    if (call.leaves) break;
  }
}

// add takes an answer, or a piece of one.
function add(answer, part, result) {
  result.id = answer.id || result.id;
  result.input = answer.usage?.prompt_tokens ?? result.input;
  result.output = answer.usage?.completion_tokens ?? result.output;
  for (const choice of answer.choices) {
    const i = choice.index;
    result.text[i] = (result.text[i] ?? '') + (choice[part]?.content ?? choice.text ?? '');
    result.finish[i] = choice.finish_reason ?? result.finish[i] ?? '';
    (choice[part]?.tool_calls ?? []).forEach((tool, k) => {
      const j = tool.index ?? k;
      const known = result.tools[j] ?? { name: '', arguments: '' };
      known.name = tool.function?.name || known.name;
      known.arguments += tool.function?.arguments ?? '';
      result.tools[j] = known;
    });
  }
}

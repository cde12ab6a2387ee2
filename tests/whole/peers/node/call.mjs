// Makes the calls of each line on stdin with the public Node client and prints a line of what each gave, or how it failed.
import { createInterface } from 'node:readline';
import { RestClientV2, RestClientV3 } from 'bitget-api';

for await (const line of createInterface({ input: process.stdin })) {
  const { baseUrl, apiKey, apiSecret, apiPass, demoTrading, together, unified, calls } = JSON.parse(line);
  const client = new (unified ? RestClientV3 : RestClientV2)({ baseUrl, apiKey, apiSecret, apiPass, demoTrading });

  async function made([method, parameters]) {
    try {
      return { reply: await client[method](parameters) };
    } catch (error) {
      return { status: error.code, refused: error.body ?? null };
    }
  }

  const results = [];
  if (together) results.push(...(await Promise.all(calls.map(made))));
  else for (const call of calls) results.push(await made(call));
  process.stdout.write(JSON.stringify(results) + '\n');
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fullBucket, refill } from '../src/runtime/token-bucket.ts';

/**
 * Endpoints of a provider that counts units, as providers do: a call has a price, a batch costs the sum, and a request above
 * the allowance of the second is refused with 429.
 */
const UNITS: Readonly<Record<string, number>> = {
  eth_chainId: 0,
  eth_blockNumber: 10,
  eth_feeHistory: 10,
  eth_getBlockByNumber: 16,
  eth_getTransactionByHash: 17,
  eth_getTransactionReceipt: 15,
  eth_getBalance: 19,
  eth_call: 26,
  eth_getTransactionCount: 26,
  eth_sendRawTransaction: 40,
  eth_getLogs: 60,
};
const OTHER_UNITS = 20;

const unitsPerS = Number(process.env.UNITS_PER_S);
/** Answers a GET with the use of all endpoints since the start. */
const use = { units: 0, requests: 0, refused: 0 };
export type ProviderUse = typeof use;
const targets = JSON.parse(process.env.TARGETS ?? '[]') as { targetUrl: string; port: number }[];

for (const { targetUrl, port } of targets) {
  const bucket = fullBucket(unitsPerS, Date.now());
  createServer((request, response) => void answer(request, response).catch(() => response.destroy())).listen(
    port,
    '127.0.0.1',
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(use satisfies ProviderUse));
      return;
    }
    const body = Buffer.concat(await request.toArray()).toString();
    const calls = [JSON.parse(body) as { method: string } | { method: string }[]].flat();
    const price = calls.reduce((sum, { method }) => sum + (UNITS[method] ?? OTHER_UNITS), 0);
    refill(bucket, Date.now());
    use.requests += 1;
    if (bucket.tokens < Math.min(price, unitsPerS)) {
      use.refused += 1;
      response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":"too many requests"}');
      return;
    }
    bucket.tokens -= price;
    use.units += price;
    const upstream = await fetch(targetUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    response.writeHead(upstream.status, { 'content-type': 'application/json' }).end(await upstream.text());
  }
}
process.on('SIGTERM', () => process.exit(0));

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { KeptChain, RpcCall } from './kept-chain.ts';

/** The largest body of a request: enough for a batch of a thousand large transactions. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
const MAX_BATCH = 1_000;

/** Only methods of a public node and our own are allowed. Others could change the chain without a record in the journal. */
const PUBLIC = /^(eth|net|web3)_/;
const NOT_PUBLIC = /^eth_(send(?!RawTransaction$)|sign|accounts$|subscribe$|unsubscribe$)/;

const SEND = 'eth_sendRawTransaction';

/** How far the chain's time may be moved ahead: eleven years, which is above the gateway's own limit of ten. */
const MAX_AHEAD_MS = 4_015 * 86_400_000;

/** Our own RPC methods, for the sandbox's gateway. A method returns undefined if its parameters are not valid. */
const CONTROLS: Readonly<
  Record<string, (chain: KeptChain, params: readonly unknown[]) => Promise<unknown> | undefined>
> = {
  till_moveAhead: (chain, [aheadMs]) =>
    isCount(aheadMs) && aheadMs <= MAX_AHEAD_MS ? chain.moveAhead(aheadMs).then(() => true) : undefined,
  till_replaceBlocks: (chain, [number, hash]) =>
    isCount(number) && typeof hash === 'string' ? chain.replaceBlocks({ number, hash }) : undefined,
};

export interface ChainRules {
  readonly isScriptable: boolean;
  /** The origin of the gateway's pages. Requests of other web pages are refused. */
  readonly pageOrigin?: string | undefined;
}

/** Serves JSON-RPC on a loopback port. */
export async function serveChain(chain: KeptChain, input: ChainRules & { readonly port: number }): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    respond(chain, input, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: input.port, host: '127.0.0.1', exclusive: true }, resolve);
  });
  return server;
}

async function respond(
  chain: KeptChain,
  rules: ChainRules,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { origin } = request.headers;
  if (isForeignPage(origin, rules)) {
    response.writeHead(403).end();
    return;
  }
  const headers = headersFor(origin);
  if (request.method !== 'POST') {
    response.writeHead(request.method === 'OPTIONS' ? 204 : 405, headers).end();
    return;
  }
  const body = await readBody(request);
  if (body === undefined) {
    response.writeHead(413, headers).end();
    return;
  }
  const text = await answer(chain, rules, body);
  response.writeHead(200, headers).end(text);
}

/**
 * True if a web page other than the gateway's sent the request. Browsers send the origin of the requesting page. Programs send no
 * origin, and browser extensions one that is not HTTP.
 */
function isForeignPage(origin: string | undefined, { pageOrigin }: ChainRules): boolean {
  if (origin === undefined || origin === pageOrigin) return false;
  return origin === 'null' || /^https?:/i.test(origin);
}

function headersFor(origin: string | undefined): Record<string, string> {
  const json = { 'Content-Type': 'application/json', Vary: 'Origin' };
  if (origin === undefined) return json;
  return {
    ...json,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Headers': 'content-type',
    'Access-Control-Allow-Methods': 'POST',
  };
}

/** The body of a request. Undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

export async function answer(
  chain: KeptChain,
  rules: { readonly isScriptable: boolean },
  body: string,
): Promise<string> {
  const parsed = parse(body);
  if (parsed === undefined) return failure(null, -32700, 'Parse error');
  if (!Array.isArray(parsed)) return answerOne(chain, rules, parsed);
  if (parsed.length === 0 || parsed.length > MAX_BATCH) return failure(null, -32600, 'Invalid request');
  return `[${(await Promise.all(parsed.map((call) => answerOne(chain, rules, call)))).join(',')}]`;
}

async function answerOne(chain: KeptChain, rules: { readonly isScriptable: boolean }, call: unknown): Promise<string> {
  if (!isCall(call)) return failure(null, -32600, 'Invalid request');
  const { method } = call;
  if (!rules.isScriptable && Object.hasOwn(CONTROLS, method)) return control(chain, call);
  const isPublic = PUBLIC.test(method) && !NOT_PUBLIC.test(method);
  if (!isPublic && !rules.isScriptable) return failure(call.id, -32601, 'The sandbox chain does not serve this method');
  if (method === SEND) return chain.send(call);
  if (asksForHead(call)) await chain.freshen();
  return chain.pass(call);
}

async function control(chain: KeptChain, { id, method, params }: RpcCall): Promise<string> {
  const working = CONTROLS[method]?.(chain, Array.isArray(params) ? params : []);
  if (working === undefined) return failure(id, -32602, 'Invalid params');
  try {
    return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, result: await working });
  } catch (error) {
    return failure(id, -32000, (error as Error).message);
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function asksForHead({ method, params }: RpcCall): boolean {
  if (method === 'eth_blockNumber') return true;
  const [tag] = Array.isArray(params) ? params : [];
  return method === 'eth_getBlockByNumber' && typeof tag === 'string' && !tag.startsWith('0x');
}

function isCall(value: unknown): value is RpcCall {
  return typeof value === 'object' && value !== null && 'method' in value && typeof value.method === 'string';
}

function failure(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { asSeenFrom, type RpcCall } from './stale-view.ts';

/** A scriptable lying endpoint between the gateway and a chain. */
export interface RpcProxy {
  readonly url: string;
  /** Every received call, in order. */
  readonly calls: readonly RpcCall[];
  /** Lies for these methods, or for all; for the given number of requests, or until changed. */
  lie(how: Lie, scope?: LieScope): void;
  /** Makes it honest again. */
  answerTruthfully(): void;
  /** Forwards calls to another chain, or another node of the same one. */
  pointAt(targetUrl: string): void;
  close(): Promise<void>;
}

export interface LieScope {
  readonly methods?: readonly string[];
  readonly times?: number;
  /** Lies only for every second request, every third and so on, beginning with the first. */
  readonly every?: number;
}

export type Lie =
  /** The right answer, late. */
  | { readonly as: 'delay'; readonly ms: number }
  /** The connection breaks; the chain may have received the request. */
  | { readonly as: 'drop'; readonly isForwarded: boolean }
  /** Never answers. */
  | { readonly as: 'silence'; readonly isForwarded: boolean }
  /** An HTTP status with a body that is no JSON-RPC answer, such as the page of a proxy that gave up. */
  | {
      readonly as: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly isForwarded: boolean;
    }
  /** The answer ends in its middle. */
  | { readonly as: 'half' }
  /** A JSON-RPC error. */
  | { readonly as: 'error'; readonly code: number; readonly message: string; readonly isForwarded?: boolean }
  /**
   * Replaces the chain's result, which is undefined for an error; returning undefined keeps the right answer, and an `RpcFault` is
   * answered as an error. Calls of the methods in `withheld` never reach the chain.
   */
  | {
      readonly as: 'result';
      readonly of: (call: RpcCall, truth: unknown) => unknown;
      readonly withheld?: readonly string[];
    }
  /** A replica that has not seen the blocks above this one. */
  | { readonly as: 'stale'; readonly head: number };

/** An error in place of a result. */
export class RpcFault {
  readonly code: number;
  readonly message: string;
  constructor(code: number, message: string) {
    this.code = code;
    this.message = message;
  }
}

interface ScriptedLie {
  readonly how: Lie;
  readonly methods: readonly string[] | undefined;
  readonly every: number;
  times: number;
  /** Matching requests, with a lie or not. */
  met: number;
}

interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const MAX_BODY_BYTES = 16 * 1024 * 1024;
export const HTML_PAGE = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

export async function startRpcProxy(input: { targetUrl: string; delayMs?: number; port?: number }): Promise<RpcProxy> {
  const calls: RpcCall[] = [];
  let lies: ScriptedLie[] = [];
  let target = input.targetUrl;

  /** The first lie that matches one of the calls; its count goes down by one. */
  function lieFor(asked: readonly RpcCall[]): Lie | undefined {
    const found = lies.find(({ methods }) => asked.some(({ method }) => methods?.includes(method) ?? true));
    if (found === undefined) return undefined;
    found.met += 1;
    if ((found.met - 1) % found.every > 0) return undefined;
    found.times -= 1;
    if (found.times <= 0) lies = lies.filter((other) => other !== found);
    return found.how;
  }

  const forward = async (body: string) => {
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return answer.text();
  };

  async function answerTo(body: string, response: ServerResponse): Promise<void> {
    const parsed = JSON.parse(body) as RpcCall | RpcCall[];
    const asked = [parsed].flat();
    calls.push(...asked);
    const how = lieFor(asked);
    if (input.delayMs !== undefined) await pause(input.delayMs);
    if (how === undefined) return send(response, await forward(body));
    switch (how.as) {
      case 'delay':
        await pause(how.ms);
        return send(response, await forward(body));
      case 'drop':
        if (how.isForwarded) await forward(body);
        return void response.destroy();
      case 'silence':
        if (how.isForwarded) await forward(body);
        return;
      case 'status':
        if (how.isForwarded) await forward(body);
        response.writeHead(how.status, { 'content-type': 'text/html', ...how.headers });
        return void response.end(how.body ?? HTML_PAGE);
      case 'half': {
        const text = await forward(body);
        return send(response, text.slice(0, Math.ceil(text.length / 2)));
      }
      case 'error': {
        if (how.isForwarded) await forward(body);
        const { code, message } = how;
        return send(
          response,
          shape(
            parsed,
            asked.map(({ id }) => ({ id, error: { code, message } })),
          ),
        );
      }
      case 'result': {
        const truths = await ask(asked, how.withheld);
        const lies = truths.map(async (truth, at): Promise<Answer> => {
          const result = await how.of(asked[at] as RpcCall, truth.result);
          if (result instanceof RpcFault) return { id: truth.id, error: { ...result } };
          return result === undefined ? truth : { id: truth.id, result };
        });
        return send(response, shape(parsed, await Promise.all(lies)));
      }
      case 'stale': {
        const views = asked.map((call) => asSeenFrom(how.head, call));
        const truths = await ask(views.map(({ call }) => call));
        const seen = truths.map((truth, at) =>
          truth.error === undefined ? { id: truth.id, result: views[at]?.resultOf(truth.result) } : truth,
        );
        return send(response, shape(parsed, seen));
      }
    }
  }

  async function ask(asked: readonly RpcCall[], withheld: readonly string[] = []): Promise<Answer[]> {
    return Promise.all(
      asked.map(async (call): Promise<Answer> => {
        if (withheld.includes(call.method)) return { id: call.id };
        return JSON.parse(await forward(JSON.stringify(call)));
      }),
    );
  }

  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > MAX_BODY_BYTES) request.destroy();
      else pieces.push(piece);
    });
    request.on('end', () => {
      answerTo(Buffer.concat(pieces).toString(), response).catch(() => response.destroy());
    });
  }).listen(input.port ?? 0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    lie(how, { methods, times = Number.POSITIVE_INFINITY, every = 1 } = {}) {
      lies.push({ how, methods, times, every, met: 0 });
    },
    answerTruthfully() {
      lies = [];
    },
    pointAt(targetUrl) {
      target = targetUrl;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** One answer for one call, a list for a list. */
function shape(asked: RpcCall | RpcCall[], answers: readonly Answer[]): string {
  const full = answers.map((answer) => ({ jsonrpc: '2.0', ...answer }));
  return JSON.stringify(Array.isArray(asked) ? full : full[0]);
}

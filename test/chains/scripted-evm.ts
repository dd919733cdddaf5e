import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ScriptedEvm } from './evm-harness.ts';

/** A checkpoint at a block, with the transactions sent since the previous one. */
interface Checkpoint {
  readonly snapshot: unknown;
  readonly sent: readonly string[];
}

/**
 * One node process serves all tests: each reverts to its start. A proxy in front of the node makes it unreachable on
 * request.
 */
export async function openScriptedEvm(nodeUrl: string): Promise<ScriptedEvm> {
  let isReachable = true;
  let sent: string[] = [];
  const door = createServer(async (request, response) => {
    const body = await text(request);
    if (!isReachable) return void request.socket.destroy();
    sent.push(...sentIn(JSON.parse(body)));
    response.setHeader('content-type', 'application/json').end(await post(body));
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const checkpoints: Checkpoint[] = [];

  async function post(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(nodeUrl, { method: 'POST', body, headers, signal: AbortSignal.timeout(10_000) });
    return answer.text();
  }

  async function request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const call = { jsonrpc: '2.0', id: 1, method, params };
    sent.push(...sentIn(call));
    const { result, error } = JSON.parse(await post(JSON.stringify(call)));
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async function checkpoint(): Promise<void> {
    checkpoints.push({ snapshot: await request('evm_snapshot'), sent });
    sent = [];
  }

  async function mine(): Promise<void> {
    await request('evm_mine');
    await checkpoint();
  }

  async function reorg(depth: number, transactions: 'forgotten' | 'kept'): Promise<void> {
    const undone = checkpoints.splice(checkpoints.length - depth);
    const first = Number(await request('eth_blockNumber')) - depth + 1;
    const block = (await request('eth_getBlockByNumber', [`0x${first.toString(16)}`, false])) as { timestamp: string };
    await request('evm_revert', [checkpoints.pop()?.snapshot]);
    sent = [];
    await checkpoint();
    // Another time makes another hash. A revert also turns the clock of the node back, perhaps to the same second.
    await request('evm_setNextBlockTimestamp', [Number(block.timestamp) + 1]);
    if (transactions === 'kept') {
      for (const raw of undone.flatMap((block) => block.sent)) await request('eth_sendRawTransaction', [raw]);
    }
    for (let mined = 0; mined < depth; mined += 1) await mine();
  }

  const beginning = await request('evm_snapshot');
  return {
    rpcUrl: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    request,
    mine,
    reorg,
    setReachable: async (value) => {
      isReachable = value;
    },
    close: async () => {
      await request('evm_revert', [beginning]);
      door.closeAllConnections();
      door.close();
    },
  };
}

function sentIn(body: unknown): string[] {
  const calls = (Array.isArray(body) ? body : [body]) as { method: string; params: string[] }[];
  return calls.filter(({ method }) => method === 'eth_sendRawTransaction').flatMap(({ params }) => params);
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemWorld } from '../../runtime/system-world.ts';
import { ChainUnavailableError, ContractFaultError } from '../chain-errors.ts';
import { ethCall, ethRead, readRevert } from './eth-call.ts';
import { createRpc } from './rpc.ts';
import { readWord } from './rpc-values.ts';
import type { Transport } from './transport.ts';

const TOKEN = `0x${'11'.repeat(20)}`;
const WORD = `0x${'00'.repeat(31)}05`;

type Answer = { readonly result: unknown } | { readonly error: { code: number; message: string; data?: unknown } };

/** Endpoints that give these answers to `eth_call`, one each. */
function connect(...answers: readonly Answer[]) {
  const asked: number[] = answers.map(() => 0);
  const endpoints = answers.map((answer, endpoint): Transport => {
    const one = ({ id, method }: { id: number; method: string }) => {
      if (method !== 'eth_call') return { jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x1' : '0x64' };
      asked[endpoint] = (asked[endpoint] ?? 0) + 1;
      return { jsonrpc: '2.0', id, ...answer };
    };
    return {
      post: async (body) => {
        const calls = JSON.parse(body);
        return { status: 200, text: JSON.stringify(Array.isArray(calls) ? calls.map(one) : one(calls)) };
      },
      close: () => {},
    };
  });
  const rpc = createRpc({ world: systemWorld, network: 'eip155:1', chainId: 1, blockTimeMs: 1_000, endpoints });
  return { rpc, asked };
}

const balance = ethRead({ to: TOKEN, data: '0x70a08231' }, readWord);
const REVERT: Answer = { error: { code: 3, message: 'execution reverted', data: '0x' } };

describe('a call of a contract', () => {
  it('that reverts is answered, whatever the revert means', async () => {
    const { rpc, asked } = connect(REVERT);
    const meaning = (value: unknown) => ethCall({ to: TOKEN }, (returned) => ('reverted' in returned ? value : 'data'));
    for (const value of [undefined, null, false, 0, 'reverted']) assert.equal(await rpc.call(meaning(value)), value);
    assert.equal(asked[0], 5, 'each is asked once');
    assert.equal(rpc.endpointsUp(), 1);
    rpc.close();
  });

  it('that reverts where only data is an answer is a fault of the contract, and never of the endpoint', async () => {
    const { rpc, asked } = connect(REVERT);
    for (let times = 0; times < 6; times += 1) {
      await assert.rejects(rpc.call(balance), (error: unknown) => {
        assert.ok(error instanceof ContractFaultError && !(error instanceof ChainUnavailableError));
        assert.deepEqual([error.contract, error.message], [TOKEN, `the contract ${TOKEN} reverted`]);
        return true;
      });
    }
    assert.equal(asked[0], 6, 'it is not asked again and again');
    assert.equal(rpc.endpointsUp(), 1);
    rpc.close();
  });

  it('that returns another form, or nothing, is a fault of the contract as well', async () => {
    for (const result of ['0x', `${WORD}00`]) {
      const { rpc } = connect({ result });
      await assert.rejects(rpc.call(balance), ContractFaultError);
      assert.equal(rpc.endpointsUp(), 1);
      rpc.close();
    }
  });

  it('is no fault of the contract when the endpoint returns no data at all', async () => {
    const { rpc } = connect({ result: '<html>' });
    await assert.rejects(rpc.call(balance, 300), ChainUnavailableError);
    rpc.close();
  });

  it('is faulty only when no other endpoint has a better answer', async () => {
    const { rpc } = connect({ result: '0x' }, { result: WORD });
    assert.equal(await rpc.call(balance), 5n);
    rpc.close();
    const both = connect(REVERT, { error: { code: -32000, message: 'header not found' } });
    await assert.rejects(both.rpc.call(balance), ContractFaultError);
    both.rpc.close();
  });

  it('has halted when a client says so in its own words, and not when the node ran out of gas', () => {
    const halted = [
      { code: 3, message: 'execution reverted: erc20: paused', data: '0x08c379a0' },
      { code: -32000, message: 'execution reverted', data: undefined },
      { code: -32015, message: 'vm execution error.', data: 'Reverted 0x08c379a0' },
      { code: -32000, message: 'invalid opcode: invalid', data: undefined },
      { code: -32000, message: 'invalid opcode: opcode 0xfe not defined', data: undefined },
      { code: -32603, message: 'evm error invalidfeopcode', data: undefined },
      { code: -32000, message: 'vm exception while processing transaction: invalid opcode', data: undefined },
      { code: -32603, message: 'evm error stackunderflow', data: undefined },
      { code: -32603, message: 'evm error opcodenotfound', data: undefined },
      { code: -32603, message: 'error: transaction reverted without a reason string', data: { data: '0x' } },
      { code: -32000, message: 'invalid jump destination', data: undefined },
      { code: -32000, message: 'stack underflow (0 <=> 2)', data: undefined },
    ];
    for (const error of halted) assert.match(readRevert(error) ?? '', /^0x(08c379a0)?$/, error.message);
    const unclear = [
      { code: -32000, message: 'out of gas', data: undefined },
      { code: -32603, message: 'evm error outofgas', data: undefined },
      { code: -32000, message: 'header not found', data: undefined },
      { code: -32000, message: 'missing trie node', data: undefined },
      { code: -32005, message: 'limit exceeded', data: undefined },
    ];
    for (const error of unclear) assert.equal(readRevert(error), undefined, error.message);
  });
});

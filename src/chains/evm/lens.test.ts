import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemWorld } from '../../runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_TOKENS } from '../../sandbox/genesis.ts';
import type { LocalEvm } from '../../sandbox/local-evm.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import { ChainUnavailableError, ContractFaultError } from '../chain-errors.ts';
import { ethCall, ethRead } from './eth-call.ts';
import type { RpcCall } from './json-rpc.ts';
import { createLens, type Lens } from './lens.ts';
import { createRpc, type Rpc } from './rpc.ts';
import { readWord } from './rpc-values.ts';
import { coinBalanceCall, hasCodeCall } from './token-calls.ts';
import type { Transport } from './transport.ts';
import { address, functionCall, uint } from './words.ts';

const { USDC } = SANDBOX_TOKENS;
const balanceOf = functionCall('balanceOf(address)');
/** No second request on a busy machine. */
const PATIENT_MS = 60_000;
const nobody = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;
const balanceIn = (token: string, account: string) =>
  ethRead({ to: token, data: balanceOf(address(account)) }, readWord);

describe('the Lens', () => {
  let evm: LocalEvm;
  let rpc: Rpc;
  let lens: Lens;
  /** The requests that went out, each as the methods in it. */
  let requests: string[][] = [];
  let isDown = false;

  const transport: Transport = {
    post: async (body) => {
      if (isDown) throw new Error('down');
      requests.push(([JSON.parse(body)].flat() as { method: string }[]).map(({ method }) => method));
      return { status: 200, text: await evm.rpc(body) };
    },
    close: () => {},
  };

  before(async () => {
    evm = await createSandboxEvm({ mining: 'manual' });
  });

  after(() => evm.close());

  beforeEach(() => {
    rpc = createRpc({
      world: systemWorld,
      network: 'eip155:31337',
      chainId: 31337,
      blockTimeMs: 1_000,
      endpoints: [transport],
    });
    lens = createLens({ world: systemWorld, rpc });
    requests = [];
    isDown = false;
  });

  async function setCode(number: number, code: string): Promise<string> {
    await evm.request({ method: 'hardhat_setCode', params: [nobody(number), code] });
    return nobody(number);
  }

  it('reads balances, code and coin in one call, with the same answers as single calls', async () => {
    const { payer } = SANDBOX_ACCOUNTS;
    const calls: RpcCall<unknown>[] = [
      balanceIn(USDC, payer),
      balanceIn(USDC, nobody(1_000)),
      coinBalanceCall(payer),
      coinBalanceCall(nobody(1_000)),
      hasCodeCall(payer),
      hasCodeCall(USDC),
    ];
    const answers = await Promise.all(calls.map((call) => lens.ask(call, PATIENT_MS)));
    assert.deepEqual(requests, [['eth_chainId', 'eth_blockNumber', 'eth_call']]);
    assert.deepEqual(answers, await Promise.all(calls.map((call) => rpc.call(call))));
    assert.ok((answers[0] as bigint) > 0n && (answers[2] as bigint) > 0n);
    assert.deepEqual(answers.slice(4), [false, true]);
  });

  it('sends a thousand questions as a few calls of one request', async () => {
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, (_, number) => lens.ask(balanceIn(USDC, nobody(2_000 + number)), PATIENT_MS)),
    );
    assert.deepEqual(answers, Array(1_000).fill(0n));
    assert.deepEqual(requests, [['eth_chainId', 'eth_blockNumber', ...Array(4).fill('eth_call')]]);
  });

  it('asks the same thing once for all who want to know it', async () => {
    const { payer } = SANDBOX_ACCOUNTS;
    const wanted = Array.from({ length: 600 }, (_, index) => (index % 2 ? hasCodeCall(payer) : hasCodeCall(USDC)));
    const answers = await Promise.all(wanted.map((call) => lens.ask(call, PATIENT_MS)));
    assert.deepEqual(answers.slice(0, 4), [true, false, true, false]);
    assert.deepEqual(requests, [['eth_chainId', 'eth_blockNumber', 'eth_call']]);
  });

  it('leaves it to the question itself whether a revert is an answer', async () => {
    const token = await setCode(3_000, '0x60006000fd');
    const data = balanceOf(address(nobody(1)));
    const asAnswer = ethCall({ to: token, data }, (returned) => 'reverted' in returned);
    const [isReverted, other] = await Promise.all([lens.ask(asAnswer), lens.ask(hasCodeCall(USDC))]);
    assert.deepEqual([isReverted, other], [true, true]);
    const [read, besides] = await Promise.allSettled([
      lens.ask(balanceIn(token, nobody(1)), 300),
      lens.ask(hasCodeCall(USDC), 300),
    ]);
    assert.ok(read.status === 'rejected' && read.reason instanceof ContractFaultError);
    assert.deepEqual(besides, { status: 'fulfilled', value: true });
  });

  it('keeps an address that burns gas, returns too much or is empty from spoiling the other answers', async () => {
    const burner = await setCode(3_001, '0xfe');
    const talker = await setCode(3_002, '0x60406000f3');
    const empty = nobody(3_003);
    const odd = [burner, talker, empty].map((token) => lens.ask(balanceIn(token, nobody(1)), 300));
    const sound = Array.from({ length: 60 }, (_, number) => lens.ask(balanceIn(USDC, nobody(number)), 300));
    const [oddAnswers, answers] = [await Promise.allSettled(odd), await Promise.all(sound)];
    for (const answer of oddAnswers) {
      assert.ok(answer.status === 'rejected' && answer.reason instanceof ContractFaultError);
    }
    assert.equal(rpc.endpointsUp(), 1, 'the endpoint is not to blame');
    assert.deepEqual(answers, Array(60).fill(0n));
  });

  it('takes silence for an answer only where the question does', async () => {
    const silent = await setCode(3_004, '0x00');
    const isSilent = ethCall(
      { to: silent, data: balanceOf(uint(0)) },
      (reply) => 'data' in reply && reply.data === '0x',
    );
    assert.deepEqual(await Promise.all([lens.ask(isSilent), lens.ask(hasCodeCall(silent))]), [true, true]);
    assert.equal(requests.length, 1);
  });

  it('could not find out when the chain cannot be asked', async () => {
    isDown = true;
    const asked = [lens.ask(hasCodeCall(USDC), 200), lens.ask(balanceIn(USDC, nobody(1)), 200)];
    for (const { status } of await Promise.allSettled(asked)) assert.equal(status, 'rejected');
    await assert.rejects(lens.ask(hasCodeCall(USDC), 200), ChainUnavailableError);
  });

  it('asks one by one where a provider does not take it, and tries again later', async () => {
    let nowMs = systemWorld.clock.nowMs();
    const isLens = (call: RpcCall<unknown>) => call.params.length === 2 && !(call.params[0] as { to?: string }).to;
    let tried = 0;
    const stubborn: Rpc = {
      ...rpc,
      call: async (call, timeoutMs) => {
        if (call.method !== 'eth_call' || !isLens(call)) return rpc.call(call, timeoutMs);
        tried += 1;
        return call.readError?.({ code: -32602, message: 'missing to', data: undefined })?.value as never;
      },
    };
    const world = { ...systemWorld, clock: { nowMs: () => nowMs } };
    const refused = createLens({ world, rpc: stubborn });
    const askSome = () =>
      Promise.all(Array.from({ length: 20 }, (_, number) => refused.ask(balanceIn(USDC, nobody(number)))));
    for (let moment = 0; moment < 10; moment += 1) assert.deepEqual(await askSome(), Array(20).fill(0n));
    const triedAtFirst = tried;
    assert.ok(triedAtFirst >= 6 && triedAtFirst <= 12, `${tried}`);
    nowMs += 600_001;
    await askSome();
    assert.ok(tried > triedAtFirst);
  });
});

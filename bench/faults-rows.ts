import { setTimeout as sleep } from 'node:timers/promises';
import { encodeEventTopics, encodeFunctionData, type Hex, pad, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import {
  CHAIN_ID,
  FUNDS_UNITS,
  PRICE_UNITS,
  type Prepared,
  type System,
  TOKEN,
  TOKEN_ABI,
  type Word,
} from './faults-systems.ts';
import type { PayingChain } from './paying-chain.ts';
import { until } from './processes.ts';

/** A fault of the catalogue, with the way to cause it for either system. */
export interface Row {
  readonly id: string;
  readonly what: string;
  run(system: System, chain: PayingChain): Promise<Finding>;
}

export interface Finding {
  readonly isRight: boolean;
  readonly text: string;
}

const SEND = ['eth_sendRawTransaction'];
const MINED_WITHIN_MS = 15_000;
const OUTAGE_MS = 3_000;
const AT_ONCE = 24;
/** Longer than the validity of a payer's signature. */
const PAST_DEADLINE_S = 3 * 3600;

export const ROWS: readonly Row[] = [
  {
    id: 'F1',
    what: 'the endpoint takes the transaction and answers 502',
    async run(system, chain) {
      system.proxy.lie({ as: 'status', status: 502, isForwarded: true }, { methods: SEND, times: 1 });
      return mustBePaid(chain, await system.prepare(), (payment) => payment.submit());
    },
  },
  {
    id: 'F2',
    what: 'no receipt for a long time',
    async run(system, chain) {
      system.proxy.lie({ as: 'result', of: () => null }, { methods: ['eth_getTransactionReceipt'] });
      system.proxy.lie({ as: 'result', of: () => [] }, { methods: ['eth_getLogs'] });
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const word = await payment.submit();
        await paidOnChain(chain, payment);
        system.proxy.tellTheTruth();
        return word;
      });
    },
  },
  {
    id: 'F3',
    what: 'killed between broadcast and receipt',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const sent = countSends(system);
        const answer = payment.submit();
        await until('it was broadcast', async () => (countSends(system) > sent ? true : undefined), {
          withinMs: MINED_WITHIN_MS,
          everyMs: 5,
        });
        await system.kill();
        const word = await answer;
        await paidOnChain(chain, payment);
        await system.start();
        return word;
      });
    },
  },
  {
    id: 'F4',
    what: 'the caller hands it in again after it was paid',
    async run(system, chain) {
      const payment = await system.prepare();
      await payment.submit();
      await payment.ask();
      return mustBePaid(chain, payment, () => payment.submit());
    },
  },
  {
    id: 'F5',
    what: 'somebody else carries the same authorization out first',
    async run(system, chain) {
      const payment = await system.prepare();
      return mustBePaid(chain, payment, async () => {
        const before = system.proxy.calls.length;
        system.proxy.lie({ as: 'silence', isForwarded: false }, { methods: SEND });
        const answer = payment.submit();
        const raw = await until('it was signed', async () => rawTransaction(system, before), {
          withinMs: MINED_WITHIN_MS,
          everyMs: 10,
        });
        const { to, data } = parseTransaction(raw);
        await sendFrom(chain, SANDBOX_KEYS.merchant, { to: to ?? TOKEN, data: data ?? '0x' });
        await paidOnChain(chain, payment);
        system.proxy.tellTheTruth();
        return answer;
      });
    },
  },
  {
    id: 'F6',
    what: 'nothing of the chain can be read after the broadcast',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const sent = countSends(system);
        const answer = payment.submit();
        await until('it was broadcast', async () => (countSends(system) > sent ? true : undefined), {
          withinMs: MINED_WITHIN_MS,
          everyMs: 5,
        });
        system.proxy.lie({ as: 'status', status: 503, isForwarded: false });
        await sleep(OUTAGE_MS);
        system.proxy.tellTheTruth();
        return answer;
      });
    },
  },
  {
    id: 'F7',
    what: `${AT_ONCE} payments at once by one signer`,
    async run(system, chain) {
      const payments = await Promise.all(Array.from({ length: AT_ONCE }, () => system.prepare()));
      const findings = await Promise.all(payments.map((payment) => mustBePaid(chain, payment, () => payment.submit())));
      const right = findings.filter(({ isRight }) => isRight).length;
      return { isRight: right === AT_ONCE, text: `${right} of ${AT_ONCE} right` };
    },
  },
  {
    id: 'F12',
    what: 'a reorganisation forgets the transaction that paid',
    async run(system, chain) {
      const payment = await system.prepare();
      await payment.submit();
      const first = await payment.ask();
      await chain.reorg(await depthOf(chain, payment), 'forgotten');
      const times = await until('it is paid again', () => paidTimes(chain, payment).then((paid) => paid || undefined), {
        withinMs: MINED_WITHIN_MS,
        everyMs: 200,
      }).catch(() => 0);
      return { isRight: first.says === 'paid' && times === 1, text: `said ${first.says}, then paid ${times} times` };
    },
  },
  {
    id: 'F13',
    what: 'a reorganisation moves the transaction to another block',
    async run(system, chain) {
      const payment = await system.prepare();
      await payment.submit();
      await payment.ask();
      await chain.reorg(await depthOf(chain, payment), 'kept');
      return mustBePaid(chain, payment, () => payment.ask());
    },
  },
  {
    id: 'F15',
    what: 'the endpoint is a replica that lags behind',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const head = Number(await chain.request<string>('eth_blockNumber'));
        system.proxy.lie({ as: 'stale', head });
        const answer = payment.submit();
        await sleep(OUTAGE_MS);
        system.proxy.tellTheTruth();
        return answer;
      });
    },
  },
  {
    id: 'F16',
    what: 'the endpoint fails while the payment is checked',
    run: async (system, chain) => mustBePaid(chain, await system.prepare(), whileUnreadable(system)),
  },
  {
    id: 'F18',
    what: 'the provider answers 429',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        system.proxy.lie({ as: 'status', status: 429, headers: { 'retry-after': '1' }, isForwarded: false });
        const answer = payment.submit();
        await sleep(OUTAGE_MS);
        system.proxy.tellTheTruth();
        return answer;
      });
    },
  },
  {
    id: 'F32',
    what: 'the token refuses the payer after the signature',
    async run(system, chain) {
      const payment = await system.prepare();
      const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'blacklist', args: [payment.payer.address] });
      await sendFrom(chain, SANDBOX_KEYS.minter, { to: TOKEN, data });
      const word = await payment.submit();
      const last = word.says === 'not paid' ? word : await payment.ask();
      const isRight = last.says === 'not paid' && (await paidTimes(chain, payment)) === 0;
      return { isRight, text: `says ${last.says} (${reasonOf(last)})` };
    },
  },
  {
    id: 'F34',
    what: 'the error names the endpoint to the caller',
    async run(system) {
      const payment = await system.prepare();
      const { text } = await whileUnreadable(system)(payment);
      const isTold = text.includes(new URL(system.proxy.url).port);
      return {
        isRight: !isTold,
        text: isTold ? 'the answer holds its address' : 'the answer does not hold its address',
      };
    },
  },
  {
    // Moves the chain's clock far ahead, so it runs last.
    id: 'F33',
    what: 'the authorization runs out before it could be sent',
    async run(system, chain) {
      const payment = await system.prepare('short');
      system.proxy.lie({ as: 'drop', isForwarded: false }, { methods: SEND });
      const first = await payment.submit();
      await chain.request('evm_increaseTime', PAST_DEADLINE_S);
      await chain.mine(2);
      system.proxy.tellTheTruth();
      const last = await payment.ask();
      const isRight = last.says === 'not paid' && (await paidTimes(chain, payment)) === 0;
      return { isRight, text: `said ${first.says}, then ${last.says} (${reasonOf(last)})` };
    },
  },
];

/**
 * A valid payment under a fault. Its reported status may be "unknown", but never "not paid". In the end it is paid,
 * once, and reported as paid.
 */
async function mustBePaid(
  chain: PayingChain,
  payment: Prepared,
  act: (payment: Prepared) => Promise<Word>,
): Promise<Finding> {
  const first = await act(payment);
  const last = await payment.ask();
  // Delayed transactions arrive now.
  await chain.mine(1);
  const times = await paidTimes(chain, payment);
  const isRight = first.says !== 'not paid' && last.says === 'paid' && times === 1;
  const refusal = [first, last].find(({ says }) => says === 'not paid');
  const told = `said ${first.says}, then ${last.says}${refusal === undefined ? '' : ` (${reasonOf(refusal)})`}`;
  return { isRight, text: `${told}; paid ${times} times` };
}

/** The first word is the reason or the status. */
function reasonOf({ text }: Word): string {
  return text.split(' ', 1)[0] ?? '';
}

/** Submits the payment while no contract call is answered. */
function whileUnreadable(system: System): (payment: Prepared) => Promise<Word> {
  return async (payment) => {
    system.proxy.lie({ as: 'status', status: 503, isForwarded: false }, { methods: ['eth_call'] });
    const word = await payment.submit();
    system.proxy.tellTheTruth();
    return word;
  };
}

/** The number of payments, derived from the payer's balance. */
async function paidTimes(chain: PayingChain, { payer }: Prepared): Promise<number> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [payer.address] });
  const balance = BigInt(await chain.request<Hex>('eth_call', { to: TOKEN, data }, 'latest'));
  return Number((FUNDS_UNITS - balance) / PRICE_UNITS);
}

async function paidOnChain(chain: PayingChain, payment: Prepared): Promise<void> {
  await until('it is paid on chain', async () => (await paidTimes(chain, payment)) || undefined, {
    withinMs: MINED_WITHIN_MS,
    everyMs: 100,
  });
}

/** The number of blocks to remove for the payment to disappear. */
async function depthOf(chain: PayingChain, { payer }: Prepared): Promise<number> {
  const [event] = encodeEventTopics({ abi: TOKEN_ABI, eventName: 'Transfer', args: { from: payer.address } });
  const topics = [event, pad(payer.address)];
  const logs = await chain.request<{ blockNumber: Hex }[]>('eth_getLogs', { address: TOKEN, fromBlock: '0x0', topics });
  const head = Number(await chain.request<Hex>('eth_blockNumber'));
  return head - Number(logs[0]?.blockNumber ?? head) + 1;
}

function countSends({ proxy }: System): number {
  return proxy.calls.filter(({ method }) => SEND.includes(method)).length;
}

/** The bytes the system tried to broadcast last. */
function rawTransaction({ proxy }: System, since: number): Hex | undefined {
  return proxy.calls.slice(since).find(({ method }) => SEND.includes(method))?.params?.[0] as Hex | undefined;
}

/** A transaction of a third party. */
async function sendFrom(chain: PayingChain, key: Hex, call: { to: Hex; data: Hex }): Promise<void> {
  const account = privateKeyToAccount(key);
  const nonce = Number(await chain.request<Hex>('eth_getTransactionCount', account.address, 'pending'));
  const fees = { gas: 1_000_000n, maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const raw = await account.signTransaction({ type: 'eip1559', chainId: CHAIN_ID, nonce, ...fees, ...call });
  const hash = await chain.request<Hex>('eth_sendRawTransaction', raw);
  const receipt = () =>
    chain.request<object | null>('eth_getTransactionReceipt', hash).then((found) => found ?? undefined);
  await until('it is mined', receipt, { withinMs: MINED_WITHIN_MS, everyMs: 50 });
}

import { setTimeout as sleep } from 'node:timers/promises';
import { encodeFunctionData, parseTransaction } from 'viem';
import { SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import {
  depthOf,
  MINED_WITHIN_MS,
  mustBePaid,
  paidOnChain,
  paidTimes,
  type Row,
  reasonOf,
  SEND,
  sendFrom,
  signedSince,
} from './faults-judge.ts';
import { NONCE_ROWS } from './faults-nonces.ts';
import { type Prepared, type System, TOKEN_ABI, type Word } from './faults-systems.ts';
import { USDC } from './paying-chain.ts';
import { until } from './processes.ts';

const OUTAGE_MS = 3_000;
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
        system.proxy.answerTruthfully();
        return word;
      });
    },
  },
  {
    id: 'F3',
    what: 'killed between broadcast and receipt',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const before = system.proxy.calls.length;
        const answer = payment.submit();
        await signedSince(system, before);
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
        const raw = await signedSince(system, before);
        const { to, data } = parseTransaction(raw);
        await sendFrom(chain, SANDBOX_KEYS.merchant, { to: to ?? USDC, data: data ?? '0x' });
        await paidOnChain(chain, payment);
        system.proxy.answerTruthfully();
        return answer;
      });
    },
  },
  {
    id: 'F6',
    what: 'nothing of the chain can be read after the broadcast',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const before = system.proxy.calls.length;
        const answer = payment.submit();
        await signedSince(system, before);
        system.proxy.lie({ as: 'status', status: 503, isForwarded: false });
        await sleep(OUTAGE_MS);
        system.proxy.answerTruthfully();
        return answer;
      });
    },
  },
  ...NONCE_ROWS,
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
      return { isRight: first.claim === 'paid' && times === 1, text: `said ${first.claim}, then paid ${times} times` };
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
        system.proxy.answerTruthfully();
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
        system.proxy.answerTruthfully();
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
      await sendFrom(chain, SANDBOX_KEYS.minter, { to: USDC, data });
      const word = await payment.submit();
      const last = word.claim === 'not paid' ? word : await payment.ask();
      const isRight = last.claim === 'not paid' && (await paidTimes(chain, payment)) === 0;
      return { isRight, text: `says ${last.claim} (${reasonOf(last)})` };
    },
  },
  {
    id: 'F34',
    what: 'the error names the endpoint to the caller',
    async run(system) {
      const payment = await system.prepare();
      const { text } = await whileUnreadable(system)(payment);
      const isShown = text.includes(new URL(system.proxy.url).port);
      return {
        isRight: !isShown,
        text: isShown ? 'the answer holds its address' : 'the answer does not hold its address',
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
      system.proxy.answerTruthfully();
      const last = await payment.ask();
      const isRight = last.claim === 'not paid' && (await paidTimes(chain, payment)) === 0;
      return { isRight, text: `said ${first.claim}, then ${last.claim} (${reasonOf(last)})` };
    },
  },
];

/** Submits the payment while no contract call is answered. */
function whileUnreadable(system: System): (payment: Prepared) => Promise<Word> {
  return async (payment) => {
    system.proxy.lie({ as: 'status', status: 503, isForwarded: false }, { methods: ['eth_call'] });
    const word = await payment.submit();
    system.proxy.answerTruthfully();
    return word;
  };
}

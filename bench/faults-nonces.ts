import { keccak256 } from 'viem';
import { depthOf, type Finding, mustBePaid, type Row, SEND, signedSince } from './faults-judge.ts';

const AT_ONCE = 24;
/** Far above every fee that is offered at the usual price. */
const HIGH_BASE_FEE = 80_000_000_000n;

/** The faults of the catalogue that are about nonces of the sending account. */
export const NONCE_ROWS: readonly Row[] = [
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
    id: 'F8',
    what: 'killed with a signed transaction that has never left',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        system.proxy.lie({ as: 'drop', isForwarded: false }, { methods: SEND });
        const before = system.proxy.calls.length;
        const answer = payment.submit();
        await signedSince(system, before);
        await system.kill();
        const word = await answer;
        system.proxy.answerTruthfully();
        await system.start();
        return word;
      });
    },
  },
  {
    id: 'F9',
    what: 'a reorganisation takes a used nonce back, and another payment follows',
    async run(system, chain) {
      const [first, next] = [await system.prepare(), await system.prepare()];
      await first.submit();
      await first.ask();
      await chain.reorg(await depthOf(chain, first), 'forgotten');
      return mustBePaid(chain, next, () => next.submit());
    },
  },
  {
    id: 'F10',
    what: 'gas becomes dearer and the node forgets the transaction',
    async run(system, chain) {
      return mustBePaid(chain, await system.prepare(), async (payment) => {
        const before = system.proxy.calls.length;
        await chain.request('hardhat_setNextBlockBaseFeePerGas', `0x${HIGH_BASE_FEE.toString(16)}`);
        const answer = payment.submit();
        const raw = await signedSince(system, before);
        await chain.request('hardhat_dropTransaction', keccak256(raw)).catch(() => {});
        return answer;
      });
    },
  },
  {
    id: 'F11',
    what: 'a node that takes nothing ahead of its turn loses the first of two transactions',
    async run(system, chain) {
      const [first, second] = [await system.prepare(), await system.prepare()];
      await chain.request('evm_setAutomine', true);
      try {
        system.proxy.lie({ as: 'drop', isForwarded: false }, { methods: SEND, times: 3 });
        const before = system.proxy.calls.length;
        const early = mustBePaid(chain, first, () => first.submit());
        await signedSince(system, before);
        return bothOf(await Promise.all([early, mustBePaid(chain, second, () => second.submit())]));
      } finally {
        await chain.request('evm_setAutomine', false);
      }
    },
  },
];

function bothOf(findings: readonly Finding[]): Finding {
  return { isRight: findings.every(({ isRight }) => isRight), text: findings.map(({ text }) => text).join(', and ') };
}

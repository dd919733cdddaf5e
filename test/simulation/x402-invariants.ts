import type { Invariant } from './invariant.ts';
import { transfersFor } from './x402-paying.ts';

/** The promises to programs that pay by x402. "x402 answers are true" is checked at every answer (`x402-paying.ts`). */
export const X402_INVARIANTS: readonly Invariant[] = [
  {
    name: 'programs pay once',
    promise: 'A program that does what the answers say pays once at most, however often it is asked to pay.',
    when: 'atEnd',
    check: async (stage) => {
      for (const paymentId of stage.agents.reported.keys()) {
        const transfers = await transfersFor(stage, paymentId);
        if (transfers.length > 1) return `${paymentId} was paid ${transfers.length} times`;
      }
      return undefined;
    },
  },
  {
    name: 'x402 answers stay true',
    promise: 'A payment whose transfer was named in PAYMENT-RESPONSE succeeds, unless a block with it was undone.',
    when: 'atEnd',
    check: async ({ sql, agents, faults }) => {
      if (faults.has('reorg')) return undefined;
      const reported = [...agents.reported].filter(([, transactions]) => transactions.length > 0).map(([id]) => id);
      const rows = await sql<{ id: string; status: string }[]>`
        select id, status from payments where id = any(${reported}::text[]) and status <> 'succeeded' order by id limit 1`;
      return rows[0] && `${rows[0].id} is ${rows[0].status}, and its program was told that it is paid`;
    },
  },
];

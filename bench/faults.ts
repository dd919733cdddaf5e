import { ROWS } from './faults-rows.ts';
import { type System, startOurs, startTheirs } from './faults-systems.ts';
import { startX402 } from './faults-x402.ts';
import { type Figure, type Measurement, round } from './figures.ts';
import { type PayingChain, startPayingChain } from './paying-chain.ts';
import { createPayers } from './paying-payers.ts';

/** Slow enough for a fault between a broadcast and its block. */
const BLOCK_MS = 500;

/** The faults of the catalogue that apply to both systems, caused for one after the other. */
export const faultsMeasurement: Measurement = {
  names: ['faults', 'faults_x402'],
  isLarge: true,
  async measure(wanted) {
    const figures: Figure[] = [];
    if (wanted.has('faults')) figures.push(await measureFaults('faults', startOurs));
    if (wanted.has('faults_x402')) figures.push(await measureFaults('faults_x402', startX402));
    return figures;
  },
};

/** `FAULT_ROWS=F1,F5` causes only these. */
const WANTED_ROWS = process.env.FAULT_ROWS?.split(',');

async function measureFaults(name: string, start: (chain: PayingChain) => Promise<System>): Promise<Figure> {
  const chain = await startPayingChain({ blockMs: BLOCK_MS });
  const [shop] = await createPayers('fault shop', 1);
  const systems = [await start(chain), await startTheirs(chain, shop?.address ?? '0x')] as const;
  try {
    const detail: Record<string, string> = {};
    const right = { gateway: 0, facilitator: 0 };
    const rows = ROWS.filter(({ id }) => WANTED_ROWS?.includes(id) ?? true);
    for (const row of rows) {
      const [ours, theirs] = [await runRow(row, systems[0], chain), await runRow(row, systems[1], chain)];
      right.gateway += ours.isRight ? 1 : 0;
      right.facilitator += theirs.isRight ? 1 : 0;
      detail[`${row.id} ${row.what}`] = `gateway ${verdict(ours)} | facilitator ${verdict(theirs)}`;
    }
    return {
      name,
      value: round(right.gateway / rows.length, 3),
      target: { atLeast: 1 },
      unit: 'x',
      detail: {
        ...detail,
        'right, of all': `gateway ${right.gateway}, facilitator ${right.facilitator} of ${rows.length}`,
      },
    };
  } finally {
    for (const system of systems) await system.stop();
    await chain.stop();
  }
}

/** A row that cannot be caused, or does not end, counts as wrong. */
async function runRow(row: (typeof ROWS)[number], system: System, chain: PayingChain) {
  try {
    await system.refresh();
    return await row.run(system, chain);
  } catch (error) {
    return { isRight: false, text: String(error) };
  }
}

function verdict({ isRight, text }: { isRight: boolean; text: string }): string {
  return `${isRight ? 'right' : 'WRONG'}: ${text}`;
}

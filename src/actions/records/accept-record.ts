import { ApiError } from '../../errors.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { insertKnownRecords, listKnownRecords } from '../../store/plumbing/known-records.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type CommandDeps, command } from '../command.ts';
import { type Difference, findDifferences, memoryOf } from './differences.ts';
import { assetRow, networkRow, RECORDS } from './remember-records.ts';

/**
 * Stores a network or an asset as the files describe it now, by order of an operator. Returns the consequences, one sentence for each
 * change.
 */
export function acceptRecord(
  deps: CommandDeps,
  { subject, actor }: { readonly subject: string; readonly actor: string },
): Promise<readonly string[]> {
  return command(deps, async (tx, now) => {
    await lockName(tx, RECORDS);
    const known = await listKnownRecords(tx);
    const memory = memoryOf(known);
    const all = await findDifferences(tx, deps.registry, memory);
    const differences = all.filter((each) => each.subject === subject);
    if (differences.length === 0) throw new ApiError('invalid_state', nothingDiffers(subject, all));
    const meanings = differences.flatMap(({ meaning }) => meaning ?? []);
    if (meanings.length < differences.length) {
      const fixed = differences.filter(({ meaning }) => meaning === undefined);
      throw new ApiError('invalid_state', fixed.map(({ text, way }) => `${text}. ${way}`).join(' '));
    }
    const before = known.find((row) => row.subject === subject)?.facts ?? null;
    const [row] = subject.includes('/')
      ? assetRow(deps, subject)
      : networkRow(deps, subject, memory.networks.get(subject)?.genesis ?? null);
    if (row === undefined) throw new ApiError('invalid_params', `No file has ${subject}.`);
    const [chainId = ''] = subject.split('/', 1);
    const network = memory.networks.has(chainId) ? [] : networkRow(deps, chainId, null);
    await insertKnownRecords(tx, subject === chainId ? [row] : [...network, row], now);
    const detail = { before, after: row.facts };
    await appendAudit(tx, { at: now, actor, action: 'record.accepted', subject, detail });
    return meanings;
  });
}

function nothingDiffers(subject: string, all: readonly Difference[]): string {
  const others = [...new Set(all.map((each) => each.subject))];
  const hint = others.length === 0 ? 'Nothing else differs either.' : `These differ: ${others.join(', ')}.`;
  return `${subject} does not differ from what the database remembers. ${hint}`;
}
